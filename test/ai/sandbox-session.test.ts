import { generateText, isStepCount, tool, type Experimental_SandboxSession as SandboxSession } from 'ai';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { createSandboxSession } from '../../src/ai/sandbox-session/create-sandbox-session.ts';
import type { Session } from '../../src/contracts/jobs/session.ts';
import { createOrchestrator } from '../../src/jobs/create-orchestrator.ts';
import type { Orchestrator } from '../../src/jobs/orchestrator.ts';
import { ALL_LEVELS, everyRunner, requireEachLevel, type EachLevel } from '../fixtures/every-level.ts';
import { BEST_LEVEL } from '../fixtures/levels.ts';
import { toolCallingModel } from '../fixtures/tool-calling-model.ts';
import { until } from '../fixtures/until.ts';

let orchestrator: Orchestrator;
beforeAll(async () => {
  orchestrator = createOrchestrator({ runners: await everyRunner() });
});
afterAll(() => orchestrator.close());

let session: Session;
let sandbox: SandboxSession;
const open = async (isolation: EachLevel): Promise<void> => {
  session = await orchestrator.session({ isolation, env: { FROM: 'the session' } });
  sandbox = createSandboxSession(session);
};
afterEach(() => session.close());

const textOf = (stream: ReadableStream<Uint8Array>): Promise<string> => new Response(stream).text();
const run = async (command: string): Promise<string> => (await sandbox.run({ command })).stdout.trim();
/** Whether a process of the sandbox lives. */
const isAlive = async (pid: string): Promise<boolean> =>
  (await sandbox.run({ command: `kill -0 ${pid}` })).exitCode === 0;
const everyByte = new Uint8Array(3_000_000).map((_, index) => index % 251);

