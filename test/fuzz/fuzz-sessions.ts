import assert from 'node:assert/strict';
import type { ExecutorLink } from '../../runtime/run/program/executor-link.ts';
import { readCellReport } from '../../runtime/session/cell-report.ts';
import { passResults } from '../../runtime/session/shown-results.ts';
import type { Isolation } from '../../src/contracts/jobs/result.ts';
import type { Session, SessionRun } from '../../src/contracts/jobs/session.ts';
import { SkillcellError } from '../../src/contracts/errors/skillcell-error.ts';
import { createOrchestrator } from '../../src/jobs/create-orchestrator.ts';
import type { Orchestrator } from '../../src/jobs/orchestrator.ts';
import { createChannel, type Channel } from '../../src/protocol/channel/channel.ts';
import type { HostMessage, SandboxMessage } from '../../src/protocol/messages/messages.ts';
import { packCall } from '../../src/protocol/channel/packed-call.ts';
import type { ResultForm } from '../../src/protocol/messages/session-messages.ts';
import { RUNNER_CONTRACT, type Runner, type SandboxExit } from '../../src/sandboxes/runner.ts';
import type { SeededRandom } from '../chaos/seeded-random.ts';
import { duplexPair } from '../protocol/channel-pair.ts';
import { assertNotPolluted, inPieces, settled, someBytes, someValue } from './fuzz-parts.ts';

/**
 * Sessions. The reports of an interpreter are read or left out. The messages of a sandbox about runs and files reach the caller exactly, or end the
 * session with a code.
 */
export async function fuzzSessions(random: SeededRandom): Promise<void> {
  await reportOf(random);
  local ??= scriptedPlace('none', async (runner) => runner);
  await converse(random, await local);
  assertNotPolluted();
}

/** Reads results and a report. Any of its fields may hold any value. */
async function reportOf(random: SeededRandom): Promise<void> {
  const [near, far] = duplexPair();
  const told: { forms: ResultForm[]; bytes: Buffer }[] = [];
  const host = createChannel(far, {
    onMessage(message) {
      const { forms, stream } = message as SandboxMessage & { type: 'shown' };
      const pieces: Buffer[] = [];
      const end = (): void => void told.push({ forms, bytes: Buffer.concat(pieces) });
      host.receive(stream, { data: (chunk) => void pieces.push(Buffer.from(chunk)), end });
    },
    onClose: () => far.destroy(),
  });
  const channel = createChannel(near, { onMessage: () => undefined, onClose: () => near.destroy() });
  const link = { hold: () => undefined, release: () => undefined } as unknown as ExecutorLink;
  const shown = passResults(channel, link, 1);
  const isHonest = random.between(0, 2) === 0;
  const sizes = Array.from({ length: random.between(0, 5) }, () => random.pick([0, 1, 3_000]));
  const sent: Buffer[] = [];
  for (const size of sizes) {
    const bytes = someBytes(random, size);
    for (const piece of inPieces(random, bytes)) shown.takeBytes(piece);
    const isBroken = !isHonest && random.between(0, 1) === 0;
    shown.show({ run: 1, forms: isBroken ? anything(random) : [['image/png', size]] });
    await shown.handedOn;
    sent.push(Buffer.from(bytes));
  }
  const honest: Record<string, unknown> = {
    code: random.between(0, 255),
    json: '{"a":1}',
    dropped: random.between(0, 3),
  };
  for (let round = isHonest ? 0 : random.between(1, 3); round > 0; round -= 1)
    honest[random.pick(['code', 'json', 'dropped', 'valueBytes', 'asValue', 'error'])] = anything(random);
  const report = readCellReport(honest, shown);
  await settled(1);
  near.destroy();
  for (const { forms, bytes } of told) {
    const announced = forms.reduce((sum, form) => sum + form.bytes, 0);
    assert.equal(announced, bytes.length, 'results that differ from the announcement');
  }
  if (!isHonest) return;
  assert.deepEqual([report.code, report.json], [honest['code'], honest['json']]);
  assert.deepEqual(
    told,
    sent.map((bytes) => ({ forms: [{ mediaType: 'image/png', bytes: bytes.length }], bytes })),
  );
}

