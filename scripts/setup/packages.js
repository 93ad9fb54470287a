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
import { packagesUnchanged, PLATFORM, readJson, stampPath } from './ready.js';
import { stagingFolder } from './toolchain.js';

/**
 * Whether `node_modules` matches `package-lock.json` on this platform; compares contents if the times differ.
 *
 * @param {string} root
 * @returns {boolean}
 */
export function packagesReady(root) {
  if (packagesUnchanged(root)) return true;
  if (readJson(stampPath(root)) === undefined) return adopt(root);
  if (!packagesSame(root)) return false;
  writeStamp(root, join(root, 'node_modules'));
  return true;
}

/**
 * The same for a user without write access.
 *
 * @param {string} root
 * @returns {boolean}
 */
export function packagesSame(root) {
  const stamp = readJson(stampPath(root));
  return stamp !== undefined && stamp.platform === PLATFORM && stamp.digest === lockDigest(root);
}

/**
 * Installs the packages of `package-lock.json` in a staging folder, and then replaces `node_modules` by renames, so that neither
 * an interruption nor an npm that outlives it can leave a partial folder.
 *
 * @param {string} root
 * @returns {Promise<void>}
 */
export async function installPackages(root) {
  const staging = mkdtempSync(join(stagingFolder(root), 'packages-'));
  try {
    for (const name of ['package.json', 'package-lock.json', '.npmrc'])
      copyFileSync(join(root, name), join(staging, name));
    await runNpm(['ci', '--include=dev', '--include=optional', '--ignore-scripts'], staging);
    const fresh = join(staging, 'node_modules');
    writeStamp(root, fresh);
    const current = join(root, 'node_modules');
    if (existsSync(current)) renameSync(current, join(staging, 'replaced'));
    renameSync(fresh, current);
  } finally {
    rmSync(staging, { recursive: true, force: true });
  }
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
  writeStamp(root, join(root, 'node_modules'));
  return true;
}

/**
 * @param {string} root
 * @param {string} folder
 */
function writeStamp(root, folder) {
  const lock = statSync(join(root, 'package-lock.json'));
  const stamp = { digest: lockDigest(root), platform: PLATFORM, size: lock.size, modifiedMs: lock.mtimeMs };
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
