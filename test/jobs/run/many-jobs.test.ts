import { createHash } from 'node:crypto';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import type { ModelGateway } from '../../../src/models/model-gateway.ts';
import type { JobEvent } from '../../../src/contracts/jobs/events.ts';
import type { JobResult } from '../../../src/contracts/jobs/result.ts';
import { createOrchestrator } from '../../../src/jobs/create-orchestrator.ts';
import { seededRandom, type SeededRandom } from '../../chaos/seeded-random.ts';
import { MISSING_PYTHON } from '../../fixtures/describe-with.ts';
import { ALL_LEVELS, everyRunner, requireEachLevel } from '../../fixtures/every-level.ts';
import { BEST_LEVEL } from '../../fixtures/levels.ts';
import { programAnswer } from '../../fixtures/scripted-model.ts';
import { runMixedSessions } from '../mixed-sessions.ts';
import { CONSUMERS, type Consumer, consumersLibrary, type Seen, toolbox, turned } from '../mixed-work.ts';

const library = consumersLibrary();
afterAll(() => library[Symbol.dispose]());

/** One job, and the data that only it may see. */
interface Case {
  jobId: string;
  consumer: Consumer;
  language: 'javascript' | 'python';
  isCodegen: boolean;
  /** Whether its first generated program fails. */
  isRepaired: boolean;
  /** Its tool of the host; the other tool is refused. */
  tool: 'box.left' | 'box.right';
  withCode: boolean;
  bytes: Buffer;
  context: object;
}

function someCase(random: SeededRandom, run: string, index: number): Case {
  const language =
    MISSING_PYTHON === undefined ? random.pick<Case['language']>(['javascript', 'python']) : 'javascript';
  const size = random.pick([0, 100, 70_000, 300_000]);
  const isCodegen = random.between(0, 3) === 0;
  return {
    jobId: `${run}-${index}`,
    consumer: random.pick(CONSUMERS),
    language,
    isCodegen,
    isRepaired: isCodegen && random.between(0, 1) === 0,
    context: { secretOf: `${run}-${index}` },
    tool: random.pick(['box.left', 'box.right']),
    withCode: random.between(0, 3) === 0,
    bytes: Buffer.alloc(size, `${run} ${index} `),
  };
}

const sha = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');
const otherTool = ({ tool }: Case): string => (tool === 'box.left' ? 'box.right' : 'box.left');

function programOf(given: Case): string {
  const { language, jobId, consumer, tool, withCode } = given;
  const wrong = CONSUMERS.find((name) => name !== consumer);
  if (language === 'javascript')
    return `import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tools } from 'skillcell';
const code = (step) => step.then(() => 'made', (error) => error.code);
const bytes = readFileSync('in/data.bin');
const [turned, text, denied, refused${withCode ? ', tagged' : ''}] = await Promise.all([
  tools.call('${tool}', { tag: '${jobId}', bytes }),
  tools.skills.read({ skill: 'custom.${consumer}', path: 'where.txt' }),
  code(tools.skills.read({ skill: 'custom.${wrong}', path: 'where.txt' })),
  code(tools.call('${otherTool(given)}', {})),
  ${withCode ? `tools.code.tag({ tag: '${jobId}' }),` : ''}
]);
console.log('out of ${jobId}');
writeFileSync(process.env.SKILLCELL_OUTPUT + '/turned.bin', turned);
export default { args: process.argv.slice(2), text: text.text, denied, refused, skills: readdirSync(process.env.SKILLS_DIR + '/custom').sort(),
  files: readdirSync('in'), sum: createHash('sha256').update(turned).digest('hex')${withCode ? ', tagged' : ''} };`;
  return `import hashlib, os, sys
from concurrent.futures import ThreadPoolExecutor
from skillcell import tools, ToolCallError, set_value
def code(step):
    try:
        step()
        return 'made'
    except ToolCallError as error:
        return error.code
data = open('in/data.bin', 'rb').read()
with ThreadPoolExecutor(4) as pool:
    steps = [pool.submit(step) for step in (
        lambda: tools.call('${tool}', {'tag': '${jobId}', 'bytes': data}),
        lambda: tools.skills.read(skill='custom.${consumer}', path='where.txt'),
        lambda: code(lambda: tools.skills.read(skill='custom.${wrong}', path='where.txt')),
        lambda: code(lambda: tools.call('${otherTool(given)}', {})),
        ${withCode ? `lambda: tools.code.tag(tag='${jobId}'),` : ''}
    )]
    turned, text, denied, refused${withCode ? ', tagged' : ''} = [step.result() for step in steps]
print('out of ${jobId}')
open(os.environ['SKILLCELL_OUTPUT'] + '/turned.bin', 'wb').write(turned)
value = {'args': sys.argv[1:], 'text': text['text'], 'denied': denied, 'refused': refused, 'skills': sorted(os.listdir(os.environ['SKILLS_DIR'] + '/custom')),
  'files': os.listdir('in'), 'sum': hashlib.sha256(turned).hexdigest()}
${withCode ? "value['tagged'] = tagged" : ''}
set_value(value)`;
}