function anything(random: SeededRandom): unknown {
  const rows = [['image/png', 1], [['a/b', 2 ** 40]], [['a/b', -1]], [], [['a/b', 0, 1]], [['text/html\n', 0]]];
  const kind = random.between(0, 3);
  if (kind === 0)
    return random.pick([true, 'text', -1, 1.5, 2 ** 53, Number.NaN, undefined, null] as [unknown, ...unknown[]]);
  if (kind === 1) return random.pick(rows as [unknown, ...unknown[]]);
  return kind === 2 ? Array.from({ length: 65 }, () => ['a/b', 0]) : someValue(random, 4, true);
}

/** The data that the sandbox gave for one run, or for one file. */
interface Given {
  value: unknown;
  stdout: string;
  results: Record<string, string | Uint8Array>[];
}

/** One sandbox of a conversation. */
export interface Script {
  random: SeededRandom;
  /** Number of the sent message at which it breaks the rules; 0: never. */
  breaksAt: number;
  given: Given[];
}

/** Where the sandboxes of conversations are, and the scripts of the next ones. */
export interface ScriptedPlace {
  orchestrator: Orchestrator;
  isolation: Isolation;
  scripts: Script[];
}

let local: Promise<ScriptedPlace> | undefined;

/** Sandboxes that follow scripts, of a level. Their runner may be behind another one. */
export async function scriptedPlace(
  isolation: Isolation,
  behind: (runner: Runner) => Promise<Runner>,
): Promise<ScriptedPlace> {
  const scripts: Script[] = [];
  const runners = [await behind(scriptedRunner(isolation, scripts))];
  return {
    orchestrator: createOrchestrator({ runners, allowUnisolated: true, maxSessions: 1_000 }),
    ...{ isolation, scripts },
  };
}

/** A whole session with a sandbox that keeps the rules, or breaks them once. */
export async function converse(
  random: SeededRandom,
  { orchestrator, isolation, scripts }: ScriptedPlace,
): Promise<void> {
  const isHonest = random.between(0, 2) === 0;
  const script: Script = { random, breaksAt: isHonest ? 0 : random.between(1, 6), given: [] };
  scripts.push(script);
  const faults: unknown[] = [];
  const attempt = async <T>(step: Promise<T>): Promise<T | undefined> => {
    try {
      return await step;
    } catch (error) {
      if (!SkillcellError.isInstance(error)) throw error;
      faults.push(error);
      return undefined;
    }
  };
  const session = await attempt(orchestrator.session({ isolation }));
  if (session !== undefined) {
    for (let round = random.between(1, 4); round > 0; round -= 1)
      await (random.between(0, 3) === 0
        ? useFiles(random, session, script, attempt)
        : runOne(session, script, attempt));
    await attempt(session.close());
  }
  if (isHonest) assert.deepEqual(faults, []);
}

type Attempt = <T>(step: Promise<T>) => Promise<T | undefined>;

async function runOne(session: Session, script: Script, attempt: Attempt): Promise<void> {
  const before = script.given.length;
  const run = await attempt(session.run('1'));
  if (run === undefined) return;
  assertForm(run);
  const given = script.given[before];
  if (script.breaksAt !== 0 || given === undefined) return;
  assert.deepEqual([run.value, run.stdout.text], [given.value, given.stdout]);
  assert.deepEqual(
    run.results.map(({ data }) => data),
    given.results,
  );
}

/** The form that callers rely on, for any input from a sandbox. */
function assertForm({ outcome, state, epoch, exitCode, stdout, results, wallMs, diagnostics }: SessionRun): void {
  assert.ok(['succeeded', 'failed', 'timeout', 'out_of_memory', 'limit', 'canceled'].includes(outcome));
  assert.ok(state === 'kept' || state === 'lost');
  assert.ok(Number.isInteger(epoch) && epoch >= 1 && (exitCode === null || Number.isInteger(exitCode)) && wallMs >= 0);
  assert.ok(typeof stdout.text === 'string' && stdout.bytes >= 0 && Array.isArray(diagnostics));
  for (const { data } of results)
    for (const form of Object.values(data)) assert.ok(typeof form === 'string' || form instanceof Uint8Array);
}

