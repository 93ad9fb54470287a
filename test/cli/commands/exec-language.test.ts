import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { JobResult } from '../../../src/contracts/jobs/result.ts';
import { MISSING_PYTHON, requireHere } from '../../fixtures/describe-with.ts';
import { runMain } from '../../fixtures/run-main.ts';

const LOCAL = ['--runner', 'local', '--isolation', 'none'];
const PYTHON = 'import sys; print("python", sys.version_info.major)\n';
const BASH = 'echo "bash ${BASH_VERSION%%.*}" | tr 0-9 5\n';
const MODULE = 'console.log("module", typeof import.meta.url);\n';
const TYPED = 'const kind: string = "typed"; console.log(kind);\n';
const COMMON_JS =
  'const { sep } = require("node:path");\nif (require.main === module) console.log("common", sep, __filename.slice(-4));\n';

let cwd: string;
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), 'exec-language-'));
});
afterEach(() => rmSync(cwd, { recursive: true }));

describe('skillcell exec without --language', () => {
  it.for([
    ['a.py', PYTHON, 'python 3\n'],
    ['A.PY', PYTHON, 'python 3\n'],
    ['a.sh', BASH, 'bash 5\n'],
    ['a.bash', BASH, 'bash 5\n'],
    ['a.js', MODULE, 'module string\n'],
    ['a.mjs', MODULE, 'module string\n'],
    ['a.cjs', COMMON_JS, 'common / .cjs\n'],
    ["it's.cjs", COMMON_JS, 'common / .cjs\n'],
    ['a.ts', TYPED, 'typed\n'],
    ['a.mts', `${TYPED}export {};\n`, 'typed\n'],
    ['a.cts', COMMON_JS.replace('sep }', 'sep }: { sep: string }'), 'common / .cts\n'],
    // An unknown ending counts as no ending, and an ending precedes a first line.
    ['program', `#!/usr/bin/env python3\n${PYTHON}`, 'python 3\n'],
    ['program', `#!/usr/local/bin/python3.12 -u\r\n${PYTHON}`, 'python 3\n'],
    ['program.x', `#! /bin/sh -e\n${BASH}`, 'bash 5\n'],
    ['program', `#!/usr/bin/env -S K=v node --no-warnings\n${MODULE}`, 'module string\n'],
    ['program.py', `#!/usr/bin/perl\n${PYTHON}`, 'python 3\n'],
    ['-', `#!/usr/bin/env python3\n${PYTHON}`, 'python 3\n'],
    ['-', MODULE, 'module string\n'],
  ] as const)('runs %s, which begins with %j', async ([name, code, output], context) => {
    requireHere(context, output.startsWith('python') ? MISSING_PYTHON : undefined);
    const run = await runMain(
      ['exec', name, ...LOCAL],
      name === '-' ? { cwd, stdin: code } : { cwd: written(name, code) },
    );
    expect(run).toMatchObject({ code: 0, stdout: output });
  });

  it.each([
    ['x.rb', 'puts 1\n'],
    ['x.tsx', 'export default <a/>;\n'],
    ['x.jsx', 'export default <a/>;\n'],
    ['program', 'print("which?")\n'],
    ['program', '#!/usr/bin/env python2\nprint 1\n'],
    ['program.js.txt', MODULE],
    ['-', '#!/usr/bin/perl\nprint 1;\n'],
    ['-', '#!\nprint 1;\n'],
  ])('refuses %s, which begins with %j, and names the flag and the languages', async (name, code) => {
    const options = name === '-' ? { cwd, stdin: code } : { cwd: written(name, code) };
    const run = await runMain(['exec', name, ...LOCAL, '--json'], options);
    expect(run.code).toBe(2);
    const { error } = JSON.parse(run.stdout) as { error: { code: string; message: string } };
    expect(error.code).toBe('usage.invalid');
    expect(error.message).toContain('--language');
    expect(error.message).toContain('bash, javascript, python, typescript');
    // The flag that it names makes it run.
    const named = await runMain(['exec', name, ...LOCAL, '--language', 'bash', '--timeout', '20'], {
      cwd,
      ...(name === '-' ? { stdin: 'echo here' } : {}),
    });
    expect(named.code).not.toBe(2);
  });

  it('sets the exports of a CommonJS program as its value, and no value without exports', async () => {
    const value = async (code: string): Promise<JobResult> => {
      const { stdout } = await runMain(['exec', 'a.cjs', ...LOCAL, '--json'], { cwd: written('a.cjs', code) });
      return JSON.parse(stdout) as JobResult;
    };
    expect(await value('module.exports = { n: 1 };')).toMatchObject({ outcome: 'succeeded', value: { n: 1 } });
    expect(await value('console.log(1);')).not.toHaveProperty('value');
    expect(await value('\nthrow new TypeError("no");')).toMatchObject({
      outcome: 'failed',
      exitCode: 1,
      error: { name: 'TypeError', message: 'no', line: 2 },
    });
  });
});

describe('line ends of Windows', () => {
  const run = async (name: string, code: string): Promise<JobResult> => {
    const { stdout } = await runMain(['exec', name, ...LOCAL, '--json'], { cwd: written(name, code) });
    return JSON.parse(stdout) as JobResult;
  };
  const codes = ({ diagnostics }: JobResult): string[] =>
    diagnostics.map(({ code }) => code).filter((code) => code.startsWith('program.'));

  it('are removed from a bash program, with a diagnostic', async () => {
    const lines = [
      '#!/bin/bash',
      'set -eu',
      'if true; then',
      '  echo "a b"',
      'fi',
      'cat <<END',
      'text',
      'END',
      'exit 3',
      '',
    ];
    const result = await run('a.sh', lines.join('\r\n'));
    expect(result).toMatchObject({
      outcome: 'failed',
      exitCode: 3,
      stdout: { text: 'a b\ntext\n' },
      stderr: { text: '' },
    });
    expect(result.diagnostics).toContainEqual({
      code: 'program.line-ends',
      severity: 'warning',
      message: '9 lines end with a carriage return, which bash takes for part of a word; the program ran without them.',
    });
    const plain = await run('b.sh', lines.join('\n'));
    expect(plain).toMatchObject({ exitCode: 3, stdout: { text: 'a b\ntext\n' } });
    expect(codes(plain)).toEqual([]);
    // With the byte order mark, `set` would be another command, and the program would go on.
    const marked = await run('d.sh', '\uFEFFset -e\nfalse\necho on\n');
    expect(marked).toMatchObject({ exitCode: 1, stdout: { text: '' }, stderr: { text: '' } });
    expect(codes(marked)).toEqual([]);
    // A carriage return inside a line belongs to the program.
    const own = await run('c.sh', 'printf "%s" "a\rb"');
    expect(own).toMatchObject({ outcome: 'succeeded', stdout: { text: 'a\rb' } });
    expect(codes(own)).toEqual([]);
  });

  it('stay if the interpreter accepts them', async (context) => {
    requireHere(context, MISSING_PYTHON);
    const code = 'print(open(__file__, newline="").read().count("\\r\\n"))\r\n';
    const result = await run('a.py', code);
    expect(result).toMatchObject({ outcome: 'succeeded', stdout: { text: '1\n' } });
    expect(codes(result)).toEqual([]);
  });
});

/** Writes a program to the working folder, and returns that folder. */
function written(name: string, code: string): string {
  writeFileSync(join(cwd, name), code);
  return cwd;
}
