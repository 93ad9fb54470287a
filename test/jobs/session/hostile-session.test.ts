import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Session } from '../../../src/contracts/jobs/session.ts';
import { SkillcellError } from '../../../src/contracts/errors/skillcell-error.ts';
import { createSandboxSession } from '../../../src/ai/sandbox-session/create-sandbox-session.ts';
import { SANDBOX_PORT, type HostedSession } from '../../../src/jobs/session/sandbox-port.ts';
import { createOrchestrator } from '../../../src/jobs/create-orchestrator.ts';
import { createLocalRunner } from '../../../src/sandboxes/local/local-runner.ts';
import { HOSTILE_PRELUDE } from '../../fixtures/hostile-prelude.ts';

/** Messages of a session's sandbox are untrusted: these hostile entries are real processes that write the channel's frames themselves. */
let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'hostile-session-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

const CELL = `
const cell = (more = {}) => ({ type: 'cell', run: 1, epoch: 1, state: 'kept', outcome: 'succeeded', exitCode: null, signal: null, stdoutBytes: 0, stderrBytes: 0, diagnostics: [], runMs: 1, ...more });
const end = (stream) => data(stream, Buffer.alloc(0), 2);
const shown = (forms, stream, run = 1) => say({ type: 'shown', run, forms, stream });
const form = (bytes) => [{ mediaType: 'a/b', bytes }];
const answer = (more) => { run(1); end(1); end(2); say(cell(more)); };
/** Calls back for each message of the host but the first. */
const onRequest = (take) => { let seen = Buffer.alloc(0); channel.on('data', (chunk) => {
  seen = Buffer.concat([seen, chunk]);
  while (seen.length >= 10 && seen.length >= 10 + seen.readUInt32LE(0)) {
    const size = seen.readUInt32LE(0);
    const [kind, payload] = [seen[4], seen.subarray(10, 10 + size)];
    seen = seen.subarray(10 + size);
    if (kind === 1) { const message = JSON.parse(payload); if (message.type !== 'start') take(message); }
  }
}); };
`;

/** Opens a session whose entry answers requests by this code; `request` is the message of the host. */
async function withSession<T>(onRequest: string, use: (session: Session) => Promise<T>): Promise<T> {
  const bundle = mkdtempSync(join(folder, 'bundle-'));
  const program = `${HOSTILE_PRELUDE}${CELL}\nfunction begin() { onRequest((request) => { ${onRequest} }); skills(); }\n`;
  writeFileSync(join(bundle, 'entry.cjs'), program);
  const runner = createLocalRunner({ bundle: { folder: bundle, digest: 'sha256:0', files: {} } });
  await using orchestrator = createOrchestrator({ runners: [runner] });
  const session = await orchestrator.session({ isolation: 'none', limits: { graceMs: 100 } });
  return await use(session);
}

const faultOf = (onRequest: string): Promise<unknown> =>
  withSession(onRequest, (session) =>
    session.run('1').then(
      () => 'succeeded',
      (error: unknown) => SkillcellError.isInstance(error) && error.code,
    ),
  );

it('an honest sandbox is believed', async () => {
  const honest = `if (request.type === 'cell') answer({ value: [1] }); if (request.type === 'end') result();`;
  await withSession(honest, async (session) => {
    expect(await session.run('1')).toMatchObject({ outcome: 'succeeded', value: [1], results: [] });
    expect(await session.close()).toMatchObject({ outcome: 'succeeded' });
  });
});

it('a run waits for the bytes of a result that come after its report', async () => {
  const late = `if (request.type === 'end') return result();
    if (request.type !== 'cell') return;
    shown(form(1), 9);
    say(cell());
    setTimeout(() => data(9, Buffer.from('x'), 2), 100);`;
  await withSession(late, async (session) => {
    const { results } = await session.run('1');
    expect(results.map(({ data }) => Buffer.from(data['a/b'] as Uint8Array).toString())).toEqual(['x']);
  });
});

