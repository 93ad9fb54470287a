import { existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { execFileSync } from 'node:child_process';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { isOpen } from '../../../src/cli/repl/is-open.ts';
import type { JobResult } from '../../../src/contracts/jobs/result.ts';
import type { SessionRun } from '../../../src/contracts/jobs/session.ts';
import { MISSING_PYTHON, requireHere } from '../../fixtures/describe-with.ts';
import { BEST_FLAGS } from '../../fixtures/levels.ts';
import { Collector, runMain, startMain } from '../../fixtures/run-main.ts';
import { until } from '../../fixtures/until.ts';
import { TAR_END, tarEntry } from '../../protocol/tar-bytes.ts';

let cwd: string;
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), 'cli-repl-'));
});
afterEach(() => rmSync(cwd, { recursive: true }));

const repl = (stdin: string, ...argv: string[]): ReturnType<typeof runMain> =>
  runMain(['repl', '--runner', 'local', ...BEST_FLAGS, ...argv], { stdin, cwd });

describe('skillcell repl', () => {
  it('runs pieces in one shared state, and shows values, results and output', async () => {
    const { code, stdout, stderr } = await repl(
      'const f = (x) => {\n  return x * 2;\n};\nf(21)\nconsole.log("said")\nnew Set([1])\n"text"\n',
    );
    expect(stdout).toBe('42\nsaid\nSet(1) { 1 }\n"text"\n');
    expect(stderr).toMatch(/^runner local, isolation \w+; \.help lists the commands\n$/);
    expect(code).toBe(0);
  });

  it('says which piece failed, goes on, and ends with 1', async () => {
    const { code, stdout, stderr } = await repl('const x = 1;\nthrow new Error("no")\nprocess.exit(0)\ntypeof x\n');
    expect(stdout).toBe('"undefined"\n');
    expect(stderr).toContain('Uncaught Error: no\n    at cell-2:1:7\nrun 2: failed\n');
    expect(stderr).toContain('epoch 1 is over: definitions are lost, files are kept\n');
    expect(code).toBe(1);
  });

  it('ends a block of Python at an empty line, and at the end of its input', async (context) => {
    requireHere(context, MISSING_PYTHON);
    const { code, stdout } = await repl(
      'def f(x):\n  return x + 1\n\nfor i in range(2):\n  print(f(i))',
      '--language',
      'python',
    );
    expect(stdout).toBe('1\n2\n');
    expect(code).toBe(0);
  });

  it('prints one document with --json', async () => {
    const { code, stdout } = await repl('1 + 1\nthrow 5\n', '--json');
    const { runs, result } = JSON.parse(stdout) as { runs: SessionRun[]; result: JobResult };
    expect(runs).toMatchObject([
      { run: 1, value: 2 },
      { run: 2, outcome: 'failed' },
    ]);
    expect(result).toMatchObject({ kind: 'session', outcome: 'succeeded' });
    expect(code).toBe(1);
  });

  it('packs its working folder, starts from one, and lists it', async () => {
    await repl("require('node:fs').writeFileSync('made.txt', 'made')\n", '--session-out', 'out.tar');
    expect(execFileSync('tar', ['-tf', join(cwd, 'out.tar')], { encoding: 'utf8' })).toBe('made.txt\n');
    const { stderr, stdout } = await repl(
      ".files\nrequire('node:fs').readFileSync('made.txt', 'utf8')\n",
      '--session-in',
      'out.tar',
    );
    expect(stdout).toBe('"made"\n');
    expect(stderr).toContain('made.txt (4 bytes)\n');
  });

  it('packs its output folder as well, and begins with it', async () => {
    await repl("require('node:fs').writeFileSync('out/report.md', 'done')\n", '--session-out', 'out.tar');
    const { stdout, code } = await repl(
      "require('node:fs').readFileSync('out/report.md', 'utf8')\n",
      '--session-in',
      'out.tar',
      '--session-out',
      'out.tar',
    );
    expect({ stdout, code }).toEqual({ stdout: '"done"\n', code: 0 });
    expect(execFileSync('tar', ['-tf', join(cwd, 'out.tar')], { encoding: 'utf8' })).toBe('out/report.md\n');
  });

  it('runs nothing after .exit', async () => {
    const { code, stdout } = await repl('1 + 1\n.exit\n2 + 2\n', '--session-out', 'out.tar');
    expect({ code, stdout }).toEqual({ code: 0, stdout: '2\n' });
    expect(existsSync(join(cwd, 'out.tar'))).toBe(true);
  });

  it.each([
    ['a folder', 'folder'],
    ['below a file', 'file/out.tar'],
    ['a link', 'link'],
    ['no name', ''],
    ['a folder that takes no files', '/proc/out.tar'],
    ['a name that is too long', 'n'.repeat(256)],
  ])('refuses a place for its working folder before anything runs: %s', async (_name, place) => {
    mkdirSync(join(cwd, 'folder'));
    writeFileSync(join(cwd, 'file'), '');
    symlinkSync('file', join(cwd, 'link'));
    const { code, stdout, stderr } = await repl('1\n', '--session-out', place);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain('Cannot use --session-out: it must be a file, or a new one in a folder');
  });

  it('reports why the working folder could not be written at the end', async () => {
    const stdin = `require('node:fs').mkdirSync(${JSON.stringify(join(cwd, 'out.tar', 'in'))}, { recursive: true });\n1\n`;
    const argv = ['repl', '--runner', 'local', '--isolation', 'none', '--session-out', 'out.tar'];
    const { code, stdout, stderr } = await runMain(argv, { stdin, cwd });
    expect({ code, stdout }).toEqual({ code: 3, stdout: `${JSON.stringify(join(cwd, 'out.tar'))}\n1\n` });
    expect(stderr).toContain(`Cannot write the working folder: EISDIR, got "${join(cwd, 'out.tar')}".`);
  });

  it('starts from an archive of tar', async () => {
    execFileSync('sh', ['-c', 'mkdir -p in/deep && echo deep >in/deep/a.txt && tar -cf in.tar -C in .'], { cwd });
    expect(
      (await repl("require('node:fs').readFileSync('deep/a.txt', 'utf8')\n", '--session-in', 'in.tar')).stdout,
    ).toBe('"deep\\n"\n');
  });

  it.each([
    ['a path that leaves the folder', tarEntry({ name: '../up', content: 'x' })],
    ['an absolute path', tarEntry({ name: '/etc/up', content: 'x' })],
    ['a duplicate name', Buffer.concat([tarEntry({ name: 'a', content: 'x' }), tarEntry({ name: 'a', content: 'y' })])],
    [
      'a file for a folder',
      Buffer.concat([tarEntry({ name: 'a', content: 'x' }), tarEntry({ name: 'a/b', content: 'y' })]),
    ],
    ['a link', tarEntry({ name: 'a', type: '2', link: '/etc/passwd' })],
    ['no archive', Buffer.alloc(1_000, 7)],
    ['half an archive', tarEntry({ name: 'a', content: 'x'.repeat(5_000) }).subarray(0, 1_024)],
  ])('refuses an archive with %s, and runs nothing', async (_name, bytes) => {
    writeFileSync(join(cwd, 'bad.tar'), _name.startsWith('half') ? bytes : Buffer.concat([bytes, TAR_END]));
    const { code, stdout } = await repl('1\n', '--session-in', 'bad.tar', '--json');
    expect(JSON.parse(stdout)).toMatchObject({ error: { code: 'archive.refused' } });
    expect(code).toBe(2);
  });

  it('leaves nothing if it is interrupted before it begins', async () => {
    const stdin = new PassThrough();
    const running = startMain(['repl', '--runner', 'local', ...BEST_FLAGS, '--session-out', 'out.tar'], { stdin, cwd });
    stdin.write('const x = 1;\n');
    running.signal('SIGINT');
    expect(await running.done).toEqual({ code: 130, stdout: '', stderr: '' });
    expect(existsSync(join(cwd, 'out.tar'))).toBe(false);
  });

  it('stops the run and writes its working folder on an interruption, and runs nothing more', async () => {
    const stdin = new PassThrough();
    const stdout = new Collector();
    const argv = ['repl', '--runner', 'local', ...BEST_FLAGS, '--session-out', 'out.tar'];
    const running = startMain(argv, { stdin, stdout, cwd });
    stdin.write("require('node:fs').writeFileSync('made.txt', 'made'); console.log('on'); for (;;) {}\n1 + 1\nf(");
    await until(() => stdout.chunks.length > 0, 'the run');
    running.signal('SIGINT');
    const { code, stderr } = await running.done;
    expect(code).toBe(130);
    expect(Buffer.concat(stdout.chunks).toString()).toBe('on\n');
    expect(stderr).toContain('run 1: canceled');
    expect(stderr).not.toContain('Cannot');
    expect(execFileSync('tar', ['-tf', join(cwd, 'out.tar')], { encoding: 'utf8' })).toBe('made.txt\n');
  });
});

