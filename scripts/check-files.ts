/** Checks that folders stay small, that the lock file is complete, and that no file contains a name of its author's machine. */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { homedir, hostname } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { missingOptionalPackages, type PackageLock } from './complete-lock.ts';

/** Most files directly in a folder of sources. */
const MAX_FILES = 15;

/** Lists the faulty lines of a file, with reasons. */
export function fileFaults(path: string, text: string, machineNames: readonly string[]): string[] {
  const faults: string[] = [];
  const lines = text.split('\n');
  for (const name of machineNames) {
    // The name must be a whole word or path.
    const pattern = new RegExp(`(?<![\\w.-])${name.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}(?![\\w-])`);
    const index = lines.findIndex((line) => pattern.test(line));
    if (index >= 0) faults.push(`${path}:${index + 1}: names the machine that it was made on, got ${name}`);
  }
  return faults;
}

/** Folders of sources with more files than a reader can survey. */
export function folderFaults(paths: readonly string[]): string[] {
  const counts = new Map<string, number>();
  for (const path of paths.filter((name) => /^(src|runtime)\//.test(name)))
    counts.set(dirname(path), (counts.get(dirname(path)) ?? 0) + 1);
  return [...counts]
    .filter(([, count]) => count > MAX_FILES)
    .map(([folder, count]) => `${folder}: a folder has at most ${MAX_FILES} files, not ${count}; divide it`);
}

/** Lists the faults of a package-lock.json. */
export function lockFaults(lock: PackageLock): string[] {
  const faults: string[] = [];
  for (const [path, { resolved }] of Object.entries(lock.packages)) {
    if (resolved !== undefined) faults.push(`package-lock.json: ${path} has a download address, got ${resolved}`);
  }
  for (const path of Object.keys(missingOptionalPackages(lock))) {
    faults.push(`package-lock.json: ${path} is missing; run \`node scripts/complete-lock.ts\``);
  }
  return faults;
}

/** Names that identify this machine: folders with at least two parts, its host name, a registry that is not the public one. */
export function namesOfMachine(root: string, registry: string): string[] {
  const folders = [root.replace(/\/$/, ''), homedir()].filter((path) => /^\/[^/]+\/./.test(path));
  const host = URL.canParse(registry) ? new URL(registry).host : '';
  return [
    ...folders,
    ...[hostname(), host].filter((name) => name.length >= 8 && !/^(localhost|.*npmjs\.(org|com))$/.test(name)),
  ];
}

if (import.meta.main) {
  const root = fileURLToPath(new URL('..', import.meta.url));
  const git = ['ls-files', '-z', '--cached', '--others', '--exclude-standard'];
  const paths = execFileSync('git', git, { cwd: root, encoding: 'utf8' })
    .split('\0')
    .filter((path) => path !== '');
  const registry = execFileSync('npm', ['config', 'get', 'registry'], {
    cwd: root,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const names = namesOfMachine(root, registry.trim());
  const faults = lockFaults(JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as PackageLock);
  const present = paths.filter((name) => existsSync(join(root, name)));
  faults.push(...folderFaults(present));
  for (const path of present) {
    faults.push(...fileFaults(path, readFileSync(join(root, path), 'utf8'), names));
  }
  for (const fault of faults) process.stderr.write(`${fault}\n`);
  if (faults.length > 0) process.exitCode = 1;
}