/** A model that writes the program of the job named in the prompt, and records the system prompt. */
function writer(cases: readonly Case[], asked: { jobId: string; system: string }[]): ModelGateway {
  return {
    id: 'test/model',
    async generate({ system, messages }) {
      const jobId = /Do the work of (\S+)\./.exec(messages[0]?.content ?? '')?.[1] ?? '';
      asked.push({ jobId, system });
      const given = cases.find((one) => one.jobId === jobId) as Case;
      const isFirst = messages.length === 1;
      const code = given.isRepaired && isFirst ? `no program of ${jobId}` : programOf(given);
      const text = programAnswer(given.language, code);
      return { text, model: 'test/model', usage: { inputTokens: 5, outputTokens: 3 }, finishReason: 'stop' };
    },
  };
}

function optionsOf(given: Case, isolation: (typeof ALL_LEVELS)[number]) {
  const { jobId, consumer, language, isCodegen, tool, withCode, bytes, context } = given;
  const shared = {
    jobId,
    isolation,
    language,
    files: { 'in/data.bin': bytes, [`in/${jobId}.txt`]: jobId },
    skills: { refs: [`custom.${consumer}`, ...(withCode ? ['custom.code'] : [])], consumer },
    tools: [tool, 'skills.read', ...(withCode ? ['code.*'] : [])],
    context,
    args: ['of', jobId],
  };
  return isCodegen
    ? { kind: 'codegen' as const, ...shared, task: `Do the work of ${jobId}.`, maxAttempts: 2 }
    : { kind: 'exec' as const, ...shared, code: programOf(given) };
}

