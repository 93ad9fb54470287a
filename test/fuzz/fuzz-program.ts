import assert from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import { answerCalls } from '../../runtime/run/program/answer-calls.ts';
import { createCallPort } from '../../runtime/run/call-port.ts';
import { connectExecutor } from '../../runtime/run/program/executor-link.ts';
import { MAX_EXECUTOR_MESSAGE } from '../../runtime/run/program/executor-process.ts';
import { createBroker } from '../../src/tools/calls/broker.ts';
import { offerTool } from '../../src/tools/define/offered-tool.ts';
import { defineTool } from '../../src/tools/define/tool.ts';
import { answerCall } from '../../src/jobs/run/answer-call.ts';
import { createLimiter } from '../../src/protocol/limiter.ts';
import { createChannel } from '../../src/protocol/channel/channel.ts';
import { readSandboxCall } from '../../src/protocol/messages/message-schema.ts';
import type { StreamedBytes } from '../../src/protocol/messages/messages.ts';
import {
  jsonOf,
  packAnswer,
  packCall,
  placesOf,
  readAnswer,
  type CallTarget,
} from '../../src/protocol/channel/packed-call.ts';
import type { SeededRandom } from '../chaos/seeded-random.ts';
import { duplexPair } from '../protocol/channel-pair.ts';
import { assertNotPolluted, inPieces, mutated, settled, someBytes, someValue } from './fuzz-parts.ts';

const MIB = 1024 * 1024;
const LIMIT = { calls: 200, modelTimeoutMs: 1_000, approvalTimeoutMs: 1_000 };
const echo = defineTool({ id: 'echo', description: 'Gives back its arguments.', execute: async (input) => input });
const offered = offerTool(echo);

/**
 * Bytes of a program to its supervisor, all the way to the host and back. A valid program gets an answer with its bytes to each call. An invalid
 * program is at fault itself, and never breaks the channel to the host.
 */
export async function fuzzProgram(random: SeededRandom): Promise<void> {
  const host = await openHost();
  const input = new PassThrough();
  const output = new PassThrough();
  const heard: Buffer[] = [];
  output.on('data', (chunk: Buffer) => void heard.push(chunk));
  const link = connectExecutor(input, output, MAX_EXECUTOR_MESSAGE);
  let faults = 0;
  const limit = { refusals: 100, onExhausted: () => void (faults += 1), onFault: () => void (faults += 1) };
  const calls = answerCalls(host.port, link, limit);
  link.onFault = () => void (faults += 1);
  link.onCall = (bytes) => calls.take(bytes);
  link.onBytes = (part, chunk) => calls.takeBytes(part, chunk);

  const { frames, sent } = program(random);
  const isHonest = random.between(0, 2) === 0;
  const bytes = isHonest ? Buffer.concat(frames) : changed(random, frames);
  for (const piece of inPieces(random, bytes)) input.write(piece);
  if (isHonest) {
    const replied = (): number => readReplies(Buffer.concat(heard)).filter(({ whole }) => whole).length;
    while (replied() < sent.length && faults === 0 && host.closings.length === 0) await settled();
    const replies = new Map(readReplies(Buffer.concat(heard)).map((reply) => [reply.id, reply]));
    for (const { id, parts } of sent) {
      const reply = replies.get(id);
      assert.equal(reply?.ok, true, `call ${id} was not answered`);
      parts.forEach((part, index) =>
        assert.ok(reply?.parts[index]?.equals(part), `part ${index} of call ${id} came back otherwise`),
      );
    }
    assert.equal(faults, 0);
  } else await settled(3);
  assert.deepEqual(host.closings, [], 'a program has ended the channel');
  calls.close();
  await host.close();
  assert.deepEqual(
    host.closings.filter((error) => error !== undefined),
    [],
  );
  assertNotPolluted();
}

/** Frames of calls in a row, with the bytes of one call between those of others. */
function program(random: SeededRandom): { frames: Buffer[]; sent: { id: number; parts: Buffer[] }[] } {
  const sent = Array.from({ length: random.between(1, 5) }, (_, index) => ({
    id: index + 1,
    parts: Array.from({ length: random.pick([0, 1, 2, 64]) }, () =>
      someBytes(random, random.pick([0, 1, 100, 20_000])),
    ),
  }));
  const lanes: Buffer[][] = [];
  const frames: Buffer[] = [];
  let number = 0;
  for (const { id, parts } of sent) {
    const places = parts.map(({ length }, index) => ({ path: [index], bytes: length, stream: (number += 1) }));
    const args = parts.length === 0 ? someValue(random, 3) : parts.map(() => null);
    frames.push(callFrame(id, args, places));
    parts.forEach((part, index) => {
      if (part.length > 0) lanes.push(inFew(random, part).map((piece) => partFrame(places[index]?.stream ?? 0, piece)));
    });
    while (lanes.length > 0 && random.between(0, 9) > 0) {
      const lane = random.pick(lanes as [Buffer[], ...Buffer[][]]);
      const frame = lane.shift();
      if (frame === undefined) lanes.splice(lanes.indexOf(lane), 1);
      else frames.push(frame);
    }
  }
  frames.push(...lanes.flat());
  return { frames, sent };
}

function inFew(random: SeededRandom, bytes: Buffer): Buffer[] {
  const at = random.between(0, bytes.length);
  return [bytes.subarray(0, at), bytes.subarray(at)].filter(({ length }) => length > 0);
}

