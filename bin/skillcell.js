#!/usr/bin/env node
// Plain JavaScript for any Node from 18 on. From a checkout it sets up what is missing and runs src/cli as it is; from
// the installed package it runs dist/cli. Under a Node that is too old it starts the project's own one with this file.
import { existsSync, lstatSync, mkdirSync, statSync } from 'node:fs';
import * as module from 'node:module';
import { userInfo } from 'node:os';
import { dirname, isAbsolute, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const argv = process.argv.slice(2);

process.exitCode = await (existsSync(`${root}src/cli/main.ts`) ? runCheckout() : runPackage());

async function runCheckout() {
  const { readyNode } = await import('../scripts/setup/ready.js');
  let node = readyNode(root, false);
  if (node === undefined) {
    const { setUp } = await import('../scripts/setup/set-up.js');
    try {
      node = await setUp(root, false);
    } catch (error) {
      return refuse(
        'runtime.setup-failed',
        error.message,
        error.hint ?? 'Remove the folder .toolchain and run it again.',
      );
    }
  }
  if (node !== process.execPath) return startOther(node);
  // The sources are TypeScript: without a cache, taking the types off is most of the time that a command takes to start.
  module.enableCompileCache?.(`${root}.toolchain/compile-cache`);
  return runMain('../src/cli/main.ts');
}

async function runPackage() {
  if (Number.parseInt(process.versions.node, 10) < 24)
    return refuse(
      'runtime.node-too-old',
      `Cannot start skillcell: Node 24 or newer is needed, got ${process.versions.node}.`,
      'Install Node 24 and run the same command with it.',
    );
  keepCompiledCode();
  return runMain('../dist/cli/main.js');
}

/**
 * Keeps compiled code in the cache of this user. Node executes it, so each folder must belong to the user and be closed to others. Root leaves
 * the homes of other users alone.
 */
function keepCompiledCode() {
  try {
    const cache = cacheFolder();
    const own = process.getuid?.();
    if (statSync(existsSync(cache) ? cache : dirname(cache)).uid !== own) return;
    let folder = cache;
    if (!existsSync(folder)) mkdirSync(folder, 0o700);
    for (const name of ['skillcell', 'compiled']) {
      folder = join(folder, name);
      if (!existsSync(folder)) mkdirSync(folder, 0o700);
      const status = lstatSync(folder);
      if (!status.isDirectory() || status.uid !== own || (status.mode & 0o022) !== 0) return;
    }
    module.enableCompileCache(folder);
  } catch {
    // Without it, a command only starts more slowly.
  }
}

/** As `src/durable/user-folders.ts`: a relative path would name a folder of the working folder, with files of other people. */
function cacheFolder() {
  const { HOME: home = '', XDG_CACHE_HOME: set = '' } = process.env;
  return isAbsolute(set) ? set : join(isAbsolute(home) ? home : userInfo().homedir, '.cache');
}

/** @param {string} path */
async function runMain(path) {
  const { main } = await import(path);
  return main(argv, process);
}

/** @param {string} node */
async function startOther(node) {
  const { startNode, WATCHED } = await import('./start-node.js');
  return startNode(node, [fileURLToPath(import.meta.url), ...argv], { ...process.env, ...WATCHED });
}

/**
 * The command line cannot start at all: exit code 3, as for any environment that cannot do the work.
 *
 * @param {string} code
 * @param {string} message
 * @param {string} hint
 */
function refuse(code, message, hint) {
  const end = argv.indexOf('--');
  const options = end < 0 ? argv : argv.slice(0, end);
  if (options.includes('--json'))
    process.stdout.write(`${JSON.stringify({ error: { code, message, hint } }, null, 2)}\n`);
  else process.stderr.write(`${message}\n${hint}\n`);
  return 3;
}