async function useFiles(random: SeededRandom, session: Session, script: Script, attempt: Attempt): Promise<void> {
  const before = script.given.length;
  const read = await attempt(session.files.read('a.txt', 'utf8'));
  if (script.breaksAt === 0) assert.equal(read, script.given[before]?.stdout);
  await attempt(session.files.write('b.txt', someBytes(random, random.pick([0, 10, 300_000]))));
  const listed = await attempt(session.files.list());
  if (script.breaksAt === 0) assert.deepEqual(listed, [{ path: 'a.txt', kind: 'file', bytes: 1 }]);
  const exported = await attempt(session.export());
  if (exported !== undefined) assert.ok(exported.archive.length % 512 === 0);
}

const NO_LIMITS = { memory: 'none', cpus: 'none', pids: 'none', workspace: 'none', inodes: 'none' } as const;

/** A runner whose sandboxes are ends of a pipe in this process. */
function scriptedRunner(isolation: Isolation, scripts: Script[]): Runner {
  const close = (): Promise<void> => Promise.resolve();
  return {
    name: 'scripted',
    contract: RUNNER_CONTRACT,
    levels: [isolation],
    async start() {
      const [near, far] = duplexPair();
      const exited = Promise.withResolvers<SandboxExit>();
      const gone = (): void => exited.resolve({ cause: 'exit', oom: false, code: 0 });
      far.once('close', gone);
      speak(far, scripts.shift() as Script);
      return {
        isolation,
        runner: 'scripted',
        channel: near,
        diagnostics: [],
        memoryBytes: () => Promise.resolve(null),
        complaint: () => '',
        exited: exited.promise,
        async kill() {
          near.destroy();
          far.destroy();
          gone();
        },
      };
    },
    probe: () => Promise.resolve([{ runner: 'scripted', isolation, available: true, reasons: [], limits: NO_LIMITS }]),
    sweep: () => Promise.resolve({ removed: [], failed: [] }),
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** An entry. It answers the host's requests, and breaks one of its messages. */
function speak(duplex: ReturnType<typeof duplexPair>[1], script: Script): void {
  const { random, given } = script;
  let sent = 0;
  const send = (message: Record<string, unknown>): void => {
    if ((sent += 1) !== script.breaksAt) return channel.send(message);
    for (const broken of brokenForms(random, message)) channel.send(broken);
    if (random.between(0, 3) === 0)
      channel.sendPacked(packCall(random.between(0, 3), 'tool', 'echo', { json: JSON.stringify(someValue(random)) }));
    // Runs in the background: the run now has no end.
    void settled(random.between(1, 20)).then(() => duplex.destroy());
  };
  const bring = async (bytes: Uint8Array, announce: (stream: number) => void): Promise<void> => {
    const writer = channel.openStream();
    announce(writer.number);
    await writer.write(bytes);
    writer.end();
  };
  const runCell = async (run: number): Promise<void> => {
    const [stdout, stderr] = [channel.openStream(), channel.openStream()];
    const row: Given = {
      value: random.pick<unknown>([1, 'text', [1, { a: null }], { deep: { a: [true] } }]),
      stdout: 'x'.repeat(random.pick([0, 1, 5_000])),
      results: Array.from({ length: random.between(0, 3) }, () => ({
        'image/png': new Uint8Array(someBytes(random, random.pick([0, 5, 70_000]))),
        'text/plain': 'shown',
      })),
    };
    given.push(row);
    send({ type: 'run', run, stdout: stdout.number, stderr: stderr.number });
    await stdout.write(Buffer.from(row.stdout));
    for (const writer of [stdout, stderr]) writer.end();
    const { length } = row.stdout;
    const fields = { epoch: 1, state: 'kept', outcome: 'succeeded', exitCode: null, signal: null, value: row.value };
    const cell = { type: 'cell', run, ...fields, stdoutBytes: length, stderrBytes: 0, diagnostics: [], runMs: 1 };
    for (const result of row.results) {
      const forms = Object.entries(result).map(([mediaType, form]) => ({ mediaType, bytes: form.length }));
      const bytes = Buffer.concat(Object.values(result).map((form) => Buffer.from(form)));
      await bring(bytes, (stream) => send({ type: 'shown', run, forms, stream }));
    }
    send(cell);
  };
  const useFile = async ({ id, op }: HostMessage & { type: 'files' }): Promise<void> => {
    const text = 'of a file '.repeat(random.pick([1, 30_000]));
    if (op === 'read') given.push({ value: undefined, stdout: text, results: [] });
    const row = '{"path":"a.txt","kind":"file","bytes":1}\n';
    const isBroken = script.breaksAt !== 0 && random.between(0, 3) === 0;
    const whole = { read: text, list: row, export: `${row}x` }[op as string] ?? '';
    const content = isBroken ? whole.replace('kind', random.pick(['bytes', '__proto__', '\n'])) : whole;
    if (content !== '') await bring(Buffer.from(content), (stream) => send({ type: 'files', id, stream }));
    send({ type: 'filed', id });
  };
  const take = (message: HostMessage): void => {
    const sink = (stream: number | undefined): void => {
      if (stream !== undefined) channel.receive(stream, { data: () => undefined, end: () => undefined });
    };
    if (message.type === 'start') {
      for (const stream of [message.globals, message.skills, message.files, message.stdin]) sink(stream);
      send({ type: 'skills', skills: { active: [], digest: null, instructionSha256: null } });
    } else if (message.type === 'cell') void runCell(message.run);
    else if (message.type === 'files') {
      sink(message.stream);
      void useFile(message);
    } else if (message.type === 'end') {
      const ending = { outcome: 'succeeded', exitCode: 0, signal: null, stdoutBytes: 0, stderrBytes: 0, runMs: 1 };
      send({ type: 'result', result: { ...ending, omitted: [], sources: [], diagnostics: [] } });
    }
  };
  const channel: Channel = createChannel(duplex, {
    onMessage: (message) => take(message as HostMessage),
    onClose: () => duplex.destroy(),
  });
  channel.send({ type: 'ready', protocol: 5 });
}

/** Replacements of a message: the message twice, no message, another message, or the message with other fields. */
function brokenForms(random: SeededRandom, message: Record<string, unknown>): Record<string, unknown>[] {
  const kind = random.between(0, 4);
  if (kind === 0) return [message, message];
  if (kind === 1) return [];
  if (kind === 2) return [random.pick(STRAYS), message];
  const names = Object.keys(message).filter((name) => name !== 'type');
  const name = random.pick<string>(['more', 'run', ...names]);
  const { [name]: _left, ...others } = message;
  return [kind === 3 ? others : { ...message, [name]: someField(random) }];
}

const STRAYS: [Record<string, unknown>, ...Record<string, unknown>[]] = [
  { type: 'filed', id: 1 },
  { type: 'filed', id: 99, error: 'x' },
  { type: 'files', id: 1, stream: 900 },
  { type: 'run', run: 7, stdout: 901, stderr: 902 },
  { type: 'artifacts', stream: 903 },
  { type: 'skills', skills: { active: ['a'], digest: null, instructionSha256: null } },
  { type: 'rehearsed' },
  { type: 'ready', protocol: 5 },
];

function someField(random: SeededRandom): unknown {
  const stray = [{ mediaType: 'a/b', bytes: 2 ** 40 }];
  const fields = [-1, 0, 1.5, 2 ** 40, '', 'x'.repeat(5_000), null, [], {}, true, stray, [[]]];
  return random.between(0, 3) === 0 ? someValue(random) : random.pick(fields as [unknown, ...unknown[]]);
}
