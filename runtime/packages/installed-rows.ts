import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import type { InstalledPackage } from '../../src/contracts/network/job-packages.ts';
import { parseBoundedJson } from '../../src/protocol/channel/bounded-json.ts';
import { MOST_INSTALLED } from '../../src/protocol/messages/messages.ts';

/** Installed packages, and the reason why one of them must not stay. */
export interface ReadRows {
  packages: InstalledPackage[];
  /** Names of packages whose install scripts were not run. */
  scripts: string[];
  fault?: string;
}

const MOST_BYTES = 32 * 1024 * 1024;
const SHAPE = { maxBytes: MOST_BYTES, maxDepth: 60, maxValues: 2_000_000 };

/** The packages in npm's own list of a `node_modules`. Each must come from a registry: npm also takes folders and repositories. */
export function npmRows(path: string): ReadRows {
  const listed = Object.entries(fieldsOf(fieldsOf(readJson(path))['packages']));
  const rows: ReadRows = { packages: [], scripts: [] };
  for (const [place, given] of listed) {
    const entry = fieldsOf(given);
    const { version, integrity, resolved, link, hasInstallScript } = entry;
    const name = text(entry['name']) || place.slice(place.lastIndexOf('node_modules/') + 'node_modules/'.length);
    const isForeign = typeof resolved === 'string' && !/^https?:\/\//.test(resolved);
    if (link === true || isForeign)
      rows.fault ??= `${name} is refused: it comes from ${JSON.stringify(text(resolved).slice(0, 200))}, not from a registry`;
    if (hasInstallScript === true) rows.scripts.push(name.slice(0, 214));
    add(rows, { registry: 'npm', name, version: text(version), digest: text(integrity) });
  }
  return rows;
}

/** The packages in a report of pip. */
export function pypiRows(path: string): ReadRows {
  const { install } = fieldsOf(readJson(path));
  const rows: ReadRows = { packages: [], scripts: [] };
  for (const given of Array.isArray(install) ? install : []) {
    const entry = fieldsOf(given);
    const [metadata, download] = [fieldsOf(entry['metadata']), fieldsOf(entry['download_info'])];
    const archive = fieldsOf(download['archive_info']);
    const name = text(metadata['name']);
    const digest = text(fieldsOf(archive['hashes'])['sha256']) || text(archive['hash']).replace(/^sha256=/, '');
    if (entry['is_direct'] === true)
      rows.fault ??= `${name} is refused: it comes from ${JSON.stringify(text(download['url']).slice(0, 200))}, not from the index`;
    add(rows, { registry: 'pypi', name, version: text(metadata['version']), digest: digest && `sha256:${digest}` });
  }
  return rows;
}

function add({ packages }: ReadRows, { registry, name, version, digest }: InstalledPackage): void {
  if (packages.length === MOST_INSTALLED) return;
  packages.push({
    registry,
    name: name.slice(0, 214),
    version: version.slice(0, 300),
    digest: digest.slice(0, 200),
  });
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function fieldsOf(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}

/** The content of a file of user code; undefined if it is not one regular file with JSON. */
function readJson(path: string): unknown {
  let descriptor: number;
  try {
    descriptor = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch {
    // The installer had nothing to write.
    return undefined;
  }
  try {
    const status = fstatSync(descriptor);
    if (!status.isFile() || status.size > MOST_BYTES) return undefined;
    const bytes = Buffer.alloc(status.size);
    return parseBoundedJson(bytes.subarray(0, readSync(descriptor, bytes, 0, bytes.length, 0)), SHAPE);
  } catch {
    // Its form is not the installer's.
    return undefined;
  } finally {
    closeSync(descriptor);
  }
}