describe('a sandbox that sends', () => {
  it.each([
    ['E02 a result of an unknown form', `answer({ outcome: 'splendid' })`],
    ['E02 a result with more fields', `answer({ more: 1 })`],
    [
      'E03 a result that reaches a prototype',
      `channel.write(frame(1, 0, 0, Buffer.from('{"type":"cell","__proto__":{}}')))`,
    ],
    ['E05 a result of another run', `answer({ run: 2 })`],
    ['E05 a run without a request', `run(2)`],
    ['E05 a run that begins to write twice', `run(1); run(1, 3)`],
    ['E05 a run that begins to write after its report', `shown(form(1), 1); say(cell()); run(1, 2)`],
    ['E05 a run that shows a result after its report', `shown(form(1), 1); say(cell()); shown(form(1), 2)`],
    ['E05 a result of another run that is shown', `shown(form(1), 1, 2)`],
    ['E05 an answer about files without a request', `say({ type: 'filed', id: 1 })`],
    ['E05 a stream of files without a request', `say({ type: 'files', id: 7, stream: 9 })`],
    ['E06 a field that names another session', `answer({ sessionId: 'other' })`],
    [
      'E09 a value that is nested too deep',
      `channel.write(frame(1, 0, 0, Buffer.from('{"type":"cell","value":' + '['.repeat(9000) + ']'.repeat(9000) + '}')))`,
    ],
    ['more results than a run may show', `for (let i = 1; i < 66; i += 1) { shown(form(0), i); end(i); }`],
    ['results that are announced too large', `shown(form(2 ** 40), 9)`],
    ['results that are too large together', `shown(form(2 ** 24), 9); shown(form(1), 10)`],
    ['a result without a form', `shown([], 9)`],
    ['more bytes of a result than it announced', `shown(form(1), 9); data(9, Buffer.alloc(2), 2)`],
    ['fewer bytes of a result than it announced', `shown(form(2), 9); data(9, Buffer.alloc(1), 2)`],
    ['results on a stream that it has used', `run(1); shown(form(1), 1)`],
    ['E10 more output than is kept', `run(1); for (let i = 0; i < 8; i += 1) data(1, Buffer.alloc(256 * 1024))`],
  ])('%s is ended', async (_name, attack) => {
    expect(await faultOf(`if (request.type === 'cell') { ${attack}; }`)).toBe('channel.protocol');
  });

  it('E05 two results of one run is ended once the first is believed', async () => {
    const ended = await withSession(`if (request.type === 'cell') { answer(); say(cell()); }`, async (session) => {
      expect(await session.run('1')).toMatchObject({ outcome: 'succeeded' });
      return await session.ended.catch((error: unknown) => SkillcellError.isInstance(error) && error.code);
    });
    expect(ended).toBe('channel.protocol');
  });

  it('E10 a call that announces more bytes than a program may send is ended, and the host goes on', async () => {
    const attack = `asks({ bytes: [{ path: [], bytes: 2 ** 31, stream: 9 }] })`;
    expect(await faultOf(`if (request.type === 'cell') { ${attack}; }`)).toBe('channel.protocol');
  });

  it('a call outside a run is ended', async () => {
    expect(
      await withSession(`if (request.type === 'files') asks()`, (session) =>
        session.files.list().catch((error: unknown) => SkillcellError.isInstance(error) && error.code),
      ),
    ).toBe('channel.protocol');
  });

  it.each([
    ['a list that is not JSON', 'no list\n'],
    ['E02 a row of an unknown form', '{"path":1,"kind":"file","bytes":0}\n'],
    ['a list without an end', '{"path":"a","kind":"file","bytes":0}'],
  ])('%s fails the operation', async (_name, list) => {
    const entry = `if (request.type === 'files') { say({ type: 'files', id: request.id, stream: 1 }); data(1, Buffer.from(${JSON.stringify(list)}), 2); say({ type: 'filed', id: request.id }); }`;
    await expect(withSession(entry, (session) => session.files.list())).rejects.toMatchObject({
      code: 'file.unreadable',
    });
  });

  it('E12 names that leave the workspace are not put into the archive', async () => {
    const rows = ['../../up', '/etc/passwd', 'a\u202etxt.exe', 'good.txt']
      .map((path) => `${JSON.stringify({ path, kind: 'file', bytes: 1 })}\nx`)
      .join('');
    const entry = `if (request.type === 'files') { say({ type: 'files', id: request.id, stream: 1 }); data(1, Buffer.from(${JSON.stringify(rows)}), 2); say({ type: 'filed', id: request.id }); }`;
    const { archive, omitted } = await withSession(entry, (session) => session.export());
    expect(omitted.map(({ path }) => path)).toEqual(['../../up', '/etc/passwd', 'a\\u{202e}txt.exe']);
    expect(archive.toString('latin1')).toContain('good.txt');
    expect(archive.toString('latin1')).not.toContain('passwd');
  });

  it('E13 error messages about files contain no terminal codes', async () => {
    const entry = `if (request.type === 'files') say({ type: 'filed', id: request.id, error: '\\u001b[2Jgone' })`;
    await expect(withSession(entry, (session) => session.files.read('a'))).rejects.toThrow(
      'Cannot read a file of the session: \\x1b[2Jgone, got "a".',
    );
  });
});