describe.each(ALL_LEVELS)('a sandbox of a session at level %s', (isolation) => {
  beforeEach(async (context) => {
    requireEachLevel(context, isolation);
    await open(isolation);
  });

  it('runs commands with exit code, both streams, folder, environment, and an empty input', async () => {
    const command = 'echo "ü $A $FROM"; echo warn >&2; cat; exit 3';
    const result = await sandbox.run({ command, env: { A: "it's" } });
    expect(result).toEqual({ exitCode: 3, stdout: "ü it's the session\n", stderr: 'warn\n' });
    const home = await run('mkdir -p a && pwd');
    expect(await sandbox.run({ command: 'pwd', workingDirectory: 'a' })).toMatchObject({ stdout: `${home}/a\n` });
    expect(await sandbox.run({ command: 'cd ..; pwd', workingDirectory: `${home}/a` })).toMatchObject({
      stdout: `${home}\n`,
    });
    expect(await run('echo "$A"; cd a')).toBe('');
    await session.run('process.chdir("a"); process.env.A = "b"');
    expect(await run('pwd; echo "$A"')).toBe(home);
    expect(await sandbox.run({ command: 'kill -9 $$' })).toMatchObject({ exitCode: 137 });
  });

  it('writes and reads files of any bytes, also by streams and by absolute paths', async () => {
    await sandbox.writeBinaryFile({ path: 'x/y/data.bin', content: everyByte });
    const path = await run('realpath x/y/data.bin');
    expect(Buffer.compare((await sandbox.readBinaryFile({ path })) ?? Buffer.alloc(0), everyByte)).toBe(0);
    const stream = await sandbox.readFile({ path: 'x/y/data.bin' });
    await sandbox.writeFile({ path: 'copy.bin', content: stream ?? new ReadableStream() });
    expect(await run('cmp copy.bin x/y/data.bin && stat -c %s copy.bin')).toBe('3000000');
    await sandbox.writeTextFile({ path: 'copy.bin', content: 'short' });
    expect(await run('cat copy.bin')).toBe('short');
    await sandbox.writeBinaryFile({ path: 'empty', content: new Uint8Array() });
    expect(await sandbox.readBinaryFile({ path: 'empty' })).toEqual(new Uint8Array());
    expect(await sandbox.stat({ path: 'x' })).toMatchObject({ type: 'directory' });
    expect(await sandbox.stat({ path: 'x/y/data.bin' })).toEqual({ type: 'file', size: 3_000_000 });
    expect(await sandbox.deleteFile({ path: 'copy.bin' })).toBe(true);
    expect(await sandbox.deleteFile({ path: 'copy.bin' })).toBe(false);
  });

  it('runs a process beside other commands, with streams and standard input, and ends its whole group', async () => {
    const child = await sandbox.spawn({
      command: 'while read x; do echo "got $x"; done; echo end >&2; exit 4',
      stdin: true,
    });
    const input = child.stdin.getWriter();
    await input.write(Buffer.from('a\nb'));
    expect(await run('echo beside')).toBe('beside');
    await input.write(Buffer.from('c\n'));
    await input.close();
    expect(await Promise.all([textOf(child.stdout), textOf(child.stderr), child.wait()])).toEqual([
      'got a\ngot bc\n',
      'end\n',
      { exitCode: 4 },
    ]);
    const group = await sandbox.spawn({ command: 'sleep 1000 & echo $!; wait' });
    expect(group).not.toHaveProperty('stdin');
    const { value } = await group.stdout.getReader().read();
    const sleeper = Buffer.from(value ?? [])
      .toString()
      .trim();
    expect(await isAlive(sleeper)).toBe(true);
    await group.kill();
    expect(await group.wait()).toEqual({ exitCode: 143 });
    await until(async () => !(await isAlive(sleeper)), 'the end of the group');
    await group.kill();
  });

  it('ends aborted commands, and gives the reason', async () => {
    const controller = new AbortController();
    const child = await sandbox.spawn({ command: 'echo $$; exec sleep 1000', abortSignal: controller.signal });
    const reader = child.stdout.getReader();
    const pid = Buffer.from((await reader.read()).value ?? [])
      .toString()
      .trim();
    const running = sandbox.run({ command: 'sleep 1000', abortSignal: controller.signal });
    const reason = new Error('the user left');
    controller.abort(reason);
    await expect(running).rejects.toBe(reason);
    await expect(child.wait()).rejects.toBe(reason);
    await expect(reader.read()).rejects.toBe(reason);
    await until(async () => !(await isAlive(pid)), 'the end of the aborted command');
    const late = { path: 'a', abortSignal: controller.signal };
    for (const refused of [
      sandbox.run({ command: 'true', abortSignal: controller.signal }),
      sandbox.spawn({ command: 'true', abortSignal: controller.signal }),
      sandbox.readFile(late),
      sandbox.readTextFile(late),
      sandbox.writeTextFile({ ...late, content: 'x' }),
      sandbox.stat(late),
      sandbox.listDirectory(late),
      sandbox.deleteFile(late),
    ])
      await expect(refused).rejects.toBe(reason);
    expect(await sandbox.stat({ path: 'a' })).toBeNull();
  });

  it('ends the whole group of a command that has exited, and no other group', async () => {
    const other = await sandbox.spawn({ command: 'sleep 1000' });
    for (const output of ['', '>/dev/null 2>&1']) {
      const child = await sandbox.spawn({ command: `sleep 1000 ${output} & echo $! > sleeper` });
      expect(await child.wait()).toEqual({ exitCode: 0 });
      const sleeper = await run('cat sleeper');
      expect(await isAlive(sleeper)).toBe(true);
      await child.kill();
      await until(async () => !(await isAlive(sleeper)), 'the end of the group');
      await child.kill();
    }
    expect(await isAlive(String(other.pid))).toBe(true);
    await session.close();
    await other.kill();
  });

  it('passes on every byte of commands that exit while their output waits for room', async () => {
    const content = Array.from({ length: 70_000 }, (_, index) => `${index}\n`).join('');
    await sandbox.writeTextFile({ path: 'lines', content });
    for (const round of [1, 2, 3]) {
      const results = await Promise.all(Array.from({ length: 12 }, () => sandbox.run({ command: 'cat lines' })));
      const wholes = results.map(({ exitCode, stdout }) => exitCode === 0 && stdout === content);
      expect([round, wholes]).toEqual([round, wholes.map(() => true)]);
    }
  });

  it('ends at once, although the output of a command and the content of a file are not read', async () => {
    await run('head -c 20000000 /dev/zero > big');
    const child = await sandbox.spawn({ command: 'head -c 2000000 /dev/zero' });
    expect(await child.wait()).toEqual({ exitCode: 0 });
    const content = await sandbox.readFile({ path: 'big' });
    expect(await session.close()).toMatchObject({ outcome: 'succeeded' });
    await expect(textOf(child.stdout)).rejects.toMatchObject({ code: 'session.ended' });
    await expect(textOf(content ?? new ReadableStream())).rejects.toMatchObject({ code: 'session.ended' });
  });

  it('runs commands on while a run of the session is interrupted, with the programs that it waits for', async () => {
    const server = await sandbox.spawn({ command: 'echo up; sleep 1000 & wait' });
    await server.stdout.getReader().read();
    for (const [language, code] of [
      ['bash', 'echo begun; sleep 1000'],
      ['python', "import subprocess; print('begun', flush=True); subprocess.run(['sleep', '1000'])"],
    ] as const) {
      const stream = session.stream(code, { language });
      for await (const event of stream) if (event.type === 'output') break;
      session.interrupt();
      expect(await stream.result).toMatchObject({ outcome: 'canceled', state: 'kept', epoch: 1 });
    }
    expect(await isAlive(String(server.pid))).toBe(true);
    await server.kill();
  });

  it('refuses a variable that JSON cannot carry, and goes on', async () => {
    const env = JSON.parse('{"__proto__":"p"}') as Record<string, string>;
    await expect(sandbox.run({ command: 'true', env })).rejects.toMatchObject({ code: 'job.invalid' });
    await expect(session.run('1', { env })).rejects.toMatchObject({ code: 'job.invalid' });
    await expect(orchestrator.exec({ code: '1', env })).rejects.toMatchObject({ code: 'job.invalid' });
    expect(await run('echo on')).toBe('on');
  });

  it('reports a lost interpreter, and goes on with another one', async () => {
    const other = await sandbox.spawn({ command: 'sleep 1000' });
    await expect(sandbox.run({ command: 'kill -9 $PPID; sleep 1000' })).rejects.toMatchObject({ code: 'sandbox.lost' });
    await expect(other.wait()).rejects.toMatchObject({ code: 'sandbox.lost' });
    expect(await run('echo again')).toBe('again');
  });
});

