import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import type { ExecOptions } from '../../../src/contracts/jobs/job.ts';
import { LIMIT_CEILINGS } from '../../../src/contracts/jobs/limits.ts';
import type { Language } from '../../../src/contracts/jobs/language.ts';
import type { JobResult } from '../../../src/contracts/jobs/result.ts';
import { createOrchestrator } from '../../../src/jobs/create-orchestrator.ts';
import { MISSING_PYTHON, requireHere } from '../../fixtures/describe-with.ts';
import { BEST_LEVEL, LEVELS, SHARED_LEVELS, requireLevel } from '../../fixtures/levels.ts';
import { IS_SAMPLE } from '../../fixtures/share.ts';

const MIB = 2 ** 20;
const tooLarge = (bytes: number): unknown =>
  expect.objectContaining({
    code: 'value.invalid',
    message: `The value is left out: over 262144 bytes, got ${bytes}.`,
  });

const orchestrator = createOrchestrator();
afterAll(() => orchestrator.close());

type Run = (language: Language, code: string, more?: Partial<ExecOptions>) => Promise<JobResult>;

function jobsAt(isolation: (typeof LEVELS)[number]): {
  run: Run;
  /** Runs and expects success. The message of a failed comparison then shows the program's stderr and error. */
  succeed: Run;
} {
  beforeEach((context) => requireLevel(context, isolation));
  const run: Run = (language, code, more = {}) => orchestrator.exec({ isolation, language, code, ...more });
  return {
    run,
    async succeed(...program) {
      const result = await run(...program);
      expect({ outcome: result.outcome, stderr: result.stderr.text, error: result.error }).toEqual({
        outcome: 'succeeded',
        stderr: '',
        error: undefined,
      });
      return result;
    },
  };
}

interface Ending {
  language: Language;
  code: string;
  result: object;
  /** Whether `npm test` tries it. */
  quick?: true;
}

const exited = (exitCode: number): object => ({ outcome: exitCode === 0 ? 'succeeded' : 'failed', exitCode });
const killed = (signal: string): object => ({ outcome: 'failed', exitCode: null, signal });
const thrown = (error: object): object => ({ outcome: 'failed', exitCode: 1, error });
const contains = (text: string): unknown => expect.stringContaining(text);

/** Each ending of a program without a value, in each language. */
const ENDINGS: Ending[] = [
  {
    language: 'javascript',
    code: '\nawait Promise.reject(new RangeError("far"));',
    result: thrown({ name: 'RangeError', message: 'far', line: 2 }),
    quick: true,
  },
  { language: 'javascript', code: 'throw "text"', result: { error: { message: contains('text') } } },
  {
    language: 'javascript',
    code: 'const ok = 1;\nconst = 2;',
    result: { ...thrown({ name: 'SyntaxError' }), stderr: { text: contains(':2') } },
  },
  { language: 'javascript', code: 'process.exit(7)', result: { ...exited(7), signal: null }, quick: true },
  { language: 'javascript', code: 'process.exitCode = 3', result: exited(3) },
  { language: 'javascript', code: 'process.exit(0)', result: exited(0) },
  { language: 'javascript', code: 'process.exit(137)', result: { ...exited(137), signal: null } },
  {
    language: 'javascript',
    code: 'process.kill(process.pid, "SIGKILL"); await new Promise(() => setInterval(() => {}, 1000));',
    result: killed('SIGKILL'),
    quick: true,
  },
  {
    language: 'javascript',
    code: 'export default () => 1;',
    result: { ...exited(0), stderr: { text: '' } },
    quick: true,
  },
  { language: 'javascript', code: '1;', result: { ...exited(0), stderr: { text: '' } } },
  { language: 'python', code: 'import sys; sys.exit(3)', result: exited(3) },
  {
    language: 'python',
    code: 'import sys; sys.exit("bye")',
    result: { exitCode: 1, stderr: { text: 'bye\n' } },
    quick: true,
  },
  { language: 'python', code: 'raise SystemExit', result: exited(0) },
  { language: 'python', code: 'import os; os._exit(5)', result: exited(5) },
  {
    language: 'python',
    code: 'import os, signal; os.kill(os.getpid(), signal.SIGTERM)',
    result: { outcome: 'failed', signal: 'SIGTERM' },
    quick: true,
  },
  {
    language: 'python',
    code: 'x = 1\nif:\n',
    result: { outcome: 'failed', error: { name: 'SyntaxError', line: 2 } },
    quick: true,
  },
  {
    language: 'python',
    code: 'import skillcell\nskillcell.set_value(float("nan"))',
    // A value that is not JSON is an error of the program.
    result: { outcome: 'failed', error: { name: 'ValueError', line: 2 } },
    quick: true,
  },
  { language: 'bash', code: 'exit 9', result: exited(9) },
  { language: 'bash', code: 'set -e\nfalse\necho never', result: { ...exited(1), stdout: { text: '' } }, quick: true },
  {
    language: 'bash',
    code: 'echo one\nif then\n',
    result: { outcome: 'failed', stderr: { text: expect.stringMatching(/line 2/) as string } },
    quick: true,
  },
  { language: 'bash', code: 'kill -9 $$', result: { ...killed('SIGKILL'), stderr: { text: '' } } },
];

