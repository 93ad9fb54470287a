import { createHash } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import { gzipSync } from 'node:zlib';
import { pack } from 'tar-stream';
import { type LocalHost, startLocalHost } from './local-host.ts';

/** Each package: its package.json, and its code. */
const PACKAGES: [manifest: { name: string; version: string; dependencies?: object }, code: string][] = [
  [
    { name: 'postage', version: '1.2.0', dependencies: { 'postal-zones': '^2.0.0' } },
    "const { zoneOf } = require('postal-zones'); exports.cents = (country) => 95 * zoneOf(country);",
  ],
  [{ name: 'postal-zones', version: '2.0.3' }, "exports.zoneOf = (country) => country === 'DE' ? 1 : 3;"],
  [{ name: 'crypto-miner', version: '6.6.6' }, ''],
];

/** Starts a small registry of npm, and names it in npm's configuration of this process. */
export async function startNpmRegistry(): Promise<LocalHost> {
  const bodies = new Map<string, string | Buffer>();
  const host = await startLocalHost('npm.example.com', ({ url = '' }, response) => {
    const body = bodies.get(url);
    response.writeHead(body === undefined ? 404 : 200).end(body);
  });
  for (const [manifest, code] of PACKAGES) {
    const { name, version } = manifest;
    const archive = pack();
    archive.entry({ name: 'package/package.json' }, JSON.stringify(manifest));
    archive.entry({ name: 'package/index.js' }, code);
    archive.finalize();
    const tarball = gzipSync(await buffer(archive));
    const path = `/${name}/-/${name}-${version}.tgz`;
    const integrity = `sha512-${createHash('sha512').update(tarball).digest('base64')}`;
    const dist = { tarball: `https://${host.place}${path}`, integrity };
    const versions = { [version]: { ...manifest, dist } };
    bodies.set(path, tarball);
    bodies.set(`/${name}`, JSON.stringify({ name, 'dist-tags': { latest: version }, versions }));
  }
  process.env['npm_config_registry'] = `https://${host.place}/`;
  return host;
}
