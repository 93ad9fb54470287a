import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { requireLevel } from '../fixtures/levels.ts';

/** Modules of the host, and descriptors of this process that listen, after a job. */
async function after(
  network: string,
): Promise<{ files: string[]; packages: string[]; workers: number; sockets: string[] }> {
  const code = `import { registerHooks } from 'node:module';
import { readFileSync } from 'node:fs';
const urls = [];
let workers = 0;
registerHooks({ load: (url, context, next) => { urls.push(url); return next(url, context); } });
process.on('worker', () => (workers += 1));
const { createOrchestrator } = await import('./src/index.ts');
const orchestrator = createOrchestrator({ network: { allow: ['api.test'] } });
await orchestrator.exec({ language: 'bash', code: 'true', isolation: 'namespace', ${network} });
const sockets = readFileSync('/proc/net/unix', 'latin1').split('\\n').flatMap((row) => /\\S*-' + process.pid + '-\\S*egress\\S*/.exec(row) ?? []);
console.log(JSON.stringify({ urls, workers, sockets }));
await orchestrator.close();`.replace(
    "/\\S*-' + process.pid + '-\\S*egress\\S*/",
    'new RegExp(`\\\\S*-${process.pid}-\\\\S*egress\\\\S*`)',
  );
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', code], {
    cwd: process.cwd(),
  });
  const { urls, workers, sockets } = JSON.parse(stdout) as { urls: string[]; workers: number; sockets: string[] };
  return {
    ...{ workers, sockets },
    files: urls.flatMap((url) => /\/(src\/.*)$/.exec(url)?.[1] ?? []),
    packages: urls.flatMap((url) => /\/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(url)?.[1] ?? []),
  };
}

/** A constant that both sides use. */
const SHARED = 'src/egress/worker/worker-messages.ts';
const OF_NETWORK = ['undici', 'pkijs', 'asn1js', 'ipaddr.js'];

it('a job without a network starts no worker, listens nowhere and loads no module of the network', async (context) => {
  requireLevel(context, 'namespace');
  const without = await after('');
  expect(without.files).toContain('src/jobs/create-orchestrator.ts');
  expect(without.workers).toBe(0);
  expect(without.sockets).toEqual([]);
  expect(without.packages.filter((name) => OF_NETWORK.includes(name))).toEqual([]);
  expect(without.files.filter((file) => /^src\/egress\/(worker|certificates)\//.test(file))).toEqual([SHARED]);

  const { workers, sockets } = await after("network: ['api.test']");
  expect(workers).toBe(1);
  expect(sockets).toHaveLength(1);
});
