import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { withLock } from './lock.js';
import { installPackages, packagesReady, packagesSame } from './packages.js';
import { findNode, NODE_VERSION, readyNode } from './ready.js';
import { installNode } from './toolchain.js';

/**
 * Makes a checkout ready: Node 24 and packages of `package-lock.json`, all inside the checkout. Takes milliseconds if no work is left. Safe if two set-ups start at once. The next run removes the remains of an interrupted one.
 *
 * @param {string} root the checkout
 * @param {boolean} whole whether the packages of tests and checks are needed too; they are three quarters of the bytes
 * @returns {Promise<string>} the Node to run the project with
 */
export async function setUp(root, whole) {
  const ready = readyNode(root, whole);
  if (ready !== undefined) return ready;
  try {
    return await withLock(
      join(root, '.toolchain', 'locks'),
      (owner) => say(`another set-up is at work (${owner}), waiting for it\n`),
      async () => {
        rmSync(join(root, '.toolchain', 'staging'), { recursive: true, force: true });
        const node = findNode(root) ?? (await step(`Node ${NODE_VERSION} into .toolchain`, () => installNode(root)));
        if (!packagesReady(root, whole)) {
          const packages = whole ? 'all packages' : 'packages';
          await step(`${packages} into node_modules`, () => installPackages(root, whole));
        }
        return node;
      },
    );
  } catch (error) {
    if (!NOT_OURS.has(/** @type {NodeJS.ErrnoException} */ (error).code ?? '')) throw error;
    return setUpByOther(root, whole, /** @type {NodeJS.ErrnoException} */ (error));
  }
}

/** Error codes of a checkout that this user cannot write to. */
const NOT_OURS = new Set(['EACCES', 'EPERM', 'EROFS']);

/**
 * Accepts an existing set-up of another user: perhaps only the times of files differ.
 *
 * @param {string} root
 * @param {boolean} whole
 * @param {NodeJS.ErrnoException} cause
 */
function setUpByOther(root, whole, cause) {
  const node = findNode(root);
  if (node !== undefined && packagesSame(root, whole)) return node;
  throw Object.assign(
    new Error(`Cannot set up the checkout: this user may not write to it (${cause.code}), got ${root}.`, { cause }),
    { hint: 'Have its owner run the same command once, or work in a copy of your own.' },
  );
}

/**
 * @template T
 * @param {string} name
 * @param {() => Promise<T>} run
 * @returns {Promise<T>}
 */
async function step(name, run) {
  const start = performance.now();
  say(`${name} … `);
  try {
    const result = await run();
    process.stderr.write(`${((performance.now() - start) / 1000).toFixed(1)} s\n`);
    return result;
  } catch (error) {
    process.stderr.write('failed\n');
    throw error;
  }
}

/** @param {string} text */
function say(text) {
  process.stderr.write(`set-up: ${text}`);
}
