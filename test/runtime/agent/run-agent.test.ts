import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { access, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { findLanguage } from '../../../src/languages/languages.ts';
import { createBroker, type Broker } from '../../../src/tools/calls/broker.ts';
import { createModelGateway } from '../../../src/models/gateways/create-model-gateway.ts';
import type { ModelGateway } from '../../../src/models/model-gateway.ts';
import { recordingGateway } from '../../../src/models/recordings/recording-gateway.ts';
import { replayGateway } from '../../../src/models/recordings/replay-gateway.ts';
import type { AgentAnswer, AgentPorts, AttemptEvent } from '../../../runtime/agent/agent-ports.ts';
import { runAgent, type AgentInput } from '../../../runtime/agent/run-agent.ts';
import type { RunOutcome } from '../../../runtime/run/run-outcome.ts';
import { startModelStandIn, type ModelStandIn, type StandInAnswer } from '../../fixtures/model-stand-in.ts';

const F = '```';
const js = (code: string): string => `${F}javascript\n${code}\n${F}`;
const WRITE =
  "import { writeFileSync } from 'node:fs';\nwriteFileSync(`${process.env.SKILLCELL_OUTPUT}/report.md`, '# Done');";

let folder: string;
let service: ModelStandIn | undefined;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'skillcell-agent-'));
});
afterEach(async () => {
  await service?.close();
  service = undefined;
  await rm(folder, { recursive: true });
});

const input = (options: Partial<AgentInput> = {}): AgentInput => ({
  instructionBlock: '',
  task: 'Write a report.',
  language: findLanguage('javascript')!,
  files: [],
  expect: ['report.md'],
  tools: [],
  maxAttempts: 3,
  dryRun: false,
  pathAliases: [{ path: folder, shown: '/workspace' }],
  ...options,
});

