#!/usr/bin/env node
// Plain JavaScript for any Node from 18 on. From a checkout it sets up what is missing and runs src/cli as it is; from
// the installed package it runs dist/cli. Under a Node that is too old it starts the project's own one with this file.
import { existsSync, mkdirSync, statSync } from 'node:fs';
import * as module from 'node:module';
import { homedir } from 'node:os';
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

/** Keeps compiled code in the cache of this user. Node executes it, so the folder must be closed to other users. Root leaves the homes of others alone. */
function keepCompiledCode() {
  const { XDG_CACHE_HOME: set = '' } = process.env;
  const folder = join(isAbsolute(set) ? set : join(homedir(), '.cache'), 'skillcell', 'compiled');
  let existing = folder;
  while (!existsSync(existing)) existing = dirname(existing);
  try {
    if (statSync(existing).uid !== process.getuid?.()) return;
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    if ((statSync(folder).mode & 0o022) === 0) module.enableCompileCache(folder);
  } catch {
    // Without it, a command only starts more slowly.
  }
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
