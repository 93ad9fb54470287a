import assert from 'node:assert/strict';
import fc from 'fast-check';
import { createBroker } from '../../src/tools/calls/broker.ts';
import { offerTool, type OfferedTool } from '../../src/tools/define/offered-tool.ts';
import type { CheckedValue } from '../../src/tools/schema/tool-schema.ts';
import { defineTool } from '../../src/tools/define/tool.ts';
import { SkillcellError } from '../../src/contracts/errors/skillcell-error.ts';
import { DRAFTS, judge, ofDraft, schemas, values } from '../tools/schema/ajv-reference.ts';
import { HOSTILE_CASES } from '../tools/schema/hostile-cases.ts';
import type { SeededRandom } from '../chaos/seeded-random.ts';
import { schemaAtCap, someSchema } from './fuzz-schema-parts.ts';
import { assertNotPolluted, someValue } from './fuzz-parts.ts';

/** Processor time in milliseconds that one step may block the event loop. */
const MOST_CPU_MS = 250;
const TRIES = 3;
const LONGEST_MESSAGE = 1_500;
const UNSEEN = /[\p{Cc}\p{Cf}\p{Cs}]/u;

/** Schemas of tools. Each is refused at the offer, or judges every value in time, by its draft. */
export async function fuzzSchemas(random: SeededRandom): Promise<void> {
  const kind = random.between(0, 19);
  if (kind === 0) await costly(random);
  else if (kind === 1) await atCap(random);
  else if (kind <= 6) await likeReference(random);
  else await anyhow(random);
  assertNotPolluted();
}

/** Any schema, valid or broken, and any values. */
async function anyhow(random: SeededRandom): Promise<void> {
  const schema = someSchema(random);
  const offered = await offer(schema, random.between(0, 3) > 0);
  if (offered === undefined) return;
  for (let round = random.between(1, 4); round > 0; round -= 1) await check(offered, someValue(random, 4, true));
  if (random.between(0, 3) === 0) await callThrough(offered, someValue(random));
}

/** The schema of one costly case with the value of another. */
async function costly(random: SeededRandom): Promise<void> {
  const cases = Object.values(HOSTILE_CASES) as [() => [object, unknown], ...(() => [object, unknown])[]];
  const [schema] = random.pick(cases)();
  const [, value] = random.pick(cases)();
  const offered = await offer(schema, true);
  if (offered !== undefined) await check(offered, value);
}

/** A third-party schema at a cap is accepted, and a larger one is refused with the name of the cap. */
async function atCap(random: SeededRandom): Promise<void> {
  const { schema, refused } = schemaAtCap(random);
  const told = await refusalOf(schema, true);
  if (refused === undefined) assert.equal(told, undefined);
  else assert.ok(told?.includes(refused), told ?? `taken with more than ${refused}`);
}

const REFERENCES = DRAFTS.map(([, $schema, only2020, makeReference]) => ({
  $schema,
  schemas: schemas(only2020),
  ajv: makeReference(),
  judged: 0,
  makeReference,
}));
const valueLists = fc.array(values, { minLength: 1, maxLength: 6 });

/** Schemas that one instance of ajv judges. ajv keeps its compiled schemas, so a new instance replaces it after that. */
const JUDGED_BY_ONE = 100;

/** Small schemas and values. ajv must give the same verdict. */
async function likeReference(random: SeededRandom): Promise<void> {
  const draft = random.pick(REFERENCES as [(typeof REFERENCES)[number]]);
  const seed = random.between(0, 2 ** 31 - 1);
  const [part = true] = fc.sample(draft.schemas, { seed, numRuns: 1 });
  const [tried = []] = fc.sample(valueLists, { seed, numRuns: 1 });
  const schema = ofDraft(part, draft.$schema);
  const offered = await offer(schema, true);
  assert.ok(offered !== undefined, JSON.stringify(schema));
  if ((draft.judged += 1) % JUDGED_BY_ONE === 0) draft.ajv = draft.makeReference();
  const reference = draft.ajv.compile(schema);
  for (const value of tried) {
    const expected = judge(reference, value);
    const fits: boolean = 'value' in (await check(offered, value));
    if (expected !== undefined) assert.equal(fits, expected, JSON.stringify({ schema, value }));
  }
}

/** @returns undefined if the tool is properly refused */
async function offer(schema: unknown, outside: boolean): Promise<OfferedTool | undefined> {
  const told = await refusalOf(schema, outside);
  if (told !== undefined) return undefined;
  return await offerTool(toolWith(schema, outside));
}

function toolWith(schema: unknown, outside: boolean): ReturnType<typeof defineTool> {
  const input = schema as Record<string, unknown>;
  return defineTool({ id: 'fuzzed', description: '', input, outside, execute: async (value) => value });
}

/** Offers a tool. Returns the reason of a refusal, or undefined. */
async function refusalOf(schema: unknown, outside: boolean): Promise<string | undefined> {
  try {
    await inTime('offering', async () => offerTool(toolWith(schema, outside)));
    return undefined;
  } catch (error) {
    assert.ok(error instanceof SkillcellError, `${error instanceof Error ? error.stack : error}`);
    assert.ok(['tool.schema-unsupported', 'options.invalid'].includes(error.code), error.code);
    assert.match(error.message, /^Cannot (?:offer the input of fuzzed|define the tool): .*(?:got|must) /s);
    assertTold(error.message);
    return error.message;
  }
}

async function check({ input }: OfferedTool, value: unknown): Promise<CheckedValue> {
  assert.ok(input !== undefined);
  const checked = await inTime('checking', () => input.check(value));
  if ('fault' in checked) assertTold(checked.fault);
  else assert.equal(checked.value, value);
  return checked;
}

/** A whole call: the verdict of the broker equals the verdict of the schema. */
async function callThrough(offered: OfferedTool, args: unknown): Promise<void> {
  const broker = createBroker({
    jobId: 'job',
    tools: new Map([['fuzzed', offered]]),
    limits: { calls: 1, modelTimeoutMs: 1_000, approvalTimeoutMs: 1_000 },
  });
  const call = { id: 1, target: 'tool', name: 'fuzzed', args } as const;
  const reply = await broker.call(call, { signal: new AbortController().signal });
  broker.close();
  const isInvalid = 'fault' in (await check(offered, args));
  if (reply.ok) assert.deepEqual([isInvalid, reply.value], [false, args]);
  else {
    assert.equal(reply.error.code, 'tool.invalid-arguments', reply.error.message);
    assert.ok(isInvalid || reply.error.message.startsWith('The arguments are not acceptable:'), reply.error.message);
  }
}

/** Asserts that a text is one printable line for a prompt and a terminal. */
function assertTold(text: string): void {
  assert.ok(text.length <= LONGEST_MESSAGE && !UNSEEN.test(text), JSON.stringify(text.slice(0, LONGEST_MESSAGE)));
}

/**
 * Runs a synchronous step within its processor time of this thread, so other work on the machine does not count. A slower step is tried again,
 * because the collector or the compiler of V8 may have taken the time.
 */
async function inTime<T>(what: string, step: () => Promise<T>): Promise<T> {
  for (let tried = 1; ; tried += 1) {
    const before = process.threadCpuUsage();
    const [outcome] = await Promise.allSettled([step()]);
    const { user, system } = process.threadCpuUsage(before);
    const ms = (user + system) / 1_000;
    if (ms >= MOST_CPU_MS && tried < TRIES) continue;
    assert.ok(ms < MOST_CPU_MS, `${what} took ${Math.round(ms)} ms of the processor`);
    if (outcome.status === 'rejected') throw outcome.reason;
    return outcome.value;
  }
}
