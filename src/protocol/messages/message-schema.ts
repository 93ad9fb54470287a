import * as z from 'zod/mini';
import { DIAGNOSTIC_SEVERITIES } from '../../contracts/errors/diagnostic-severities.ts';
import { MEDIA_TYPE_CHARACTERS, MOST_FORMS } from '../../contracts/jobs/session.ts';
import { parseBoundedJson } from '../channel/bounded-json.ts';
import { FrameError, MAX_STREAM } from '../channel/frame.ts';
import { MAX_ATTEMPTS, MOST_INSTALLED, type SandboxCall, type SandboxMessage } from './messages.ts';
import { jsonOf, nameOf, placesOf, readCall } from '../channel/packed-call.ts';
import { MAX_PARTS } from './value-bytes.ts';

const count = z.number().check(z.int(), z.nonnegative());
const text = (maximum: number): z.ZodMiniString => z.string().check(z.maxLength(maximum));
const outcome = z.enum(['succeeded', 'failed', 'timeout', 'out_of_memory', 'limit', 'canceled']);
const limit = z.enum(['output', 'workspace', 'inodes', 'pids', 'artifacts', 'calls', 'network']);

const diagnostic = z.strictObject({
  code: z.enum(Object.keys(DIAGNOSTIC_SEVERITIES)),
  severity: z.enum(['error', 'warning', 'info']),
  message: text(4_000),
  path: z.optional(text(4_096)),
  line: z.optional(count),
  column: z.optional(count),
});
const diagnostics = z.array(diagnostic).check(z.maxLength(1_000));

const attempt = z.strictObject({
  model: text(200),
  promptSha256: text(64),
  code: z.string(),
  files: z.optional(z.array(z.strictObject({ path: text(4_096), code: z.string() })).check(z.maxLength(32))),
  outcome,
  usage: z.strictObject({ inputTokens: z.nullable(count), outputTokens: z.nullable(count) }),
});

const attempting = { type: z.literal('attempt'), attempt: count, maxAttempts: count };

const counter = z.nullable(z.number().check(z.nonnegative()));

/** Fields on the end of a program. */
const ending = {
  outcome,
  limit: z.optional(limit),
  exitCode: z.nullable(z.number().check(z.int())),
  signal: z.nullable(text(20)),
  error: z.optional(
    z.strictObject({ name: text(200), message: text(70_000), stack: text(70_000), line: z.optional(count) }),
  ),
};

const result = z.strictObject({
  ...ending,
  stdoutBytes: count,
  stderrBytes: count,
  value: z.optional(z.unknown()),
  omitted: z.array(z.strictObject({ path: text(8_192), reason: text(400) })).check(z.maxLength(201)),
  sources: z.array(z.record(z.string(), z.unknown())).check(z.maxLength(100_000)),
  diagnostics,
  runMs: z.number().check(z.nonnegative()),
  attempts: z.optional(z.array(attempt).check(z.maxLength(MAX_ATTEMPTS))),
  usage: z.optional(z.strictObject({ cpuMs: counter, maxRssBytes: counter, oomKills: counter, pidsRefused: counter })),
});

const skills = z.strictObject({
  active: z.array(text(200)).check(z.maxLength(1_000)),
  digest: z.nullable(text(80)),
  instructionSha256: z.nullable(text(64)),
});

const installed = z.strictObject({
  registry: z.enum(['npm', 'pypi']),
  name: text(214),
  version: text(300),
  digest: text(200),
});

const stream = z.number().check(z.int(), z.minimum(1), z.maximum(MAX_STREAM));
const streamedBytes = z.strictObject({
  path: z.array(z.union([z.string(), count])).check(z.maxLength(64)),
  bytes: count,
  stream,
});

const form = z.strictObject({ mediaType: text(MEDIA_TYPE_CHARACTERS), bytes: count });
const forms = z.array(form).check(z.minLength(1), z.maxLength(MOST_FORMS));

/** The failure of an operation or a command of a session. */
const failure = { error: z.optional(text(1_000)), fault: z.optional(z.enum(['missing', 'lost'])) };

const places = z.array(streamedBytes).check(z.maxLength(MAX_PARTS));
const CALL_NAME_CHARACTERS = 200;

/** Reads a call of a sandbox without parsing its JSON. @throws {FrameError} or {JsonRefused} if the call is invalid */
export function readSandboxCall(bytes: Buffer): SandboxCall {
  const call = readCall(bytes);
  const { id, target } = call;
  const [name, json, listed] = [nameOf(call), jsonOf(call), placesOf(call)];
  if (id === 0 || name.length > CALL_NAME_CHARACTERS) throw new FrameError('a call of unknown form');
  if (listed === undefined) return { id, target, name, json, places: [] };
  const parsed = z.safeParse(places, parseBoundedJson(listed, { maxBytes: listed.length }));
  if (!parsed.success) throw new FrameError('a call with invalid places of bytes');
  return { id, target, name, json, places: parsed.data };
}

/** Validates the messages of a sandbox; all unknown messages and fields are refused. */
export const sandboxMessageSchema: z.ZodMiniType<SandboxMessage> = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('ready'), protocol: count }),
  z.strictObject({ type: z.literal('rehearsed') }),
  z.strictObject({ type: z.literal('skills'), skills }),
  z.strictObject({
    type: z.literal('installed'),
    packages: z.array(installed).check(z.maxLength(MOST_INSTALLED)),
  }),
  z.strictObject({ type: z.literal('run'), run: count.check(z.minimum(1)), stdout: stream, stderr: stream }),
  z.discriminatedUnion('phase', [
    z.strictObject({ ...attempting, phase: z.literal('asking') }),
    z.strictObject({ ...attempting, phase: z.literal('running'), code: z.string() }),
  ]),
  z.strictObject({ type: z.literal('artifacts'), stream }),
  z.strictObject({ type: z.literal('fault'), code: text(100), message: text(8_000), diagnostics }),
  z.strictObject({ type: z.literal('result'), result }),
  z.strictObject({ type: z.literal('connection'), stream }),
  z.strictObject({ type: z.literal('reset'), of: stream }),
  z.strictObject({
    type: z.literal('cell'),
    run: count.check(z.minimum(1)),
    epoch: count.check(z.minimum(1)),
    state: z.enum(['kept', 'lost']),
    ...ending,
    stdoutBytes: count,
    stderrBytes: count,
    value: z.optional(z.unknown()),
    diagnostics,
    runMs: z.number().check(z.nonnegative()),
  }),
  z.strictObject({ type: z.literal('shown'), run: count.check(z.minimum(1)), forms, stream }),
  z.strictObject({ type: z.literal('files'), id: count, stream }),
  z.strictObject({
    type: z.literal('filed'),
    id: count,
    ...failure,
  }),
  z.strictObject({
    type: z.literal('spawned'),
    id: count,
    pid: count.check(z.minimum(1)),
    stdout: stream,
    stderr: stream,
  }),
  z.strictObject({
    type: z.literal('exited'),
    id: count,
    code: z.nullable(count),
    signal: z.nullable(text(20)),
    ...failure,
  }),
  z.strictObject({ type: z.literal('printed'), id: count, stdout: count, stderr: count }),
  z.strictObject({ type: z.literal('unfed'), id: count, error: z.optional(text(1_000)) }),
]) as unknown as z.ZodMiniType<SandboxMessage>;
