import { mkdtempSync, rmSync, writeFileSync, mkdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { ExecOptions } from '../../../src/contracts/jobs/job.ts';
import type { JobResult } from '../../../src/contracts/jobs/result.ts';
import { SkillcellError } from '../../../src/contracts/errors/skillcell-error.ts';
import { createOrchestrator } from '../../../src/jobs/create-orchestrator.ts';
import { createLocalRunner } from '../../../src/sandboxes/local/local-runner.ts';
import type { Runner, Sandbox } from '../../../src/sandboxes/runner.ts';
import { HOSTILE_PRELUDE } from '../../fixtures/hostile-prelude.ts';
import { TAR_END, tarEntry } from '../../protocol/tar-bytes.ts';

/**
 * Messages of a sandbox are untrusted, because its entry may have been taken over: these hostile entries are real processes that
 * write the channel's frames themselves.
 */
let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'hostile-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

const HOSTILE_TAR = Buffer.concat([tarEntry({ name: '../../outside', content: 'x' }), TAR_END]).toString('base64');
const DECEPTIVE_TAR = Buffer.concat([tarEntry({ name: 'report\u202etxt.exe', content: 'x' }), TAR_END]).toString(
  'base64',
);
/** Runs a job in a sandbox whose entry is this program; `begin` is called when the job has arrived. */
async function runWith(
  entry: string,
  limits: object = {},
  job: Partial<ExecOptions> = {},
  change: (sandbox: Sandbox) => Sandbox = (sandbox) => sandbox,
): Promise<JobResult> {
  const bundle = mkdtempSync(join(folder, 'bundle-'));
  mkdirSync(join(bundle, 'guest', 'node'), { recursive: true });
  writeFileSync(join(bundle, 'entry.cjs'), `${HOSTILE_PRELUDE}\nfunction begin() { ${entry} }\n`);
  const runner = createLocalRunner({ bundle: { folder: bundle, digest: 'sha256:0', files: {} } });
  const start: Runner['start'] = async (spec, options) => change(await runner.start(spec, options));
  await using orchestrator = createOrchestrator({ runners: [{ ...runner, start }] });
  return await orchestrator.exec({ isolation: 'none', code: '1', output: join(folder, 'out'), limits, ...job });
}

it('an honest entry is believed', async () => {
  expect(await runWith(`skills(); run(1); data(1, Buffer.from('hi')); result({ value: [1] });`)).toMatchObject({
    outcome: 'succeeded',
    stdout: { text: 'hi', bytes: 2 },
    value: [1],
  });
});

it.each([
  ['E01 a frame that claims 4 GiB', `channel.write(frame(2, 0, 2, Buffer.alloc(0), 0xffffffff));`],
  ['E02 half JSON', `channel.write(frame(1, 0, 0, Buffer.from('{"type"')));`],
  [
    'E02 10,000 empty messages',
    `for (let n = 0; n < 10000; n += 1) channel.write(frame(1, 0, 0, Buffer.from('\\n')));`,
  ],
  ['E03 a prototype key', `channel.write(frame(1, 0, 0, Buffer.from('{"type":"run","run":1,"__proto__":{"a":1}}')));`],
  ['E04 a message of an unknown type', `say({ type: 'constructor' });`],
  ['E05 an unknown field', `say({ type: 'run', run: 1, stdout: 1, stderr: 2, job: 'another' });`],
  ['E05 a run that is not the next one', `run(2);`],
  ['E05 a run that began before', `run(1); run(1);`],
  ['E05 a call with the number 0', `asks({ id: 0 });`],
  ['E04 a call with an unknown target', `asks({ target: 3 });`],
  ['E01 a call that is shorter than it says', `channel.write(frame(1, 0, 0, call().subarray(10, 23)));`],
  ['E02 an answer', `channel.write(frame(1, 0, 0, Buffer.concat([Buffer.from([2]), Buffer.alloc(20)])));`],
  ['E02 a call in JSON', `say({ type: 'call', id: 1, target: 'tool', name: 'wait', args: null });`],
  ['E06 a result that names another job', `result({ jobId: 'another' });`],
  ['E09 a depth of 100,000', `channel.write(frame(1, 0, 0, Buffer.from('['.repeat(100000))));`],
  ['output of a run that has not begun', `data(2, Buffer.from('x'));`],
  ['output of a stream without a run', `run(1); data(3, Buffer.from('x'));`],
  ['E05 a run whose stream numbers were used before', `run(1); run(2, 2);`],
  ['E05 a second archive', `archive(1); data(1, Buffer.alloc(1024), 2); archive(2);`],
  ['more output than is kept', `run(1); for (let n = 0; n < 5; n += 1) data(1, Buffer.alloc(1000));`],
  ['another version of the protocol', `say({ type: 'ready', protocol: 1 });`],
  [
    'D11 an archive with a name that leaves the folder',
    `archive(1); data(1, Buffer.from('${HOSTILE_TAR}', 'base64'), 2); result();`,
  ],
  [
    'D10 an archive with a name that hides its ending',
    `archive(1); data(1, Buffer.from('${DECEPTIVE_TAR}', 'base64'), 2); result();`,
  ],
  ['D14 an archive that is cut in the middle', `archive(1); data(1, Buffer.alloc(700, 1), 2); result();`],
  ['a call with a negative number of bytes', `asks({ bytes: [{ path: [], bytes: -1, stream: 1 }] });`],
  ['a call whose bytes have an invalid stream', `asks({ bytes: [{ path: [], bytes: 1, stream: 0 }] });`],
  ['a call whose bytes have an invalid key', `asks({ bytes: [{ path: [{}], bytes: 1, stream: 1 }] });`],
  [
    'a call with two parts on one stream',
    `asks({ bytes: [{ path: [0], bytes: 1, stream: 1 }, { path: [1], bytes: 1, stream: 1 }] });`,
  ],
  [
    'a call with 65 parts',
    `asks({ bytes: Array.from({ length: 65 }, (_, n) => ({ path: [n], bytes: 1, stream: n + 1 })) });`,
  ],
  ['a call with more bytes than allowed', `asks({ bytes: [{ path: [], bytes: 8 * 2 ** 20 + 1, stream: 1 }] });`],
  [
    'calls with more bytes than a program may send at once',
    // All in one write: calls that were already refused no longer count.
    `channel.write(Buffer.concat([1, 2, 3, 4, 5, 6].map((n) => call({ id: n, bytes: [{ path: [], bytes: 8 * 2 ** 20, stream: n }] }))));`,
  ],
  [
    'a call with more bytes than announced',
    `asks({ bytes: [{ path: [], bytes: 1, stream: 1 }] }); data(1, Buffer.alloc(2));`,
  ],
  ['unannounced bytes of a call', `asks(); data(1, Buffer.alloc(2));`],
  ['a negative count', `result({ stdoutBytes: -1 });`],
  [
    'a diagnostic whose code is not in the registry',
    `result({ diagnostics: [{ code: 'made.up', severity: 'info', message: 'm' }] });`,
  ],
  [
    'E09 200,000 omitted rows',
    `result({ omitted: Array.from({ length: 200000 }, () => ({ path: 'a', reason: 'b' })) });`,
  ],
])('%s ends the job as our error, and the next job runs', async (_name, entry) => {
  const error: unknown = await runWith(entry, { keptOutputBytes: 4_000 }).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(SkillcellError);
  expect((error as SkillcellError).code).toBe('channel.protocol');
});

it('an entry that ends without a result loses the sandbox, and its stderr is in the error', async () => {
  await expect(runWith(`console.error('entry: cannot go on'); process.exit(5);`)).rejects.toMatchObject({
    code: 'sandbox.lost',
    message: expect.stringContaining('entry: cannot go on'),
  });
});

it('calls with bytes that end early, with a forbidden place or with a used id are refused, and the job goes on', async () => {
  const entry = `
    skills(); run(1);
    asks({ bytes: [{ path: [], bytes: 5, stream: 3 }] }); data(3, Buffer.alloc(2), 2);
    asks({ id: 2, bytes: [{ path: ['__proto__'], bytes: 1, stream: 4 }] }); data(4, Buffer.alloc(1), 2);
    asks({ id: 2, bytes: [{ path: [], bytes: 1, stream: 5 }] }); data(5, Buffer.alloc(1), 2);
    setTimeout(result, 100);`;
  expect(await runWith(entry)).toMatchObject({ outcome: 'succeeded', calls: [{ ok: false }, { ok: false }] });
});

it('an unknown fault becomes an internal fault, and a known fault keeps its code and its diagnostics', async () => {
  await expect(
    runWith(`say({ type: 'fault', code: 'toString', message: 'm', diagnostics: [] });`),
  ).rejects.toMatchObject({ code: 'internal.fault' });
  const diagnostics = [{ code: 'skill.too-large', severity: 'error', message: 'It is too large.' }];
  const fault = { type: 'fault', code: 'skills.digest-mismatch', message: 'm', diagnostics };
  await expect(runWith(`say(${JSON.stringify(fault)});`)).rejects.toMatchObject({ code: fault.code, diagnostics });
});

it('a digest of instructions that the host did not render is refused', async () => {
  const claimed = `say({ type: 'skills', skills: { active: [], digest: null, instructionSha256: 'a'.repeat(64) } }); setTimeout(result, 50);`;
  await expect(runWith(claimed)).rejects.toMatchObject({ code: 'skills.instruction-mismatch' });
});

it('D14, D15 an archive without an end before the result ends the job, and a missing archive means no artifacts', async () => {
  for (const begun of [
    'archive(1); data(1, Buffer.alloc(512));',
    'archive(1); setInterval(() => data(1, Buffer.of(0)), 5); data(1, Buffer.of(0));',
  ]) {
    await expect(runWith(`${begun} result();`)).rejects.toMatchObject({ code: 'channel.protocol' });
  }
  expect(await runWith(`result();`)).toMatchObject({ outcome: 'succeeded', artifacts: [] });
});

it('D14 an archive that is cut after a whole file delivers that file', async () => {
  const whole = tarEntry({ name: 'whole.txt', content: 'whole' }).toString('base64');
  const result = await runWith(`archive(1); data(1, Buffer.from('${whole}', 'base64'), 2); result();`);
  expect(result).toMatchObject({ outcome: 'succeeded', artifacts: [{ path: 'whole.txt', bytes: 5 }] });
});

it('a sandbox that is silent after the deadline is given up', async () => {
  const limits = { jobTimeoutMs: 4_000, graceMs: 100 };
  const silent = `run(1); data(1, Buffer.from('begun'));`;
  const result = await runWith(silent, limits, { expect: ['report.md'] });
  expect(result).toMatchObject({ outcome: 'timeout', error: { name: 'JobTimeout' }, stdout: { text: 'begun' } });
  expect(result.contract).toEqual({ satisfied: false, missing: ['report.md'] });
  expect(result.diagnostics).toContainEqual(expect.objectContaining({ code: 'sandbox.ended' }));
});

it.each([
  ['fails its overdue job', undefined, { code: 'engine.unavailable' }],
  ['makes no difference to its canceled job', 2_000, { outcome: 'canceled' }],
] as const)('a silent sandbox that cannot be ended %s', async (_title, cancelAfterMs, expected) => {
  const abort = new AbortController();
  if (cancelAfterMs !== undefined) setTimeout(() => abort.abort(), cancelAfterMs);
  const limits = { jobTimeoutMs: 4_000, graceMs: 100 };
  const job = runWith(`run(1);`, limits, { signal: abort.signal }, (sandbox) => {
    let asked = false;
    return {
      ...sandbox,
      async kill(reason) {
        await sandbox.kill(reason);
        if (asked) return;
        asked = true;
        throw new SkillcellError('engine.unavailable', 'No answer.');
      },
    };
  });
  expect(await job.catch((error: unknown) => error)).toMatchObject(expected);
});

it('a sandbox that fails because its job is canceled ends as canceled', async () => {
  const abort = new AbortController();
  const fault = `say({ type: 'fault', code: 'internal.fault', message: 'm', diagnostics: [] });`;
  const job = runWith(`channel.on('data', () => { ${fault} }); run(1);`, {}, { signal: abort.signal });
  setTimeout(() => abort.abort(10n), 2_000);
  expect(await job).toMatchObject({ outcome: 'canceled', error: { name: 'Canceled', message: '10n' } });
});

it('messages after the result change nothing', async () => {
  const entry = `run(1); result({ value: 'first' }); result({ value: 'second' }); say({ type: 'fault', code: 'internal.fault', message: 'm', diagnostics: [] });`;
  expect((await runWith(entry)).value).toBe('first');
});