function expectOwn(given: Case, result: JobResult, events: readonly JobEvent[], seen: readonly Seen[]): void {
  const { jobId, consumer, isCodegen, isRepaired, tool, withCode, bytes, context } = given;
  const active = [`custom.${consumer}`, ...(withCode ? ['custom.code'] : [])].toSorted();
  expect(result).toMatchObject({
    jobId,
    outcome: 'succeeded',
    stdout: { text: `out of ${jobId}\n` },
    callTotals: {
      [tool]: { calls: 1, failed: 0 },
      'skills.read': { calls: 2, failed: 1 },
      '(not allowed)': { calls: 1, failed: 1 },
    },
  });
  expect(result.skills.active.toSorted()).toEqual(active);
  expect(result.sources.map(({ url }) => url)).toEqual(isCodegen ? [`https://${consumer}.example/`] : []);
  const { tagged, files, ...value } = result.value as Record<string, unknown>;
  expect(value).toEqual({
    args: ['of', jobId],
    text: `in the ${consumer}`,
    denied: 'tool.failed',
    refused: 'tool.not-allowed',
    skills: active.map((id) => id.replace('custom.', '')),
    sum: sha(turned(bytes)),
  });
  expect((files as string[]).toSorted()).toEqual([`${jobId}.txt`, 'data.bin'].toSorted());
  expect(tagged).toEqual(withCode ? { tag: jobId, job: jobId, calls: 1 } : undefined);
  const [artifact, ...others] = result.artifacts;
  expect(others).toEqual([]);
  expect(artifact).toMatchObject({ path: 'turned.bin', bytes: bytes.length, sha256: sha(turned(bytes)) });
  expect(result.calls.map(({ name }) => name).toSorted()).toEqual(
    [
      tool,
      otherTool(given),
      'skills.read',
      'skills.read',
      ...(withCode ? ['code.tag'] : []),
      ...(isCodegen ? ['generate'] : []),
      ...(isRepaired ? ['generate', 'effects'] : []),
    ].toSorted(),
  );
  expect(seen.filter((row) => row.jobId === jobId || row.tag === jobId)).toEqual([
    { tool, tag: jobId, jobId, context, attempt: isRepaired ? 2 : 1 },
  ]);
  expect(result.codegen?.attempts.map(({ outcome }) => outcome)).toEqual(
    isCodegen ? [...(isRepaired ? ['failed'] : []), 'succeeded'] : undefined,
  );
  expect(new Set(events.map((event) => event.jobId))).toEqual(new Set([jobId]));
  const types = events.map(({ type }) => type);
  expect(types[0]).toBe('accepted');
  expect(events.at(-1)).toEqual({ type: 'finished', jobId, result });
  expect(events.flatMap((event) => (event.type === 'run' ? [event.run] : []))).toEqual(isRepaired ? [1, 2] : [1]);
  const told = events.flatMap((event) => (event.type === 'call' ? [event.call] : []));
  expect(told.toSorted((a, b) => a.id - b.id)).toEqual(result.calls);
  const output = events.flatMap((event) => (event.type === 'output' && event.stream === 'stdout' ? [event.text] : []));
  expect(output.join('')).toBe(`out of ${jobId}\n`);
}

describe.each(ALL_LEVELS)('many jobs at once at level %s', (isolation) => {
  beforeEach((context) => requireEachLevel(context, isolation));

  it(
    'do not mix up skills, files, calls, values or events, with concurrent sessions',
    { timeout: 300_000 },
    async () => {
      const count = isolation === BEST_LEVEL ? 100 : 20;
      const random = seededRandom(7);
      const cases = Array.from({ length: count }, (_, index) => someCase(random, isolation, index));
      const seen: Seen[] = [];
      const asked: { jobId: string; system: string }[] = [];
      await using orchestrator = createOrchestrator({
        runners: await everyRunner(),
        skills: library.subsystem,
        tools: toolbox(seen),
        model: writer(cases, asked),
        concurrency: 6,
      });
      const jobs = Promise.all(
        cases.map(async (given) => {
          const job = orchestrator.stream(optionsOf(given, isolation));
          const events: JobEvent[] = [];
          for await (const event of job) events.push(event);
          return { given, events, result: await job.result };
        }),
      );
      const sessions = { count: isolation === BEST_LEVEL ? 16 : 4, isolation, seen };
      const [ran] = await Promise.all([jobs, runMixedSessions(orchestrator, seededRandom(11), sessions)]);
      for (const { given, result, events } of ran) expectOwn(given, result, events, seen);
      const written = cases.filter(({ isCodegen }) => isCodegen);
      const rounds = written.flatMap(({ jobId, isRepaired }) => (isRepaired ? [jobId, jobId] : [jobId]));
      expect(asked.map(({ jobId }) => jobId).toSorted()).toEqual(rounds.toSorted());
      for (const { jobId, consumer } of written) {
        const { system } = asked.find((one) => one.jobId === jobId) ?? { system: '' };
        const named = CONSUMERS.filter((name) => system.includes(`GO ${name.toUpperCase()} [[S:1]]`));
        expect(named).toEqual([consumer]);
      }
      expect(seen.filter(({ jobId }) => !jobId.startsWith('session-'))).toHaveLength(count);
    },
  );
});