const HOSTILE: [Buffer, ...Buffer[]] = [
  framed(packAnswer(1, true, { json: '1' })),
  framed(Buffer.from('{"type":"call","id":1}')),
  callFrame(1, undefined, [{ path: ['__proto__'], bytes: 5, stream: 1 }]),
  callFrame(90, undefined, [{ path: [], bytes: 9 * MIB, stream: 900 }]),
  callFrame(91, undefined, [{ path: [], bytes: 8 * MIB, stream: 901 }]),
  callFrame(92, undefined, [{ path: [], bytes: 8, stream: 902 }], 'model'),
  callFrame(93, undefined, { length: 64 }),
  callFrame(94, undefined, [{ path: [{}], bytes: 1, stream: 904 }]),
  callFrame(95, 'x'.repeat(2 * MIB), []),
  callFrame(0, [null], [{ path: [0], bytes: 2, stream: 905 }]),
  framed(packCall(96, 'tool', 'echo', { json: '{"a":' })),
  framed(packCall(97, 'tool', 'echo', { json: '{"__proto__":{"polluted":1}}' })),
  framed(packCall(98, 'tool', 'x'.repeat(60_000), {})),
];

function changed(random: SeededRandom, frames: Buffer[]): Buffer {
  for (let round = random.between(1, 4); round > 0; round -= 1) {
    const at = random.between(0, frames.length - 1);
    const kind = random.between(0, 5);
    const frame = frames[at] ?? Buffer.alloc(0);
    if (kind === 0) frames.splice(at, 1, frame, frame);
    else if (kind === 1) frames.splice(at, 1, mutated(random, frame));
    else if (kind === 2) frames.splice(at, 0, partFrame(random.pick([0, 1, 2, 900]), someBytes(random, 10)));
    else if (kind === 3) frames.splice(at, 1);
    else if (kind === 4) frames.splice(at, 0, random.pick(HOSTILE));
    else {
      // A call with the largest allowed announcement, and small calls whose answers make room.
      for (let id = 100; id < 140; id += 1) {
        const places = id % 2 === 0 ? [{ path: [0], bytes: 8 * MIB, stream: 1_000 + id }] : [];
        frames.push(callFrame(id, [null], places));
      }
    }
    if (frames.length === 0) break;
  }
  return Buffer.concat(frames);
}

/** A call; an empty list of places is left out. */
function callFrame(id: number, args: unknown, places: object, target: CallTarget = 'tool'): Buffer {
  const listed = Array.isArray(places) && places.length === 0 ? '' : JSON.stringify(places);
  return framed(packCall(id, target, 'echo', { places: listed, json: JSON.stringify(args) ?? '' }));
}

function framed(body: Buffer): Buffer {
  const header = Buffer.alloc(4);
  header.writeUInt32LE(body.length);
  return Buffer.concat([header, body]);
}

function partFrame(part: number, bytes: Buffer): Buffer {
  const header = Buffer.alloc(8);
  header.writeUIntLE(4 + bytes.length, 0, 3);
  header[3] = 1;
  header.writeUInt32LE(part, 4);
  return Buffer.concat([header, bytes]);
}

interface Reply {
  id: number;
  ok: boolean;
  parts: Buffer[];
  /** Whether all its bytes have arrived. */
  whole: boolean;
}

/** The replies on the descriptor of a program. */
function readReplies(bytes: Buffer): Reply[] {
  const replies: (Omit<Reply, 'parts' | 'whole'> & { places: StreamedBytes[] })[] = [];
  const parts = new Map<number, Buffer[]>();
  for (let at = 0; at + 4 <= bytes.length;) {
    const length = bytes.readUIntLE(at, 3);
    const body = bytes.subarray(at + 4, at + 4 + length);
    if (body.length < length) break;
    if (bytes[at + 3] === 1)
      parts.set(body.readUInt32LE(0), [...(parts.get(body.readUInt32LE(0)) ?? []), body.subarray(4)]);
    else {
      const answer = readAnswer(body);
      JSON.parse(jsonOf(answer).toString());
      const places = JSON.parse(placesOf(answer)?.toString() ?? '[]') as StreamedBytes[];
      replies.push({ id: answer.id, ok: answer.ok, places });
    }
    at += 4 + length;
  }
  return replies.map(({ id, ok, places }) => {
    const got = places.map(({ stream }) => Buffer.concat(parts.get(stream) ?? []));
    return { id, ok, parts: got, whole: places.every((place, index) => place.bytes === got[index]?.length) };
  });
}

/** A host with one tool, and the entry's end of the calls to it. */
async function openHost(): Promise<{
  port: ReturnType<typeof createCallPort>;
  closings: (Error | undefined)[];
  close(): Promise<void>;
}> {
  const [near, far] = duplexPair();
  const over = new AbortController();
  const broker = createBroker({ jobId: 'job', tools: new Map([['echo', await offered]]), limits: LIMIT });
  const closings: (Error | undefined)[] = [];
  const answers: Promise<void>[] = [];
  const shared = { broker, results: createLimiter({ room: 32 * MIB }), arriving: { bytes: 0 } };
  const channel = createChannel(near, {
    onMessage: () => assert.fail('no call'),
    onPacked: (bytes) => void answers.push(answerCall({ channel, ...shared }, readSandboxCall(bytes), over.signal)),
    onClose: (error) => void closings.push(error),
  });
  const entry = createChannel(far, {
    onMessage: () => assert.fail('no answer'),
    onPacked: (bytes) => port.settle(bytes),
    onClose: (error) => void closings.push(error),
  });
  const port = createCallPort(entry);
  return {
    port,
    closings,
    async close() {
      over.abort(new Error('The job is over.'));
      broker.close();
      await Promise.all(answers);
      channel.close();
      await settled();
    },
  };
}
