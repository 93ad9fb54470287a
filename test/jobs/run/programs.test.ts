import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import type { ExecOptions } from '../../../src/contracts/jobs/job.ts';
import { LIMIT_CEILINGS } from '../../../src/contracts/jobs/limits.ts';
import type { Language } from '../../../src/contracts/jobs/language.ts';
import type { JobResult } from '../../../src/contracts/jobs/result.ts';
import { createOrchestrator } from '../../../src/jobs/create-orchestrator.ts';
import { MISSING_PYTHON, requireHere } from '../../fixtures/describe-with.ts';
import { SHARED_LEVELS, requireLevel } from '../../fixtures/levels.ts';

const MIB = 2 ** 20;
const tooLarge = (bytes: number): unknown =>
  expect.objectContaining({
    code: 'value.invalid',
    message: `The value is left out: over 262144 bytes, got ${bytes}.`,
  });

const orchestrator = createOrchestrator();
afterAll(() => orchestrator.close());

describe.each(SHARED_LEVELS)('programs at level %s', (isolation) => {
  beforeEach((context) => requireLevel(context, isolation));

  const run = (language: Language, code: string, more: Partial<ExecOptions> = {}): Promise<JobResult> =>
    orchestrator.exec({ isolation, language, code, ...more });

  /** Runs and expects success. The message of a failed comparison then shows the program's stderr and error. */
  async function succeed(language: Language, code: string, more: Partial<ExecOptions> = {}): Promise<JobResult> {
    const result = await run(language, code, more);
    expect({ outcome: result.outcome, stderr: result.stderr.text, error: result.error }).toEqual({
      outcome: 'succeeded',
      stderr: '',
      error: undefined,
    });
    return result;
  }

  describe('JavaScript', () => {
    it('is an ES module with top-level await, and has require as well', async () => {
      const { value, stdout } = await succeed(
        'javascript',
        `import { readFile } from 'node:fs/promises';
         const { basename } = require('node:path');
         const own = await readFile(new URL(import.meta.url), 'utf8');
         console.log(basename('/a/b'), own.length, process.argv.length);
         export default { sum: [1, 2, 3].reduce((a, b) => a + b) };`,
      );
      expect(stdout.text).toMatch(/^b 3\d\d 2\n$/);
      expect(value).toEqual({ sum: 6 });
    });

    it('gets its arguments, environment, stdin and files, and nothing of the host', async () => {
      process.env['CANARY_OF_THE_HOST'] = 'canary';
      const { value } = await succeed(
        'javascript',
        `import { readFileSync, statSync } from 'node:fs';
         export default {
           args: process.argv.slice(2), env: process.env, stdin: readFileSync(0, 'utf8'), cwd: process.cwd(),
           file: readFileSync('in/data.bin').toString('hex'), mode: statSync('run.sh').mode & 0o777, plain: statSync('in/data.bin').mode & 0o777,
         };`,
        {
          args: ['a b', '--flag', '"$HOME"', ''],
          env: { GIVEN: 'a\nb', PATH: '/own/path' },
          stdin: 'from stdin',
          files: [
            { destination: 'in/data.bin', bytes: Buffer.from([0, 255, 10]) },
            { destination: 'run.sh', bytes: Buffer.from('#!/bin/sh\n'), executable: true },
          ],
        },
      );
      delete process.env['CANARY_OF_THE_HOST'];
      const { env, cwd, ...rest } = value as { env: Record<string, string>; cwd: string };
      expect(rest).toEqual({
        args: ['a b', '--flag', '"$HOME"', ''],
        stdin: 'from stdin',
        file: '00ff0a',
        mode: 0o755,
        plain: 0o644,
      });
      const ours = ['HOME', 'LANG', 'SKILLCELL_OUTPUT', 'SKILLCELL_VALUE', 'SKILLS_DIR', 'TMPDIR', 'WORKSPACE'];
      const marker = isolation === 'none' ? ['SKILLCELL_JOB_MARK'] : [];
      expect(Object.keys(env).toSorted()).toEqual([...ours, ...marker, 'GIVEN', 'PATH'].toSorted());
      expect(env).toMatchObject({
        GIVEN: 'a\nb',
        PATH: '/own/path',
        WORKSPACE: cwd,
        HOME: cwd,
        SKILLCELL_OUTPUT: `${cwd}/out`,
      });
      if (isolation === 'namespace') expect(cwd).toBe('/workspace');
    });

    it('reports an uncaught error with the line of the user\u2019s own file', async () => {
      const result = await run('javascript', 'const a = 1;\n\n\nfunction deep() {\n  null.x;\n}\ndeep();\n', {
        fileName: 'mine.js',
      });
      expect(result).toMatchObject({
        outcome: 'failed',
        exitCode: 1,
        signal: null,
        error: { name: 'TypeError', line: 5 },
      });
      expect(result.error?.stack).toContain('mine.js:5');
      expect(result.stderr.text).toContain('mine.js:5');
    });

    it('reports an unhandled rejection, a thrown text, and a syntax error', async () => {
      expect(await run('javascript', '\nawait Promise.reject(new RangeError("far"));')).toMatchObject({
        outcome: 'failed',
        exitCode: 1,
        error: { name: 'RangeError', message: 'far', line: 2 },
      });
      expect((await run('javascript', 'throw "text"')).error?.message).toContain('text');
      const syntax = await run('javascript', 'const ok = 1;\nconst = 2;');
      expect(syntax).toMatchObject({ outcome: 'failed', exitCode: 1, error: { name: 'SyntaxError' } });
      expect(syntax.stderr.text).toContain(':2');
    });

    it('reports exit codes and signals', async () => {
      expect(await run('javascript', 'process.exit(7)')).toMatchObject({
        outcome: 'failed',
        exitCode: 7,
        signal: null,
      });
      expect(await run('javascript', 'process.exitCode = 3')).toMatchObject({ outcome: 'failed', exitCode: 3 });
      expect(await run('javascript', 'process.exit(0)')).toMatchObject({ outcome: 'succeeded', exitCode: 0 });
      expect(await run('javascript', 'process.exit(137)')).toMatchObject({
        outcome: 'failed',
        exitCode: 137,
        signal: null,
      });
      const killed = await run(
        'javascript',
        'process.kill(process.pid, "SIGKILL"); await new Promise(() => setInterval(() => {}, 1000));',
      );
      expect(killed).toMatchObject({ outcome: 'failed', exitCode: null, signal: 'SIGKILL' });
    });

    it('sets a value by default export or setValue, which takes precedence', async () => {
      const set = "import { setValue } from 'skillcell'; setValue({ from: 'setValue' });";
      expect((await succeed('javascript', `${set} export default 1;`)).value).toEqual({ from: 'setValue' });
      expect((await succeed('javascript', 'export default [null, "é"];')).value).toEqual([null, 'é']);
      expect('value' in (await succeed('javascript', 'export default () => 1;'))).toBe(false);
      expect('value' in (await succeed('javascript', '1;'))).toBe(false);
    });

    it('leaves out a value over 256 KiB, with a diagnostic', async () => {
      const fits = await succeed('javascript', 'export default "x".repeat(256 * 1024 - 2);');
      expect((fits.value as string).length).toBe(256 * 1024 - 2);
      const large = await run('javascript', 'export default "x".repeat(256 * 1024);');
      expect(large).toMatchObject({ outcome: 'succeeded' });
      expect('value' in large).toBe(false);
      expect(large.diagnostics).toContainEqual(expect.objectContaining({ code: 'value.invalid' }));
    });

    it.each([9, 17])('reports the size of a value of %i MiB, and keeps both ends of an error as long', async (mib) => {
      const value = await succeed('javascript', `export default "x".repeat(${mib} * 2 ** 20);`);
      expect(value.diagnostics).toContainEqual(tooLarge(mib * MIB + 2));
      const { outcome, error } = await run(
        'javascript',
        `\nthrow Object.assign(new Error("begin" + "x".repeat(${mib} * 2 ** 20) + "end"), { name: 7 });`,
      );
      expect({ outcome, error }).toMatchObject({ outcome: 'failed', error: { name: '7', line: 2 } });
      expect(error?.message).toMatch(/^beginx+\n…\nx+end$/);
      expect(error?.stack).toMatch(/^7: begin[^]*:2:\d+/);
    });

    it('accepts the largest value that a limit allows, even if each character is escaped', async () => {
      const most = LIMIT_CEILINGS.valueBytes;
      const { value } = await succeed('javascript', `export default '"'.repeat(${most / 2 - 1});`, {
        limits: { valueBytes: most },
      });
      expect((value as string).length).toBe(most / 2 - 1);
    });

    it('counts output in bytes and cuts between characters', async () => {
      const result = await run(
        'javascript',
        'process.stdout.write("é".repeat(600)); process.stderr.write("warning");',
        {
          limits: { keptOutputBytes: 501 },
        },
      );
      expect(result.stdout).toEqual({ text: 'é'.repeat(250), bytes: 1_200, truncated: true });
      expect(result.stderr).toEqual({ text: 'warning', bytes: 7, truncated: false });
      expect(result.outcome).toBe('succeeded');
    });

    it('C14 goes on if it reads only a part of a large stdin', async () => {
      const stdin = Buffer.alloc(20 * 1024 * 1024, 'x');
      const { value } = await succeed(
        'javascript',
        "import { readSync } from 'node:fs'; export default readSync(0, Buffer.alloc(3));",
        { stdin },
      );
      expect(value).toBe(3);
      await succeed('javascript', 'export default 0;', { stdin });
      const { value: all } = await succeed(
        'javascript',
        'let size = 0; for await (const chunk of process.stdin) size += chunk.length; export default size;',
        { stdin },
      );
      expect(all).toBe(stdin.length);
    });
  });

  it('input files over the limits of the workspace are the caller\u2019s fault, not ours', async () => {
    const limits = { workspaceMib: 2 };
    const full = run('javascript', '1', {
      limits,
      files: [{ destination: 'all', bytes: Buffer.alloc(2 * 1024 * 1024) }],
    });
    const many = Array.from({ length: 300 }, (_, index) => ({ destination: `d/${index}`, bytes: Buffer.of(1) }));
    const crowded = run('javascript', '1', { limits: { workspaceInodes: 100 }, files: many });
    for (const job of await Promise.allSettled([full, crowded])) {
      // Without a file system of its own for the workspace, the watch detects the excess once the program runs.
      if (isolation === 'none') expect(job).toMatchObject({ value: { outcome: 'limit' } });
      else expect(job).toMatchObject({ reason: { code: 'file.unreadable', entry: { exitCode: 2 } } });
    }
  });

  it('names the line in a file with spaces and non-ASCII letters in its name', async () => {
    const named = await run('javascript', '\n\nthrow new Error("third");', { fileName: 'é name.js' });
    expect(named.error).toMatchObject({ message: 'third', line: 3 });
  });

  describe('TypeScript', () => {
    it('runs with its types, and line numbers are the user\u2019s', async () => {
      const code =
        'interface Row { a: number }\nconst row: Row = { a: 2 };\nconsole.log(row.a satisfies number);\nexport default row as Row;\n';
      const { value, stdout } = await succeed('typescript', code);
      expect(value).toEqual({ a: 2 });
      expect(stdout.text).toBe('2\n');
      const failed = await run('typescript', `${code}type Never = never;\nthrow new Error('at six');`);
      expect(failed.error).toMatchObject({ message: 'at six', line: 6 });
    });

    it('reports syntax that cannot be stripped', async () => {
      const result = await run('typescript', 'enum Color { Red }\nconsole.log(Color.Red);');
      expect(result).toMatchObject({ outcome: 'failed', error: { name: 'SyntaxError' } });
      expect(result.stderr.text).toContain('enum');
    });
  });

  describe('Python', () => {
    beforeEach((context) => {
      requireHere(context, MISSING_PYTHON);
    });

    it.each([9, 17])('reports the size of a value of %i MiB, and keeps both ends of an error as long', async (mib) => {
      const value = await succeed('python', `import skillcell\nskillcell.set_value("x" * (${mib} * 2 ** 20))`);
      expect(value.diagnostics).toContainEqual(tooLarge(mib * MIB + 2));
      const { outcome, error } = await run('python', `\nraise ValueError("begin" + "x" * (${mib} * 2 ** 20) + "end")`);
      expect({ outcome, error }).toMatchObject({ outcome: 'failed', error: { name: 'ValueError', line: 2 } });
      expect(error?.message).toMatch(/^beginx+\n…\nx+end$/);
      expect(error?.stack).toMatch(/^Traceback [^]*line 2[^]*x+end\n$/);
    });

    it('keeps the output of a program until its timeout, without a copy from its forked child', async () => {
      const code = `import os, time
print('printed once')
os.fork()
while True: time.sleep(60)`;
      const { outcome, stdout } = await run('python', code, { limits: { runTimeoutMs: 1_000, graceMs: 1_000 } });
      expect({ outcome, stdout: stdout.text }).toEqual({ outcome: 'timeout', stdout: 'printed once\n' });
    });

    it('gets arguments, environment, stdin and files, and sets a value', async () => {
      const { value, stdout } = await succeed(
        'python',
        `import json, os, sys
from pathlib import Path
import skillcell
if __name__ == "__main__":
    print("héllo")
    skillcell.set_value({"args": sys.argv[1:], "env": os.environ["GIVEN"], "stdin": sys.stdin.read(), "file": Path("in.txt").read_text(), "cwd": os.getcwd() == os.environ["WORKSPACE"]})
`,
        {
          args: ['a b', '-x'],
          env: { GIVEN: 'é' },
          stdin: Buffer.from('in'),
          files: [{ destination: 'in.txt', bytes: Buffer.from('file') }],
        },
      );
      expect(value).toEqual({ args: ['a b', '-x'], env: 'é', stdin: 'in', file: 'file', cwd: true });
      expect(stdout.text).toBe('héllo\n');
    });

    it('reports errors with the line of the user\u2019s own file', async () => {
      const raised = await run('python', 'def f():\n    return {}["k"]\n\nf()\n', { fileName: 'mine.py' });
      expect(raised).toMatchObject({
        outcome: 'failed',
        exitCode: 1,
        error: { name: 'KeyError', message: "'k'", line: 2 },
      });
      expect(raised.stderr.text).toContain('mine.py", line 2');
      expect(raised.stderr.text).not.toContain('sitecustomize');
      expect(await run('python', 'x = 1\nif:\n')).toMatchObject({
        outcome: 'failed',
        error: { name: 'SyntaxError', line: 2 },
      });
    });

    it('delivers the value and the files of a program that closed the descriptors of its link', async () => {
      const code = `import os, skillcell
os.closerange(3, 256)
with open(os.environ['SKILLCELL_OUTPUT'] + '/kept.txt', 'w') as file: file.write('kept')
try: skillcell.call_tool('any.tool')
except skillcell.ToolCallError as error: print(error.code)
skillcell.set_value({'told': 'by a file'})`;
      const { value, stdout, artifacts } = await succeed('python', code);
      expect({ value, stdout: stdout.text, paths: artifacts.map(({ path }) => path) }).toEqual({
        value: { told: 'by a file' },
        stdout: 'tool.job-over\n',
        paths: ['kept.txt'],
      });
      const script = `import { closeSync, writeFileSync } from 'node:fs';
closeSync(62);
closeSync(63);
writeFileSync(process.env.SKILLCELL_OUTPUT + '/kept.txt', 'kept');
export default 'by a file';`;
      expect(await succeed('javascript', script)).toMatchObject({
        value: 'by a file',
        artifacts: [{ path: 'kept.txt' }],
      });
    });

    it('supports all ways to exit', async () => {
      expect(await run('python', 'import sys; sys.exit(3)')).toMatchObject({ outcome: 'failed', exitCode: 3 });
      expect(await run('python', 'import sys; sys.exit("bye")')).toMatchObject({
        exitCode: 1,
        stderr: { text: 'bye\n' },
      });
      expect(await run('python', 'raise SystemExit')).toMatchObject({ outcome: 'succeeded', exitCode: 0 });
      expect(await run('python', 'import os; os._exit(5)')).toMatchObject({ outcome: 'failed', exitCode: 5 });
      expect(await run('python', 'import os, signal; os.kill(os.getpid(), signal.SIGTERM)')).toMatchObject({
        outcome: 'failed',
        signal: 'SIGTERM',
      });
    });

    it('refuses a value that is not JSON, as an error of the program', async () => {
      expect(await run('python', 'import skillcell\nskillcell.set_value(float("nan"))')).toMatchObject({
        outcome: 'failed',
        error: { name: 'ValueError', line: 2 },
      });
    });

    it('waits for threads, and runs its exit handlers', async () => {
      const { stdout } = await succeed(
        'python',
        'import atexit, threading, time\natexit.register(print, "exit")\nsaid = threading.Event()\nthreading.Thread(target=lambda: (said.wait(), time.sleep(0.05), print("thread"))).start()\nprint("main")\nsaid.set()',
      );
      expect(stdout.text).toBe('main\nthread\nexit\n');
    });
  });

  describe('bash', () => {
    it('is asked to end, has its grace for last output and files, and shows only its own output', async () => {
      const code = `trap 'sleep 0.5; echo bye; echo x >"$SKILLCELL_OUTPUT/last"; exit 7' TERM\necho go\nwhile :; do read -r -t 0.1 <> <(:); done`;
      const result = await run('bash', code, { limits: { runTimeoutMs: 2_500, graceMs: 20_000 } });
      expect(result).toMatchObject({
        outcome: 'timeout',
        exitCode: 7,
        stdout: { text: 'go\nbye\n' },
        artifacts: [{ path: 'last' }],
      });
      const killed = await run('bash', 'kill -9 $$');
      expect(killed).toMatchObject({ outcome: 'failed', exitCode: null, signal: 'SIGKILL', stderr: { text: '' } });
    });

    it('gets arguments, environment, stdin and files, and leaves a value in a file', async () => {
      const { value, stdout } = await succeed(
        'bash',
        'read -r line\nprintf "%s|%s|%s|%s\\n" "$1" "$2" "$GIVEN" "$line"\ncat in.txt\nprintf \'{"n": %d}\' 5 >"$SKILLCELL_VALUE"\ncp in.txt "$SKILLCELL_OUTPUT/out.txt"\n',
        {
          args: ['a b', '$(id)'],
          env: { GIVEN: 'x y' },
          stdin: Buffer.from('line\n'),
          files: [{ destination: 'in.txt', bytes: Buffer.from('file') }],
        },
      );
      expect(stdout.text).toBe('a b|$(id)|x y|line\nfile');
      expect(value).toEqual({ n: 5 });
    });

    it('keeps exit codes, and names the line of a syntax error', async () => {
      expect(await run('bash', 'exit 9')).toMatchObject({ outcome: 'failed', exitCode: 9 });
      expect(await run('bash', 'set -e\nfalse\necho never')).toMatchObject({
        outcome: 'failed',
        exitCode: 1,
        stdout: { text: '' },
      });
      const broken = await run('bash', 'echo one\nif then\n');
      expect(broken.outcome).toBe('failed');
      expect(broken.stderr.text).toMatch(/line 2/);
    });

    it.each([
      ['a value that is not JSON', 'echo "{" >"$SKILLCELL_VALUE"'],
      ['a value behind a link', 'ln -s /etc/hostname "$SKILLCELL_VALUE"'],
      ['a value that is a pipe', 'mkfifo "$SKILLCELL_VALUE"'],
      ['a value that is a folder', 'mkdir "$SKILLCELL_VALUE"'],
    ])('leaves out %s, with a diagnostic', async (_name, code) => {
      const result = await run('bash', code);
      expect('value' in result).toBe(false);
      expect(result.diagnostics).toContainEqual(expect.objectContaining({ code: 'value.invalid' }));
    });
  });

  it('have the same usage numbers for each outcome', async () => {
    for (const code of ['1', 'process.exit(1)']) {
      const { usage } = await run('javascript', code);
      expect(usage.warm).toBe(false);
      expect(usage.wallMs).toBeGreaterThan(0);
      expect(usage.startMs).toBeGreaterThan(0);
      for (const number of [usage.cpuMs, usage.maxRssBytes]) expect(number === null || number > 0).toBe(true);
    }
  });

  it('fail if their declared outputs are missing, and only then', async () => {
    const write =
      "import { mkdirSync, writeFileSync, symlinkSync } from 'node:fs'; const out = process.env.SKILLCELL_OUTPUT + '/';";
    const missing = await run(
      'javascript',
      `${write} writeFileSync(out + 'a', '1'); mkdirSync(out + 'folder'); symlinkSync('a', out + 'link');`,
      {
        expect: ['a', 'b/c', 'folder', 'link'],
      },
    );
    expect(missing).toMatchObject({ outcome: 'failed', exitCode: 0, error: { name: 'ContractError' } });
    expect(missing.error?.message).toMatch(/ b\/c, folder \(left out: a folder\), link \(left out: .*link.*\)\.$/);
    expect(missing.contract).toEqual({ satisfied: false, missing: ['b/c', 'folder', 'link'] });
    const there = await run('javascript', `${write} mkdirSync(out + 'b'); writeFileSync(out + 'b/c', '');`, {
      expect: ['b/c'],
    });
    expect(there).toMatchObject({ outcome: 'succeeded', contract: { satisfied: true, missing: [] } });
    const thrown = await run('javascript', 'throw new TypeError("own")', { expect: ['a'] });
    expect(thrown).toMatchObject({ outcome: 'failed', error: { name: 'TypeError' }, contract: { satisfied: false } });
  });
});