describe('commands of a sandbox', () => {
  beforeEach(() => open(BEST_LEVEL));

  it('wait while their output is not read', async () => {
    const command = 'for i in $(seq 20); do head -c 1000000 /dev/zero; echo >> progress; done';
    const child = await sandbox.spawn({ command });
    const progress = async (): Promise<number> => (await sandbox.stat({ path: 'progress' }))?.size ?? 0;
    await until(async () => (await progress()) > 0, 'its beginning');
    // Time for all of the output, if nothing held it up.
    for (let round = 0; round < 20; round += 1) await run('true');
    expect(await progress()).toBeLessThan(6);
    expect((await new Response(child.stdout).arrayBuffer()).byteLength).toBe(20_000_000);
    expect(await child.wait()).toEqual({ exitCode: 0 });
    expect(await progress()).toBe(20);
  });

  it('keep the end that was reported first', async () => {
    const [early, late] = [new AbortController(), new AbortController()];
    const child = await sandbox.spawn({ command: 'echo; exit 3', abortSignal: late.signal });
    expect(await child.wait()).toEqual({ exitCode: 3 });
    late.abort(new Error('too late'));
    expect(await child.wait()).toEqual({ exitCode: 3 });
    const aborted = await sandbox.spawn({ command: 'sleep 1000', abortSignal: early.signal });
    const reason = new Error('the user left');
    early.abort(reason);
    for (let round = 0; round < 2; round += 1) await expect(aborted.wait()).rejects.toBe(reason);
  });

  it('are kept apart between the sandboxes of one session', async () => {
    const other = createSandboxSession(session);
    const command = 'read line; echo "$line"';
    const [one, two] = [
      await sandbox.spawn({ command, stdin: true }),
      await other.spawn({ command, stdin: true }),
    ] as const;
    await one.stdin.getWriter().write(Buffer.from('one\n'));
    await two.stdin.getWriter().write(Buffer.from('two\n'));
    expect(await Promise.all([textOf(one.stdout), textOf(two.stdout)])).toEqual(['one\n', 'two\n']);
  });

  it('do not wait for a canceled stream', async () => {
    const child = await sandbox.spawn({ command: 'head -c 5000000 /dev/zero; echo done >&2' });
    await child.stdout.cancel();
    expect(await textOf(child.stderr)).toBe('done\n');
  });

  it('may end before they have read their standard input, whose writer then fails', async () => {
    const child = await sandbox.spawn({ command: 'sleep 1; head -c 3 ; exit 0', stdin: true });
    const input = child.stdin.getWriter();
    const written = input.write(new Uint8Array(2_000_000).fill(120)).then(
      () => 'written',
      (error: unknown) => error,
    );
    expect(await run('echo beside')).toBe('beside');
    expect(await written).toMatchObject({ message: expect.stringMatching(/^Cannot write to (the|a) command/) });
    expect(await textOf(child.stdout)).toBe('xxx');
  });

  it('are ended by their time limit and by too much output, with a notice', async () => {
    const hasty = createSandboxSession(session, { commandTimeoutMs: 300 });
    expect(await hasty.run({ command: 'sleep 1000' })).toEqual({
      exitCode: 143,
      stdout: '',
      stderr: '\nskillcell: the command was ended: it took longer than 0.3 s\n',
    });
    const { exitCode, stderr } = await sandbox.run({ command: 'head -c 80000000 /dev/zero; sleep 1000' });
    expect([exitCode, stderr]).toEqual([
      143,
      '\nskillcell: the command was ended: it printed more than 33554432 bytes\n',
    ]);
  });

  it('bring the output of a process that bash does not wait for', async () => {
    const { stdout, stderr } = await sandbox.run({ command: 'echo out > >(cat); { echo err >&2; } 2> >(cat >&2)' });
    expect([stdout, stderr]).toEqual(['out\n', 'err\n']);
  });

  it.each(['sleep 1000', 'yes', 'yes >&2'])(
    'leave their background process running, and do not wait for it: %s',
    async (process) => {
      const result = await sandbox.run({ command: `${process} & echo $!` });
      expect(result.exitCode).toBe(0);
      const [pid] = result.stdout.split('\n').filter((line) => /\d/.test(line));
      expect(await isAlive(String(pid))).toBe(true);
      await run(`kill ${pid}`);
    },
  );

  it.each<[string, object, string]>([
    ['a missing folder', { command: 'true', workingDirectory: 'none' }, 'no such file or directory'],
    [
      'a file in place of a folder',
      { command: 'true', workingDirectory: '/bin/bash' },
      'the working directory is no directory',
    ],
    ['a NUL character', { command: 'a\0b' }, 'command holds a NUL character'],
    ['a command that is too long', { command: `: ${'x'.repeat(140_000)}` }, 'command must have at most 131071 bytes'],
    ['an invalid name of a variable', { command: 'true', env: { 'A B': 'x' } }, 'env'],
    ['no text', { command: 5 }, 'command must be a text, got 5'],
  ])('%s is refused', async (_what, given, message) => {
    await expect(sandbox.run(given as never)).rejects.toThrow(message);
    await expect(sandbox.spawn(given as never)).rejects.toThrow(message);
  });

  it('are not run if the session has ended', async () => {
    await run('true');
    await session.close();
    await expect(sandbox.run({ command: 'true' })).rejects.toMatchObject({ code: 'session.ended' });
    await expect(sandbox.stat({ path: '.' })).rejects.toMatchObject({ code: 'session.ended' });
  });

  it('and files need no turn among the runs of the session', async () => {
    const waits = Array.from({ length: 17 }, () => session.run('await new Promise((end) => setTimeout(end, 1e9))'));
    const ends = Promise.allSettled(waits);
    await expect(session.run('1')).rejects.toMatchObject({ code: 'session.busy' });
    await sandbox.writeTextFile({ path: 'a', content: 'beside' });
    expect(await run('cat a; sleep 0.1')).toBe('beside');
    await session.close();
    await ends;
  });

  it('have the limits of the session: output, processes', async () => {
    const limits = { totalOutputBytes: 2_000_000, keptOutputBytes: 1_000 };
    await using narrow = await orchestrator.session({ isolation: BEST_LEVEL, limits });
    const inNarrow = createSandboxSession(narrow);
    const child = await inNarrow.spawn({ command: 'head -c 3000000 /dev/zero; sleep 1000' });
    const read = textOf(child.stdout).catch((error: unknown) => error);
    await expect(child.wait()).rejects.toMatchObject({
      code: 'sandbox.lost',
      message: 'Cannot go on with a command: it printed more than 2000000 bytes.',
    });
    expect(await read).toMatchObject({ code: 'sandbox.lost' });
    await until(
      async () => (await inNarrow.run({ command: `kill -0 ${child.pid}` })).exitCode !== 0,
      'the end of the command',
    );
    const { stderr } = await sandbox.run({ command: 'for i in $(seq 5000); do sleep 1000 & done' });
    expect(stderr).toMatch(/fork: .*Resource temporarily unavailable/);
  });

  it('that exceed the memory of the session do not fail its next run', async () => {
    await session.close();
    session = await orchestrator.session({ isolation: BEST_LEVEL, limits: { memoryMib: 200 } });
    sandbox = createSandboxSession(session);
    await session.run('globalThis.kept = 5');
    expect(await run('tail /dev/zero; echo $?')).toBe('137');
    expect(await session.run('kept')).toMatchObject({ outcome: 'succeeded', state: 'kept', value: 5 });
  });

  it('are killed by the limit of the workspace at level none, where no file system holds it', async () => {
    await using narrow = await orchestrator.session({ isolation: 'none', limits: { workspaceMib: 16 } });
    const child = await createSandboxSession(narrow).spawn({
      command: 'head -c 40000000 /dev/zero > large; sleep 1000',
    });
    await expect(child.wait()).rejects.toMatchObject({
      code: 'sandbox.lost',
      message: 'Cannot go on with a command: it exceeded the limit workspace.',
    });
  });
});

