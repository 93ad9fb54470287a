import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

interface Manifest {
  name?: string;
  version: string;
}

let found: { folder: string; manifest: Manifest } | undefined;

function find(): { folder: string; manifest: Manifest } {
  let folder = dirname(fileURLToPath(import.meta.url));
  for (; dirname(folder) !== folder; folder = dirname(folder)) {
    const manifest = readManifest(folder);
    if (manifest?.name === 'skillcell') return { folder, manifest };
  }
  throw new Error(`Cannot find the package: no folder above "${fileURLToPath(import.meta.url)}" is skillcell.`);
}

function readManifest(folder: string): Manifest | undefined {
  try {
    return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest;
  } catch {
    return undefined;
  }
}

/** Absolute path in this package: in its installation, or in a checkout. The built modules lie elsewhere than their sources. */
export function inPackage(path: string): string {
  return join((found ??= find()).folder, path);
}

/** The version of this package. */
export function packageVersion(): string {
  return (found ??= find()).manifest.version;
}