/** Runs a program in its own Node process, like the executors but without isolation. */
async function runProgram(code: string): Promise<RunOutcome> {
  const file = join(folder, 'main.mjs');
  await writeFile(file, code);
  const child = spawn(process.execPath, [file], { cwd: folder, env: { SKILLCELL_OUTPUT: folder } });
  const texts = { stdout: '', stderr: '' };
  child.stdout.on('data', (chunk: Buffer) => (texts.stdout += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (texts.stderr += chunk.toString()));
  const exitCode = await new Promise<number | null>((resolve) => child.on('close', resolve));
  const there = await access(join(folder, 'report.md')).then(
    () => true,
    () => false,
  );
  const output = (text: string) => ({ text, bytes: Buffer.byteLength(text), truncated: false });
  return {
    outcome: exitCode === 0 ? 'succeeded' : 'failed',
    exitCode,
    signal: null,
    stdout: output(texts.stdout),
    stderr: output(texts.stderr),
    missing: there ? [] : [{ path: 'report.md' }],
    diagnostics: [],
    runMs: 1,
  };
}

function portsOver(broker: Broker): AgentPorts & { events: AttemptEvent[] } {
  let id = 0;
  const events: AttemptEvent[] = [];
  const signal = new AbortController().signal;
  return {
    events,
    signal,
    event: (event) => events.push(event),
    runCode: runProgram,
    async askModel(args) {
      const reply = await broker.call({ id: (id += 1), target: 'model', name: 'generate', args }, { signal });
      if (!reply.ok) throw new Error(reply.error.message);
      return reply.value as AgentAnswer;
    },
  };
}

function brokerOver(model: ModelGateway): Broker {
  return createBroker({
    jobId: 'j',
    tools: new Map(),
    model,
    limits: { calls: 10, modelTimeoutMs: 10_000, approvalTimeoutMs: 1_000 },
  });
}

async function serviceWith(answers: StandInAnswer[]): Promise<ModelGateway> {
  service = await startModelStandIn(answers);
  return createModelGateway(
    { provider: 'openai-compatible', model: 'm', baseUrl: service.baseUrl },
    { retry: { baseDelayMs: 10 } },
  );
}

describe('runAgent() over a real model service and real programs', () => {
  test('repairs: broken code, then 429, then an answer with two code blocks', async () => {
    const nonce = `nonce-${createHash('sha256').update(folder).digest('hex').slice(0, 12)}`;
    const model = await serviceWith([
      js(`console.log('started');\nthrow new Error('${nonce} ' + 6 * 7);`),
      { status: 429, headers: { 'retry-after': '0' } },
      {
        text: `First:\n${js('import fs from "node:fs";')}\nWhole:\n${js(WRITE)}`,
        usage: { inputTokens: 9, outputTokens: 4 },
      },
    ]);
    const ports = portsOver(brokerOver(model));
    const result = await runAgent(input(), ports);

    expect(result.attempts.map(({ outcome, usage, model: asked }) => ({ outcome, usage, asked }))).toEqual([
      { outcome: 'failed', usage: { inputTokens: 11, outputTokens: 7 }, asked: 'openai-compatible/m' },
      { outcome: 'succeeded', usage: { inputTokens: 9, outputTokens: 4 }, asked: 'openai-compatible/m' },
    ]);
    expect(result.attempts[1]?.code).toBe(`${WRITE}\n`);
    expect(result.last).toMatchObject({ outcome: 'succeeded', missing: [] });
    expect(await readFile(join(folder, 'report.md'), 'utf8')).toBe('# Done');

    const [first, limited, second] = service?.requests ?? [];
    expect(first?.messages).toEqual([{ role: 'user', content: result.prompt.user }]);
    expect(first?.system).toBe(result.prompt.system);
    expect(limited?.raw).toBe(second?.raw);
    const repair = second?.messages[2]?.content ?? '';
    expect(second?.messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'user']);
    expect(repair).toContain(`Error: ${nonce} 42`);
    expect(repair).toContain('file:///workspace/main.mjs:2');
    expect(repair).toContain('\nstarted\n');
    expect(repair).not.toContain(folder);
    expect(ports.events.map(({ attempt, phase }) => [attempt, phase])).toEqual([
      [1, 'asking'],
      [1, 'running'],
      [2, 'asking'],
      [2, 'running'],
    ]);
  });

  test('a program that succeeds without its outputs is repaired, too', async () => {
    const model = await serviceWith([js('console.log("all done")'), js(WRITE)]);
    const result = await runAgent(input(), portsOver(brokerOver(model)));
    expect(result.attempts.map(({ outcome }) => outcome)).toEqual(['failed', 'succeeded']);
    expect(service?.requests[1]?.messages[2]?.content).toContain('Missing in the output folder: "report.md"');
  });

  test('an answer without a program costs an attempt, runs no program, and gets instructions', async () => {
    const model = await serviceWith([WRITE, { text: js(WRITE).slice(0, -4), finishReason: 'length' }, js(WRITE)]);
    const ports = portsOver(brokerOver(model));
    const result = await runAgent(input(), ports);
    expect(result.attempts.map(({ outcome, code }) => [outcome, code !== ''])).toEqual([
      ['failed', false],
      ['failed', false],
      ['succeeded', true],
    ]);
    expect(ports.events.filter(({ phase }) => phase === 'running')).toHaveLength(1);
    expect(service?.requests[1]?.messages[2]?.content).toMatch(/No program was run\. .*no fenced code block/);
    expect(service?.requests[2]?.messages[4]?.content).toMatch(/cut off/);
  });

  test('an empty answer goes back as a text, since services refuse empty messages', async () => {
    const model = await serviceWith(['', js(WRITE)]);
    await runAgent(input(), portsOver(brokerOver(model)));
    expect(service?.requests[1]?.messages[1]?.content).toBe('(no text)');
  });

  test('ends after maxAttempts with the last run', async () => {
    const model = await serviceWith([js('process.exit(3)'), js('process.exit(4)'), js(WRITE)]);
    const result = await runAgent(input({ maxAttempts: 2 }), portsOver(brokerOver(model)));
    expect(result.attempts.map(({ outcome }) => outcome)).toEqual(['failed', 'failed']);
    expect(result.last).toMatchObject({ outcome: 'failed', exitCode: 4 });
    expect(service?.requests).toHaveLength(2);
  });

  test('an answer without a program in the last attempt counts as a failed run', async () => {
    const model = await serviceWith(['No.']);
    const result = await runAgent(input({ maxAttempts: 1 }), portsOver(brokerOver(model)));
    expect(result.last).toMatchObject({
      outcome: 'failed',
      exitCode: null,
      error: { name: 'CodegenError' },
      missing: [{ path: 'report.md' }],
    });
  });

  test('a model that fails ends the agent', async () => {
    const broker = brokerOver(await serviceWith([{ status: 401 }]));
    await expect(runAgent(input(), portsOver(broker))).rejects.toThrow('no usable answer');
    expect(broker.modelFailure).toMatchObject({ code: 'model.refused' });
  });

  test('a recorded job replays in another folder, repair included', async () => {
    const file = join(folder, 'recording.json');
    const answers = [js('null.x'), js(WRITE)];
    const recorded = await runAgent(input(), portsOver(brokerOver(recordingGateway(await serviceWith(answers), file))));
    const text = await readFile(file, 'utf8');
    expect(text).not.toContain(`${folder}/`);

    const firstFolder = folder;
    folder = await mkdtemp(join(tmpdir(), 'skillcell-agent-with-a-longer-name-'));
    try {
      const replayed = await runAgent(input(), portsOver(brokerOver(replayGateway(file))));
      expect(replayed.attempts).toEqual(recorded.attempts);
      expect(replayed.last?.outcome).toBe('succeeded');
    } finally {
      await rm(firstFolder, { recursive: true });
    }
  });
});

