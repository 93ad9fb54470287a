import { createHash } from 'node:crypto';
import {
  copyFileSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import { runNpm } from './npm.js';
import { packagesUnchanged, PLATFORM, readJson, stampPath, suffices } from './ready.js';
import { stagingFolder } from './toolchain.js';

/** Development packages that a checkout needs to run: they bundle the runtime from its sources. */
const NEEDED_TO_RUN = ['esbuild'];

/**
 * Whether `node_modules` matches `package-lock.json` on this platform; compares contents if the times differ.
 *
 * @param {string} root
 * @param {boolean} whole whether the packages of tests and checks are needed too
 * @returns {boolean}
 */
export function packagesReady(root, whole) {
  if (packagesUnchanged(root, whole)) return true;
  const stamp = readJson(stampPath(root));
  if (stamp === undefined) return adopt(root);
  if (!packagesSame(root, whole)) return false;
  writeStamp(root, join(root, 'node_modules'), stamp.whole);
  return true;
}

/**
 * The same for a user without write access.
 *
 * @param {string} root
 * @param {boolean} whole
 * @returns {boolean}
 */
export function packagesSame(root, whole) {
  const stamp = readJson(stampPath(root));
  return stamp !== undefined && suffices(stamp, whole) && stamp.digest === lockDigest(root);
}

/**
 * Installs the packages of `package-lock.json` in a staging folder, and then replaces `node_modules` by renames, so that neither
 * an interruption nor an npm that outlives it can leave a partial folder.
 *
 * @param {string} root
 * @param {boolean} whole whether to install the packages of tests and checks too
 * @returns {Promise<void>}
 */
export async function installPackages(root, whole) {
  const staging = mkdtempSync(join(stagingFolder(root), 'packages-'));
  try {
    for (const name of ['package.json', 'package-lock.json', '.npmrc'])
      copyFileSync(join(root, name), join(staging, name));
    if (!whole) keepNeededToRun(staging);
    const development = whole ? '--include=dev' : '--omit=dev';
    await runNpm(['ci', development, '--include=optional', '--ignore-scripts'], staging);
    const fresh = join(staging, 'node_modules');
    writeStamp(root, fresh, whole);
    const current = join(root, 'node_modules');
    if (existsSync(current)) renameSync(current, join(staging, 'replaced'));
    renameSync(fresh, current);
  } finally {
    rmSync(staging, { recursive: true, force: true });
  }
}

/**
 * Makes the development packages that a checkout needs to run, and the packages below them, ordinary dependencies. Versions and digests
 * remain those of `package-lock.json`.
 *
 * @param {string} folder
 */
function keepNeededToRun(folder) {
  const manifest = readJson(join(folder, 'package.json'));
  const lock = readJson(join(folder, 'package-lock.json'));
  for (const owner of [manifest, lock.packages['']]) {
    for (const name of NEEDED_TO_RUN) {
      owner.dependencies[name] = owner.devDependencies[name];
      delete owner.devDependencies[name];
    }
  }
  const waiting = [...NEEDED_TO_RUN];
  for (const name of waiting) {
    const entry = lock.packages[`node_modules/${name}`];
    delete entry.dev;
    waiting.push(...Object.keys({ ...entry.dependencies, ...entry.optionalDependencies }));
  }
  writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest));
  writeFileSync(join(folder, 'package-lock.json'), JSON.stringify(lock));
}

/**
 * Takes over a `node_modules` that the user's own `npm ci` or `npm install` made.
 *
 * @param {string} root
 * @returns {boolean}
 */
function adopt(root) {
  const installed = readJson(join(root, 'node_modules', '.package-lock.json'))?.packages;
  const wanted = readJson(join(root, 'package-lock.json'))?.packages;
  if (installed === undefined || wanted === undefined) return false;
  for (const [path, entry] of Object.entries(wanted)) {
    if (path === '') continue;
    const there = installed[path];
    if (
      there === undefined
        ? entry.optional !== true
        : there.version !== entry.version || there.integrity !== entry.integrity
    ) {
      return false;
    }
  }
  writeStamp(root, join(root, 'node_modules'), true);
  return true;
}

/**
 * @param {string} root
 * @param {string} folder
 * @param {boolean} whole
 */
function writeStamp(root, folder, whole) {
  const lock = statSync(join(root, 'package-lock.json'));
  const stamp = { digest: lockDigest(root), platform: PLATFORM, size: lock.size, modifiedMs: lock.mtimeMs, whole };
  const path = join(folder, basename(stampPath(root)));
  const temporary = `${path}.${process.pid}`;
  writeFileSync(temporary, JSON.stringify(stamp));
  renameSync(temporary, path);
}

/** @param {string} root */
function lockDigest(root) {
  return createHash('sha256')
    .update(readFileSync(join(root, 'package-lock.json')))
    .digest('hex');
}
