'use strict';
// Starts the entry from code that was compiled ahead, which takes a tenth of the time. `--code-cache=` names its file; where
// there is none yet, the entry is compiled as usual, and the file is left when the process ends: with the functions that
// one job needed. V8 itself refuses code of another version of the entry or of itself, and compiles instead.
const { existsSync, readFileSync, writeFileSync } = require('node:fs');
const { createRequire, wrap } = require('node:module');
const { dirname, join } = require('node:path');
const { Script } = require('node:vm');

const entry = join(dirname(__dirname), 'entry.cjs');
const option = '--code-cache=';
const file = process.argv.find((argument) => argument.startsWith(option))?.slice(option.length) ?? '';
const cachedData = existsSync(file) ? readFileSync(file) : undefined;
const script = new Script(wrap(readFileSync(entry, 'utf8')), { filename: entry, cachedData });
if (file !== '' && cachedData === undefined) process.on('exit', () => writeFileSync(file, script.createCachedData()));
script.runInThisContext()(exports, createRequire(entry), module, entry, dirname(entry));