describe('files of a sandbox', () => {
  beforeEach(() => open(BEST_LEVEL));

  /** The number of open files with this text in their path, in the process that reads and writes files and starts commands. */
  const openByKeeper = async (text: string): Promise<number> =>
    Number(await run(`ls -l /proc/$PPID/fd | grep -c ${text}`));
  const hidden = async (): Promise<string> => await run('ls -A | grep -c "^.skillcell-"');

  it.each<[string, (path: string) => PromiseLike<void>, string]>([
    ['bytes', (path) => sandbox.writeBinaryFile({ path, content: 'text' as never }), 'content must be bytes'],
    ['a text', (path) => sandbox.writeTextFile({ path, content: 5 as never }), 'content must be a text, got 5'],
    ['a stream', (path) => sandbox.writeFile({ path, content: [] as never }), 'content must be a ReadableStream'],
    [
      'a stream of bytes',
      (path) => sandbox.writeFile({ path, content: ReadableStream.from([everyByte, 'text']) as never }),
      'the content must be bytes',
    ],
  ])('stay unchanged if the content is not %s', async (_what, write, message) => {
    await sandbox.writeTextFile({ path: 'kept', content: 'old' });
    for (const path of ['kept', 'fresh'])
      await expect(write(path)).rejects.toMatchObject({
        code: 'options.invalid',
        message: expect.stringContaining(message),
      });
    expect(await run('cat kept')).toBe('old');
    expect(await sandbox.stat({ path: 'fresh' })).toBeNull();
    expect(await hidden()).toBe('0');
  });

  it('are replaced by complete content, with their mode and behind their links, unless they are read-only', async () => {
    await run('mkdir a b; echo old > a/file; chmod 750 a/file; ln -s ../a/file b/link; ln -s ../a/new b/dead');
    await run('ln -s circle circle; touch fixed; chmod 444 fixed');
    const broken = new ReadableStream<Uint8Array>({
      start: (controller) => controller.enqueue(everyByte),
      pull: (controller) => controller.error(new Error('the source broke')),
    });
    await expect(sandbox.writeFile({ path: 'b/link', content: broken })).rejects.toThrow('the source broke');
    expect(await run('cat a/file; ls -A a b')).toBe('old\na:\nfile\n\nb:\ndead\nlink');
    await sandbox.writeTextFile({ path: 'b/link', content: 'new' });
    await sandbox.writeTextFile({ path: 'b/dead', content: 'made' });
    expect(await run('cat a/file a/new; stat -c %a a/file; readlink b/link; ls -A a')).toBe(
      'newmade750\n../a/file\nfile\nnew',
    );
    const code = 'file.unreadable';
    await expect(sandbox.writeTextFile({ path: 'circle', content: 'x' })).rejects.toMatchObject({ code });
    if ((await run('id -u')) !== '0')
      await expect(sandbox.writeTextFile({ path: 'fixed', content: 'x' })).rejects.toMatchObject({ code });
    expect(await hidden()).toBe('0');
  });

  it('stay unchanged if a write is aborted, and its stream is canceled and released', async () => {
    await sandbox.writeTextFile({ path: 'kept', content: 'old' });
    const [controller, reason] = [new AbortController(), new Error('the user left')];
    const canceled = Promise.withResolvers<unknown>();
    const stalled = Promise.withResolvers<void>();
    const content = new ReadableStream<Uint8Array>(
      {
        start: (given) => given.enqueue(Buffer.from('new')),
        pull() {
          stalled.resolve();
          return new Promise(() => undefined);
        },
        cancel: (why) => canceled.resolve(why),
      },
      { highWaterMark: 0 },
    );
    const written = sandbox.writeFile({ path: 'kept', content, abortSignal: controller.signal });
    await stalled.promise;
    controller.abort(reason);
    await expect(written).rejects.toBe(reason);
    expect(await canceled.promise).toBe(reason);
    await until(() => !content.locked, 'the end of its lock');
    await until(async () => (await hidden()) === '0', 'the end of the partial file');
    expect(await run('cat kept')).toBe('old');
    expect(await openByKeeper('/.skillcell-')).toBe(0);
    await sandbox.writeTextFile({ path: 'kept', content: 'new' });
    expect(await openByKeeper('/.skillcell-')).toBe(0);
  });

  it('that do not exist are null, and anything but a file is an error', async () => {
    const path = 'none/at/all';
    expect(await sandbox.readFile({ path })).toBeNull();
    expect(await sandbox.readBinaryFile({ path })).toBeNull();
    expect(await sandbox.readTextFile({ path })).toBeNull();
    expect(await sandbox.stat({ path })).toBeNull();
    expect(await sandbox.listDirectory({ path })).toBeNull();
    expect(await sandbox.deleteFile({ path })).toBe(false);
    await run('mkdir folder; mkfifo pipe; touch file');
    const code = 'file.unreadable';
    for (const name of ['folder', 'pipe']) {
      await expect(sandbox.readTextFile({ path: name })).rejects.toMatchObject({ code });
      await expect(sandbox.writeTextFile({ path: name, content: 'x' })).rejects.toMatchObject({ code });
    }
    await expect(sandbox.deleteFile({ path: 'folder' })).rejects.toMatchObject({ code });
    await expect(sandbox.listDirectory({ path: 'file' })).rejects.toMatchObject({ code });
    await expect(sandbox.writeTextFile({ path: 'file/below', content: 'x' })).rejects.toMatchObject({ code });
    expect(await sandbox.stat({ path: 'pipe' })).toMatchObject({ type: 'other' });
  });

  it('are reached through links, which are listed and deleted as such', async () => {
    await run('mkdir folder; echo x > folder/file; ln -s folder/file link; ln -s folder way; ln -s nowhere dead');
    expect(await sandbox.readTextFile({ path: 'link' })).toBe('x\n');
    expect(await sandbox.stat({ path: 'link' })).toEqual({ type: 'file', size: 2 });
    expect(await sandbox.stat({ path: 'dead' })).toBeNull();
    expect(await sandbox.listDirectory({ path: 'way' })).toEqual([{ name: 'file', type: 'file' }]);
    const listed = (await sandbox.listDirectory({ path: '.' })) ?? [];
    expect(Object.fromEntries(listed.map(({ name, type }) => [name, type]))).toMatchObject({
      folder: 'directory',
      link: 'symlink',
      way: 'symlink',
      dead: 'symlink',
    });
    expect(await sandbox.deleteFile({ path: 'way' })).toBe(true);
    expect(await sandbox.deleteFile({ path: 'dead' })).toBe(true);
    expect(await sandbox.readTextFile({ path: 'folder/file' })).toBe('x\n');
  });

  it.each([
    ['utf-8', '\ufeffä€😀', 'efbbbfc3a4e282acf09f9880'],
    ['utf-16le', '\ufeffä😀', 'fffee4003dd800de'],
    ['Latin1', 'ä\u0080', 'e480'],
    ['ascii', 'a~', '617e'],
  ])('keep texts in %s unchanged', async (encoding, content, hex) => {
    await sandbox.writeTextFile({ path: 'text', content, encoding });
    expect(Buffer.from((await sandbox.readBinaryFile({ path: 'text' })) ?? []).toString('hex')).toBe(hex);
    expect(await sandbox.readTextFile({ path: 'text', encoding })).toBe(content);
  });

  it('are refused in an encoding that does not fit them', async () => {
    await sandbox.writeBinaryFile({ path: 'bytes', content: Uint8Array.of(0x61, 0xe4) });
    for (const encoding of ['utf-8', 'ascii'])
      await expect(sandbox.readTextFile({ path: 'bytes', encoding })).rejects.toMatchObject({
        code: 'file.unreadable',
      });
    await sandbox.writeBinaryFile({ path: 'bytes', content: Uint8Array.of(0x61, 0, 0x61) });
    await expect(sandbox.readTextFile({ path: 'bytes', encoding: 'utf-16le' })).rejects.toThrow(
      'its bytes are no utf-16le',
    );
    const write = (content: string, encoding: string): PromiseLike<void> =>
      sandbox.writeTextFile({ path: 'text', content, encoding });
    await expect(write('€', 'latin1')).rejects.toThrow('latin1 has not all of its characters');
    await expect(write('ä', 'ascii')).rejects.toMatchObject({ code: 'options.invalid' });
    await expect(write('\ud800', 'utf-8')).rejects.toMatchObject({ code: 'options.invalid' });
    await expect(write('x', 'koi8-r')).rejects.toThrow(
      'encoding must be utf-8, utf-16le, latin1 or ascii, got "koi8-r"',
    );
    expect(await sandbox.stat({ path: 'text' })).toBeNull();
  });

  it('are read by lines', async () => {
    await sandbox.writeTextFile({ path: 'text', content: 'one\ntwo\nthree\n' });
    const lines = (startLine?: number, endLine?: number): PromiseLike<string | null> =>
      sandbox.readTextFile({
        path: 'text',
        ...(startLine === undefined ? {} : { startLine }),
        ...(endLine === undefined ? {} : { endLine }),
      });
    expect([await lines(), await lines(2), await lines(2, 2), await lines(undefined, 2), await lines(3, 99)]).toEqual([
      'one\ntwo\nthree\n',
      'two\nthree\n',
      'two',
      'one\ntwo',
      'three\n',
    ]);
    expect(await lines(9)).toBe('');
    await expect(lines(0)).rejects.toThrow('startLine must be a whole number from 1, got 0');
    await sandbox.writeTextFile({ path: 'text', content: 'one\r\ntwo\rstill\r\nthree' });
    expect(await lines(2, 3)).toBe('two\rstill\r\nthree');
    await sandbox.writeTextFile({ path: 'text', content: 'one\rtwo' });
    expect(await lines(2)).toBe('two');
  });

  it('are read piece by piece, and closed if the reader stops', async () => {
    await run('head -c 20000000 /dev/zero > large');
    const reader = (await sandbox.readFile({ path: 'large' }))?.getReader();
    const { value } = (await reader?.read()) ?? {};
    expect(value?.length).toBeLessThan(1_000_000);
    expect(await openByKeeper('/large')).toBe(1);
    await reader?.cancel();
    await until(async () => (await openByKeeper('/large')) === 0, 'the end of the descriptor');
    expect(await sandbox.readBinaryFile({ path: 'large' })).toHaveLength(20_000_000);
    expect(await openByKeeper('/large')).toBe(0);
    await expect(sandbox.writeFile({ path: 'x', content: ReadableStream.from(['text']) as never })).rejects.toThrow(
      'the content must be bytes',
    );
  });
});