describe('a sandbox that answers a command with', () => {
  const COMMAND = `
const spawned = (more = {}) => say({ type: 'spawned', id: request.id, pid: 7, stdout: 1, stderr: 2, ...more });
const exited = (more = {}) => say({ type: 'exited', id: request.id, code: 0, signal: null, ...more });
const printed = () => say({ type: 'printed', id: request.id, stdout: 1e9, stderr: 0 });
const unfed = () => say({ type: 'unfed', id: request.id });`;
  const endOf = (attack: string, stdin: boolean): Promise<unknown> =>
    withSession(`if (request.type === 'spawn') { ${COMMAND}\n${attack}; }`, async (session) => {
      const silent = { data: () => new Promise<void>(() => undefined), end: () => undefined, fail: () => undefined };
      const port = (session as HostedSession)[SANDBOX_PORT];
      const order = { command: 'true', folder: '.', env: {}, stdin };
      await port.spawn(order, [silent, silent]).catch(() => undefined);
      return await session.ended.catch((error: unknown) => SkillcellError.isInstance(error) && error.code);
    });

  it.each([
    ['E02 a process without a number', `spawned({ pid: 0 })`],
    ['E02 more fields', `spawned({ more: 1 })`],
    ['E02 an exit of an unknown form', `spawned(); exited({ code: 'none' })`],
    ['E05 one stream for both outputs', `spawned({ stderr: 1 })`],
    ['E05 a stream that it has used', `spawned({ stdout: 2, stderr: 1 })`],
    ['E05 two starts', `spawned(); spawned({ stdout: 3, stderr: 4 })`],
    ['E05 an exit before its start', `exited()`],
    ['E05 a start after a refusal', `exited({ error: 'no' }); spawned()`],
    ['E05 two exits', `spawned(); exited(); exited()`],
    ['E05 two exits after its outputs', `spawned(); end(1); end(2); exited(); exited()`],
    ['E05 output counted before its exit', `spawned(); printed()`],
    ['E05 output counted twice', `spawned(); exited(); printed(); printed()`],
    ['E05 the start of another command', `spawned({ id: 99 })`],
    ['E05 the exit of another command', `spawned(); exited({ id: 99 })`],
    ['E05 an end of input that it does not have', `spawned(); unfed()`],
    ['E05 content of a file', `say({ type: 'files', id: request.id, stream: 1 })`],
    ['E05 output after its end', `spawned(); end(1); data(1, Buffer.alloc(1))`],
    ['E10 more output than it may send', `spawned(); for (let i = 0; i < 8; i += 1) data(1, Buffer.alloc(256 * 1024))`],
  ])('%s is ended', async (_name, attack) => {
    expect(await endOf(attack, false)).toBe('channel.protocol');
  });

  it('E05 two ends of its input is ended', async () => {
    expect(await endOf('spawned(); unfed(); unfed()', true)).toBe('channel.protocol');
  });

  it('E13 a reason with terminal codes does not bring them into the error', async () => {
    const refusal = `if (request.type === 'spawn') { ${COMMAND} exited({ error: '\\u001b[2Jgone' }); }`;
    await expect(
      withSession(refusal, async (session) => await createSandboxSession(session).run({ command: 'x' })),
    ).rejects.toThrow('Cannot run a command: \\x1b[2Jgone, got "x".');
  });

  it('E05 a count of output that never comes holds a command until its time limit', async () => {
    const entry = `if (request.type === 'spawn') { ${COMMAND} spawned(); exited(); printed(); }`;
    const result = await withSession(
      entry,
      async (session) => await createSandboxSession(session, { commandTimeoutMs: 100 }).run({ command: 'x' }),
    );
    expect(result).toMatchObject({ exitCode: 0, stderr: expect.stringContaining('it took longer than 0.1 s') });
  });

  it.each(['no status', '{"kind":"link","bytes":0}', '{"kind":"file","bytes":-1}', '{"__proto__":{}}'])(
    'a status that is not valid is refused: %s',
    async (status) => {
      const entry = `if (request.type === 'files') { say({ type: 'files', id: request.id, stream: 1 }); data(1, Buffer.from(${JSON.stringify(status)}), 2); say({ type: 'filed', id: request.id }); }`;
      await expect(
        withSession(entry, async (session) => await createSandboxSession(session).stat({ path: 'a' })),
      ).rejects.toMatchObject({ code: 'sandbox.lost' });
    },
  );
});

it('a sandbox that falls silent is ended when the time of its run is over', async () => {
  const run = await withSession(`if (request.type === 'cell') run(1);`, (session) =>
    session.run('1', { timeoutMs: 200 }),
  );
  expect(run).toMatchObject({ state: 'lost', outcome: 'timeout' });
});
