'use strict';
// Starts the entry from code that was compiled ahead, which takes a tenth of the time. `--code-cache=` names the folder of that code.
// `--new-code-cache=` names an empty folder: it is filled when the process ends, with the functions that its job needed. V8 itself refuses code of
// another version of a file or of V8, and compiles instead.
const { existsSync, readFileSync, writeFileSync } = require('node:fs');
const { createRequire, wrap } = require('node:module');
const { basename, dirname, join } = require('node:path');
const { Script } = require('node:vm');

const bundle = dirname(__dirname);
const requireAnything = createRequire(join(bundle, 'entry.cjs'));
const read = folderOf('--code-cache=');
const write = folderOf('--new-code-cache=');
const loaded = new Map();
load(join(bundle, 'entry.cjs'));

function folderOf(option) {
  return process.argv.find((argument) => argument.startsWith(option))?.slice(option.length);
}

function load(path) {
  const module = { exports: {} };
  loaded.set(path, module);
  const cached = read === undefined ? undefined : join(read, `${basename(path)}.code`);
  const cachedData = cached !== undefined && existsSync(cached) ? readFileSync(cached) : undefined;
  const script = new Script(wrap(readFileSync(path, 'utf8')), { filename: path, cachedData });
  if (write !== undefined) {
    process.on('exit', () => writeFileSync(join(write, `${basename(path)}.code`), script.createCachedData()));
  }
  script.runInThisContext()(module.exports, requireOurs, module, path, dirname(path));
  return module.exports;
}

/** The files beside the entry load the same way; all other modules load through the ordinary `require`. */
function requireOurs(name) {
  if (!name.startsWith('./')) return requireAnything(name);
  const path = join(bundle, name);
  return loaded.get(path)?.exports ?? load(path);
}