it('isOpen() tells whether code needs more lines', () => {
  for (const [language, code, open] of [
    ['javascript', 'f(', true],
    ['javascript', 'f()', false],
    ['javascript', '`a\n', true],
    ['javascript', '"(" // {', false],
    ['javascript', '/* { ', true],
    ['javascript', "f() // it's `", false],
    ['javascript', '`a\\`', true],
    ['python', 'def f():', true],
    ['python', 'def f():\n  pass', true],
    ['python', 'def f():\n  pass\n', false],
    ['python', 'x = [1,', true],
    ['python', '"""a', true],
    ['python', '"""a"""', false],
    ['python', 'x = 1', false],
    ['python', "'''a", true],
    ['python', 'x = "#"  # (', false],
    ['python', '@cached', true],
    ['bash', 'if true; then', true],
    ['bash', 'if true; then echo; fi', false],
    ['bash', 'cat <<END', true],
    ['bash', 'cat <<END\nx\nEND', false],
    ['bash', 'echo hi |', true],
    ['bash', 'echo if', false],
    ['bash', "cat <<'END'\nx\n\tEND", false],
    ['bash', "echo 'a", true],
    ['bash', 'echo "a\\"', true],
    ['bash', "echo a # it's", false],
    ['bash', 'echo "; if x"', false],
    ['bash', 'case x in\na) echo;;', true],
    ['bash', 'case x in a) echo;; esac', false],
    ['bash', 'f() {', true],
    ['bash', 'x=(a', true],
    ['bash', 'echo $#', false],
  ] as const)
    expect([language, code, isOpen(language, code)]).toEqual([language, code, open]);
});
