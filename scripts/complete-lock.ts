/**
 * Adds to package-lock.json the optional packages of other platforms that the registry did not offer when the lock was written. `npm ci` refuses a
 * lock without them, but never fetches them here because of their `os` and `cpu`. Run it after every `npm install`; see
 * docs/decisions/2026-11-22-package-lock.md.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

interface LockEntry {
  version?: string;
  integrity?: string;
  resolved?: string;
  dev?: boolean;
  optional?: boolean;
  os?: string[];
  cpu?: string[];
  libc?: string[];
  optionalDependencies?: Record<string, string>;
}

/** The used part of a package-lock.json, version 3. */
export interface PackageLock {
  packages: Record<string, LockEntry>;
}

const SYSTEMS = ['aix', 'android', 'darwin', 'freebsd', 'linux', 'netbsd', 'openbsd', 'openharmony', 'sunos', 'win32'];
const PROCESSORS: [RegExp, string][] = [
  [/(^|-)arm64($|-)/, 'arm64'],
  [/(^|-)arm($|-)/, 'arm'],
  [/(^|-)ia32($|-)/, 'ia32'],
  [/(^|-)loong64($|-)/, 'loong64'],
  [/(^|-)mips64el($|-)/, 'mips64el'],
  [/(^|-)ppc64($|-)/, 'ppc64'],
  [/(^|-)ppc64le($|-)/, 'ppc64'],
  [/(^|-)riscv64($|-)/, 'riscv64'],
  [/(^|-)s390x($|-)/, 's390x'],
  [/(^|-)x64($|-)/, 'x64'],
  [/(^|-)wasm32($|-)/, 'wasm32'],
];

/** The optional packages that a lock requires but does not contain, by their path in the lock. */
export function missingOptionalPackages(lock: PackageLock): Record<string, LockEntry> {
  const missing: Record<string, LockEntry> = {};
  for (const entry of Object.values(lock.packages)) {
    for (const [name, version] of Object.entries(entry.optionalDependencies ?? {})) {
      const path = `node_modules/${name}`;
      if (lock.packages[path] === undefined) missing[path] = platformEntry(name, version, entry.dev === true);
    }
  }
  return missing;
}

function platformEntry(name: string, version: string, dev: boolean): LockEntry {
  const os = SYSTEMS.filter((system) => new RegExp(`[/-]${system}(-|$)`).test(name));
  const platform = name.slice(name.lastIndexOf('/') + 1);
  const cpu = PROCESSORS.filter(([pattern]) => pattern.test(platform)).map(([, processor]) => processor);
  if (os.length === 0 && cpu.length === 0) {
    throw new Error(
      `Cannot complete package-lock.json: the platform of an optional package is not in its name, got ${name}.`,
    );
  }
  return {
    version,
    ...(cpu.length > 0 && { cpu }),
    ...(dev && { dev: true }),
    ...(platform.endsWith('-musl') && { libc: ['musl'] }),
    optional: true,
    ...(os.length > 0 && { os }),
  };
}

if (import.meta.main) {
  const path = fileURLToPath(new URL('../package-lock.json', import.meta.url));
  const lock = JSON.parse(readFileSync(path, 'utf8')) as PackageLock;
  const missing = missingOptionalPackages(lock);
  const packages = Object.entries({ ...lock.packages, ...missing }).sort(([a], [b]) => a.localeCompare(b, 'en'));
  writeFileSync(path, `${JSON.stringify({ ...lock, packages: Object.fromEntries(packages) }, null, 2)}\n`);
  process.stdout.write(`${Object.keys(missing).length} optional packages of other platforms added\n`);
}