// `npm test` tries a share of these tables at one level, and the rest of all tests all rows at each level.
describe.each(IS_SAMPLE ? [BEST_LEVEL] : LEVELS)('programs at level %s', (isolation) => {
  const { run, succeed } = jobsAt(isolation);

  it.for(ENDINGS.filter(({ quick }) => !IS_SAMPLE || quick))(
    'end in $language as reported: $code',
    async ({ language, code, result }, context) => {
      if (language === 'python') requireHere(context, MISSING_PYTHON);
      const ended = await run(language, code);
      expect(ended).toMatchObject(result);
      expect('value' in ended).toBe(false);
      if (ended.outcome === 'succeeded') expect(ended.error).toBeUndefined();
      if (language !== 'javascript') return;
      // The usage has the same numbers for each outcome.
      const { usage } = ended;
      expect(usage.warm).toBe(false);
      expect(usage.wallMs).toBeGreaterThan(0);
      expect(usage.startMs).toBeGreaterThan(0);
      for (const number of [usage.cpuMs, usage.maxRssBytes]) expect(number === null || number > 0).toBe(true);
    },
  );

  it.each(IS_SAMPLE ? [9] : [9, 17])(
    'in JavaScript report the size of a value of %i MiB, and keep both ends of an error as long',
    async (mib) => {
      const value = await succeed('javascript', `export default "x".repeat(${mib} * 2 ** 20);`);
      expect(value.diagnostics).toContainEqual(tooLarge(mib * MIB + 2));
      const { outcome, error } = await run(
        'javascript',
        `\nthrow Object.assign(new Error("begin" + "x".repeat(${mib} * 2 ** 20) + "end"), { name: 7 });`,
      );
      expect({ outcome, error }).toMatchObject({ outcome: 'failed', error: { name: '7', line: 2 } });
      expect(error?.message).toMatch(/^beginx+\n…\nx+end$/);
      expect(error?.stack).toMatch(/^7: begin[^]*:2:\d+/);
    },
  );

  it('have the largest value that a limit allows accepted, even if each character is escaped', async () => {
    const most = LIMIT_CEILINGS.valueBytes;
    const { value } = await succeed('javascript', `export default '"'.repeat(${most / 2 - 1});`, {
      limits: { valueBytes: most },
    });
    expect((value as string).length).toBe(most / 2 - 1);
  });

  it('C14 go on if they read only a part of a large stdin', async () => {
    const stdin = Buffer.alloc(20 * 1024 * 1024, 'x');
    const { value } = await succeed(
      'javascript',
      "import { readSync } from 'node:fs'; export default readSync(0, Buffer.alloc(3));",
      { stdin },
    );
    expect(value).toBe(3);
    if (IS_SAMPLE) return;
    await succeed('javascript', 'export default 0;', { stdin });
    const { value: all } = await succeed(
      'javascript',
      'let size = 0; for await (const chunk of process.stdin) size += chunk.length; export default size;',
      { stdin },
    );
    expect(all).toBe(stdin.length);
  });

  it.for(IS_SAMPLE ? [17] : [9, 17])(
    'in Python report the size of a value of %i MiB, and keep both ends of an error as long',
    async (mib, context) => {
      requireHere(context, MISSING_PYTHON);
      const value = await succeed('python', `import skillcell\nskillcell.set_value("x" * (${mib} * 2 ** 20))`);
      expect(value.diagnostics).toContainEqual(tooLarge(mib * MIB + 2));
      const { outcome, error } = await run('python', `\nraise ValueError("begin" + "x" * (${mib} * 2 ** 20) + "end")`);
      expect({ outcome, error }).toMatchObject({ outcome: 'failed', error: { name: 'ValueError', line: 2 } });
      expect(error?.message).toMatch(/^beginx+\n…\nx+end$/);
      expect(error?.stack).toMatch(/^Traceback [^]*line 2[^]*x+end\n$/);
    },
  );

  const VALUES = [
    ['a value that is not JSON', 'echo "{" >"$SKILLCELL_VALUE"'],
    ['a value behind a link', 'ln -s /etc/hostname "$SKILLCELL_VALUE"'],
    ['a value that is a pipe', 'mkfifo "$SKILLCELL_VALUE"'],
    ['a value that is a folder', 'mkdir "$SKILLCELL_VALUE"'],
  ] as const;
  it.each(IS_SAMPLE ? [VALUES[0], VALUES[2]] : VALUES)(
    'in bash leave out %s, with a diagnostic',
    async (_name, code) => {
      const result = await run('bash', code);
      expect('value' in result).toBe(false);
      expect(result.diagnostics).toContainEqual(expect.objectContaining({ code: 'value.invalid' }));
    },
  );
});

describe.each(SHARED_LEVELS)('programs at level %s', (isolation) => {
  const { run, succeed } = jobsAt(isolation);

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

    it('sets a value by default export or setValue, which takes precedence', async () => {
      const set = "import { setValue } from 'skillcell'; setValue({ from: 'setValue' });";
      expect((await succeed('javascript', `${set} export default 1;`)).value).toEqual({ from: 'setValue' });
      expect((await succeed('javascript', 'export default [null, "é"];')).value).toEqual([null, 'é']);
    });

    it('leaves out a value over 256 KiB, with a diagnostic', async () => {
      const fits = await succeed('javascript', 'export default "x".repeat(256 * 1024 - 2);');
      expect((fits.value as string).length).toBe(256 * 1024 - 2);
      const large = await run('javascript', 'export default "x".repeat(256 * 1024);');
      expect(large).toMatchObject({ outcome: 'succeeded' });
      expect('value' in large).toBe(false);
      expect(large.diagnostics).toContainEqual(expect.objectContaining({ code: 'value.invalid' }));
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