it('tools of an agent use it as the experimental_sandbox of a generation', async () => {
  await open(BEST_LEVEL);
  const shell = tool({
    description: ({ experimental_sandbox }) => `Runs a command. ${experimental_sandbox?.description ?? ''}`,
    inputSchema: z.object({ command: z.string() }),
    execute: async ({ command }, { abortSignal, experimental_sandbox }) =>
      experimental_sandbox?.run({ command, ...(abortSignal === undefined ? {} : { abortSignal }) }),
  });
  const model = toolCallingModel([{ calls: [['shell', { command: 'echo $((6 * 7))' }]] }]);
  const { steps } = await generateText({
    model,
    tools: { shell },
    experimental_sandbox: sandbox,
    stopWhen: isStepCount(2),
    prompt: 'Six times seven.',
  });
  expect(steps[0]?.toolResults[0]?.output).toEqual({ exitCode: 0, stdout: '42\n', stderr: '' });
  expect(JSON.stringify(model.doGenerateCalls[0]?.tools)).toContain('There is no network');
});

it('createSandboxSession() refuses unknown options', async () => {
  await open(BEST_LEVEL);
  expect(() => createSandboxSession(session, { timeoutMs: 5 } as never)).toThrow(
    'Cannot create a sandbox of a session: there is no field timeoutMs, got 5.',
  );
});