describe('runAgent()', () => {
  const answer: AgentAnswer = { text: js('x'), usage: { inputTokens: 1, outputTokens: 1 }, model: 'a/b' };
  const outcome = (options: Partial<RunOutcome>): RunOutcome => ({
    outcome: 'failed',
    exitCode: 1,
    signal: null,
    stdout: { text: '', bytes: 0, truncated: false },
    stderr: { text: '', bytes: 0, truncated: false },
    missing: [],
    diagnostics: [],
    runMs: 1,
    ...options,
  });
  const ports = (run: RunOutcome, signal = new AbortController().signal) => ({
    askModel: vi.fn(async () => answer),
    runCode: vi.fn(async () => run),
    event: vi.fn(),
    signal,
  });

  test('an attempt holds the further files of its program, if any', async () => {
    const made = ports(outcome({ outcome: 'succeeded' }));
    const [plain] = (await runAgent(input(), made)).attempts;
    expect(plain).not.toHaveProperty('files');
    made.askModel.mockResolvedValue({ ...answer, text: `${answer.text}\n\`\`\`text file=a.txt\nA\n\`\`\`\n` });
    const [filed] = (await runAgent(input(), made)).attempts;
    expect(filed).toMatchObject({ files: [{ path: 'a.txt', code: 'A\n' }] });
    expect(made.runCode).toHaveBeenLastCalledWith(expect.any(String), [{ path: 'a.txt', code: 'A\n' }]);
  });

  test('only an answer with a request is served, and only if requests are left', async () => {
    const serveRequest = vi.fn(async () => 'more');
    const made = { ...ports(outcome({ outcome: 'succeeded' })), serveRequest };
    expect((await runAgent(input({ requests: 5 }), made)).attempts).toHaveLength(1);
    expect(serveRequest).not.toHaveBeenCalled();
    const asking = { ...answer, text: '```skillcell-request\n{}\n```\n' };
    made.askModel.mockResolvedValueOnce(asking).mockResolvedValue(answer);
    expect((await runAgent(input({ requests: 5 }), made)).attempts).toHaveLength(1);
    expect(serveRequest).toHaveBeenCalledExactlyOnceWith('{}\n');
    made.askModel.mockResolvedValueOnce(asking);
    expect((await runAgent(input(), made)).attempts.map(({ outcome: how }) => how)).toEqual(['failed', 'succeeded']);
  });

  test('a dry run returns the prompt, asks no model and runs no program', async () => {
    const made = ports(outcome({}));
    const result = await runAgent(input({ dryRun: true }), made);
    expect(result).toEqual({ attempts: [], prompt: { system: expect.any(String), user: expect.any(String) } });
    expect(made.askModel).not.toHaveBeenCalled();
    expect(made.runCode).not.toHaveBeenCalled();
    expect(made.event).not.toHaveBeenCalled();
  });

  test.each<[Partial<RunOutcome>, number]>([
    [{ outcome: 'succeeded' }, 1],
    [{ outcome: 'canceled' }, 1],
    [{ outcome: 'limit', limit: 'calls' }, 1],
    [{ outcome: 'limit', limit: 'output' }, 1],
    [{ outcome: 'limit', limit: 'workspace' }, 3],
    [{ outcome: 'timeout' }, 3],
    [{ outcome: 'out_of_memory' }, 3],
    [{ outcome: 'failed' }, 3],
  ])('a run that ends as %j is tried %i times', async (run, tries) => {
    const made = ports(outcome(run));
    const result = await runAgent(input(), made);
    expect(made.runCode).toHaveBeenCalledTimes(tries);
    expect(result.attempts).toHaveLength(tries);
  });

  test('an aborted job sends no further request', async () => {
    const reason = new Error('canceled');
    const made = ports(outcome({}), AbortSignal.abort(reason));
    await expect(runAgent(input(), made)).rejects.toBe(reason);
    expect(made.askModel).not.toHaveBeenCalled();
  });

  test('a job aborted during the answer of the model runs no program', async () => {
    const abort = new AbortController();
    const made = ports(outcome({}), abort.signal);
    made.askModel.mockImplementation(async () => {
      abort.abort(new Error('canceled'));
      return answer;
    });
    await expect(runAgent(input(), made)).rejects.toThrow('canceled');
    expect(made.runCode).not.toHaveBeenCalled();
  });

  test('a sent request does not change afterwards', async () => {
    const made = ports(outcome({}));
    await runAgent(input(), made);
    const asked = made.askModel.mock.calls as unknown as [{ messages: unknown[] }][];
    expect(asked.map(([request]) => request.messages.length)).toEqual([1, 3, 5]);
  });

  test('promptSha256 is the digest of the canonical JSON of the request', async () => {
    const made = ports(outcome({}));
    const { attempts, prompt } = await runAgent(input({ maxAttempts: 2 }), made);
    const json = JSON.stringify({ messages: [{ content: prompt.user, role: 'user' }], system: prompt.system });
    expect(attempts[0]?.promptSha256).toBe(createHash('sha256').update(json).digest('hex'));
    expect(attempts[1]?.promptSha256).toMatch(/^[0-9a-f]{64}$/);
    expect(attempts[1]?.promptSha256).not.toBe(attempts[0]?.promptSha256);
  });
});
