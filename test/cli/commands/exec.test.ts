import { once } from 'node:events';
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import type { JobResult } from '../../../src/contracts/jobs/result.ts';
import { limitsFromFlags } from '../../../src/cli/options/flags/limit-flags.ts';
import { readCommandLine } from '../../../src/cli/command-line/read-command-line.ts';
import { MISSING_PYTHON, requireHere } from '../../fixtures/describe-with.ts';
import { BEST_FLAGS, BEST_LEVEL, requireLevel } from '../../fixtures/levels.ts';
import { programFolder } from '../../fixtures/program-folder.ts';
import { runMain } from '../../fixtures/run-main.ts';
import { runCli, spawnCli } from '../../fixtures/spawn-cli.ts';

const folder = programFolder();
const { write } = folder;

/** Without an engine, `auto` takes the local runner. */
const WITHOUT_ENGINE = { DOCKER_HOST: 'unix:///nowhere/engine.sock' };

async function execJson(...argv: string[]): Promise<{ code: number; result: JobResult }> {
  const { code, stdout } = await runMain(['exec', ...BEST_FLAGS, ...argv, '--json'], { cwd: folder.path });
  return { code, result: JSON.parse(stdout) as JobResult };
}

describe('skillcell exec', () => {
  it.for<[string, string[]]>([
    [
      'a.mjs',
      ['const [word] = process.argv.slice(2);', 'console.log(`${word} ${process.env.K}`);', 'console.error("bad");'],
    ],
    ['a.js', ['console.log(`${process.argv[2]} ${process.env.K}`); console.error("bad");']],
    [
      'a.ts',
      ['const word: string = `${process.argv[2]} ${process.env.K}`;', 'console.log(word); console.error("bad");'],
    ],
    ['a.py', ['import os, sys', 'print(sys.argv[1], os.environ["K"])', 'print("bad", file=sys.stderr)']],
    ['a.sh', ['echo "$1 $K"; echo bad >&2']],
  ])('runs %s by its ending', async ([name, lines], context) => {
    if (name.endsWith('.py')) requireHere(context, MISSING_PYTHON);
    write(name, ...lines);
    const run = await runCli(['exec', ...BEST_FLAGS, name, '--arg', 'hi', '--env', 'K=v=1'], {
      cwd: folder.path,
      env: WITHOUT_ENGINE,
    });
    expect(run).toMatchObject({ code: 0, stdout: 'hi v=1\n' });
    const [where, ...said] = run.stderr.split('\n');
    // Docker has no level none, so it is not passed over there.
    const instead = BEST_LEVEL === 'none' ? '$' : '; runner docker was not taken: ';
    expect(where).toMatch(new RegExp(`^runner local, isolation ${BEST_LEVEL}${instead}`));
    expect(said.join('\n')).toMatch(/^bad\noutcome: succeeded \(exit code 0, /);
  });

  it('prints the result alone with --json', async () => {
    write('a.sh', 'echo "$1 $K"; echo bad >&2');
    const json = await runCli(['exec', ...BEST_FLAGS, 'a.sh', '--arg', 'hi', '--env', 'K=v=1', '--json'], {
      cwd: folder.path,
      env: WITHOUT_ENGINE,
    });
    expect(json).toMatchObject({ code: 0, stderr: expect.stringMatching(/^runner local, isolation .*\n$/) });
    expect(JSON.parse(json.stdout)).toMatchObject({
      kind: 'exec',
      outcome: 'succeeded',
      stdout: { text: 'hi v=1\n', bytes: 7, truncated: false },
      stderr: { text: 'bad\n' },
    });
  });

  it('sends the files of a folder, and lists those that it leaves out', async () => {
    mkdirSync(join(folder.path, 'tree/deep'), { recursive: true });
    writeFileSync(join(folder.path, 'tree/deep/a.txt'), 'a');
    symlinkSync('/etc/hostname', join(folder.path, 'tree/link'));
    write('list.sh', 'find . -type f | sort; cat tree/deep/a.txt other/deep/a.txt');
    const argv = ['exec', 'list.sh', '--file', './tree/', '--file', 'tree:other', '--isolation', 'none'];
    const run = await runMain(argv, { cwd: folder.path });
    expect(run).toMatchObject({ code: 0, stdout: './list.sh\n./other/deep/a.txt\n./tree/deep/a.txt\naa' });
    expect(run.stderr).toContain('tree/link');
    expect(run.stderr).toContain('a symbolic link');
  });

  it("takes the code from standard input, in the named language, with a file as the program's input", async () => {
    write('in.txt', 'from a file');
    const argv = ['exec', ...BEST_FLAGS, '--language', 'bash', '--stdin', 'in.txt'];
    const code = 'read -r line; echo "$line"';
    for (const operands of [[], ['-']]) {
      expect(await runMain([...argv, ...operands], { cwd: folder.path, stdin: code })).toMatchObject({
        code: 0,
        stdout: 'from a file\n',
      });
    }
    const file = write('p.sh', code);
    const run = await runMain(['exec', ...BEST_FLAGS, file, '--stdin', '-'], { cwd: folder.path, stdin: 'from here' });
    expect(run).toMatchObject({ code: 0, stdout: 'from here\n' });
    const empty = write('empty.sh', 'wc -c');
    expect(
      await runMain(['exec', ...BEST_FLAGS, empty, '--stdin', '/dev/null'], { cwd: folder.path, stdin: 'from here' }),
    ).toMatchObject({
      code: 0,
      stdout: '0\n',
    });
  });

  it('sends files under their destinations, a colon in a path included, and brings artifacts back', async () => {
    write('a:b.txt', 'colon');
    write('plain.txt', 'plain');
    const file = write(
      'job.mjs',
      'import { readFileSync, writeFileSync } from "node:fs";',
      'const text = readFileSync("a:b.txt", "utf8") + readFileSync("in/x", "utf8") + readFileSync("plain.txt", "utf8");',
      'writeFileSync(`${process.env.SKILLCELL_OUTPUT}/all.txt`, text);',
    );
    const files = ['--file', 'a:b.txt', '--file', 'a:b.txt:in/x', '--file', 'plain.txt'];
    const run = await runMain(['exec', ...BEST_FLAGS, file, ...files, '--output', 'made/out', '--expect', 'all.txt'], {
      cwd: folder.path,
    });
    expect(run).toMatchObject({ code: 0, stdout: '' });
    expect(readFileSync(join(folder.path, 'made/out/all.txt'), 'utf8')).toBe('colon\ncolon\nplain\n');
    expect(run.stderr).toContain(`artifact: ${join(folder.path, 'made/out/all.txt')} (18 bytes, text/plain)`);
    const dropped = await runMain(['exec', ...BEST_FLAGS, file, ...files], { cwd: folder.path });
    expect(dropped.stderr).toContain(
      'artifact: all.txt (18 bytes, text/plain)\nartifacts are dropped; --output DIR keeps them',
    );
  });

  it('ends with 1 for every outcome but succeeded, with a result on stdout', async () => {
    write('throws.mjs', 'throw new TypeError("no");');
    write('exits.sh', 'exit 7');
    write('sleeps.mjs', 'setInterval(() => undefined, 1000);');
    expect(await execJson('throws.mjs')).toMatchObject({
      code: 1,
      result: { outcome: 'failed', error: { name: 'TypeError' } },
    });
    expect(await execJson('exits.sh')).toMatchObject({ code: 1, result: { outcome: 'failed', exitCode: 7 } });
    expect(await execJson('sleeps.mjs', '--timeout', '0.3')).toMatchObject({ code: 1, result: { outcome: 'timeout' } });
    write('one.mjs', '1;');
    const missing = await runMain(['exec', ...BEST_FLAGS, 'one.mjs', '--expect', 'a.txt'], { cwd: folder.path });
    expect(missing.code).toBe(1);
    expect(missing.stderr).toContain('missing: a.txt');
  });

  it('sets the limits that flags name', () => {
    const flags = '--timeout 1.5 --memory 256 --cpus 0.5 --pids 40 --workspace 16'.split(' ');
    const more =
      '--job-timeout 9 --model-timeout 8 --grace 0.5 --workspace-files 7 --kept-output 6 --total-output 5 --artifact-file 4 --artifact-total 3 --artifact-files 2 --artifact-depth 1 --value-size 10 --calls 11'.split(
        ' ',
      );
    const line = readCommandLine(['codegen', 'task', ...flags, ...more]);
    if (line.kind !== 'run') throw new Error(`It is ${line.kind}.`);
    expect(limitsFromFlags(line.arguments)).toEqual({
      runTimeoutMs: 1500,
      memoryMib: 256,
      cpus: 0.5,
      pids: 40,
      workspaceMib: 16,
      jobTimeoutMs: 9_000,
      modelTimeoutMs: 8_000,
      graceMs: 500,
      workspaceInodes: 7,
      keptOutputBytes: 6 * 1024,
      totalOutputBytes: 5 * 1024 ** 2,
      artifactFileBytes: 4 * 1024 ** 2,
      artifactTotalBytes: 3 * 1024 ** 2,
      artifactFiles: 2,
      artifactDepth: 1,
      valueBytes: 10 * 1024,
      calls: 11,
    });
  });

  it('starts the sandbox with these limits', async (context) => {
    requireLevel(context, 'namespace');
    const file = write('space.sh', 'df -m --output=size /workspace | tail -n 1');
    expect(await runMain(['exec', file, '--workspace', '16'], { cwd: folder.path })).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^ *16\n$/),
    });
  });

  it('says why a declared output over its limit is missing', async () => {
    const file = write('large.sh', 'head -c 1048577 /dev/zero > "$SKILLCELL_OUTPUT/large.bin"');
    const flags = ['--artifact-file', '1', '--expect', 'large.bin'];
    const run = await runMain(['exec', ...BEST_FLAGS, file, ...flags], { cwd: folder.path });
    expect(run.code).toBe(1);
    const reason = 'over 1048576 bytes, got 1048577';
    expect(run.stderr).toContain(
      `error: ContractError: Declared outputs are missing: large.bin (left out: ${reason}).\nmissing: large.bin\n`,
    );
    expect(run.stderr).toContain(`omitted: large.bin (${reason})`);
  });

  it('carries skills into the sandbox', async () => {
    const file = write('ls.sh', 'cd "$SKILLS_DIR"; ls -d */*; head -c 3 public/chart/SKILL.md');
    const { result } = await execJson(file, '--skill', 'chart');
    expect(result.skills.active).toEqual(['public.chart']);
    expect(result.stdout.text).toBe('public/chart\n---');
  });

  it('escapes the output of the program for a terminal, and passes it on raw otherwise', async () => {
    const file = write(
      'rude.mjs',
      'process.stdout.write("\\u001b]0;x\\u0007é\\r\\u202e\\n");',
      'console.error("\\u001b[2J");',
    );
    const raw = await runMain(['exec', ...BEST_FLAGS, file], { cwd: folder.path });
    expect(raw.stdout).toBe('\u001b]0;x\u0007é\r\u202e\n');
    expect(raw.stderr).toContain('\u001b[2J\n');
    const shown = await runMain(['exec', ...BEST_FLAGS, file], { cwd: folder.path, terminal: true });
    expect(shown.stdout).toBe('\\x1b]0;x\\x07é\\r\\u{202e}\n');
    expect(shown.stderr).toContain('\\x1b[2J\n');
    // Lines of skillcell itself are always escaped.
    const error = await runMain(['exec', ...BEST_FLAGS, write('throws.mjs', 'throw new Error("\\u001b[2J")')], {
      cwd: folder.path,
    });
    expect(error.stderr).toContain('error: Error: \\x1b[2J (line 1)\n');
  });

  it('shows a character that arrives in two pieces whole', async () => {
    const file = write(
      'split.mjs',
      'process.stdout.write(Buffer.from([0xc3]));',
      'setTimeout(() => process.stdout.write(Buffer.from([0xa9, 0x0a])), 200);',
    );
    expect((await runMain(['exec', ...BEST_FLAGS, file], { cwd: folder.path, terminal: true })).stdout).toBe('é\n');
  });

  it('passes output on as it comes', async () => {
    const child = spawnCli(
      ['exec', ...BEST_FLAGS, write('goes-on.mjs', 'console.log("up");', 'setInterval(() => undefined, 100);')],
      { cwd: folder.path },
    );
    const [first] = (await once(child.stdout!, 'data')) as [Buffer];
    // The program never ends: its output arrives before its end.
    expect(first.toString()).toBe('up\n');
    child.kill('SIGINT');
    expect(await once(child, 'close')).toEqual([130, null]);
  });

  it('ends with 4 when the output cannot be written', async () => {
    const stdout = new Writable({
      write: (_chunk, _encoding, done) => done(Object.assign(new Error('full'), { code: 'ENOSPC' })),
    });
    const run = await runMain(['skills', 'list'], { stdout });
    expect(run).toMatchObject({ code: 4, stderr: 'Cannot write the output: full\n' });
  });
});
