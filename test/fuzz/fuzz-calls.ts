import assert from 'node:assert/strict';
import { createBroker } from '../../src/tools/calls/broker.ts';
import { offerTool } from '../../src/tools/define/offered-tool.ts';
import { defineTool } from '../../src/tools/define/tool.ts';
import { answerCall } from '../../src/jobs/run/answer-call.ts';
import { createLimiter } from '../../src/protocol/limiter.ts';
import { createChannel } from '../../src/protocol/channel/channel.ts';
import { readSandboxCall } from '../../src/protocol/messages/message-schema.ts';
import { packCall, readAnswer } from '../../src/protocol/channel/packed-call.ts';
import type { SeededRandom } from '../chaos/seeded-random.ts';
import { duplexPair, openEnd } from '../protocol/channel-pair.ts';
import { assertNotPolluted, mutated, settled, someBytes, somePath, someValue } from './fuzz-parts.ts';

const MIB = 1024 * 1024;
const echo = defineTool({ id: 'echo', description: 'Gives back its arguments.', execute: async (input) => input });
const offered = offerTool(echo);

/** Calls of a sandbox that lies about their bytes. Each is answered once or breaks the protocol, without other effects. */
export async function fuzzCalls(random: SeededRandom): Promise<void> {
  const [near, far] = duplexPair();
  const answered: number[] = [];
  const sandbox = openEnd(far, { onPacked: (bytes) => void answered.push(readAnswer(bytes).id) });
  const over = new AbortController();
  const broker = createBroker({
    jobId: 'job',
    tools: new Map([['echo', await offered]]),
    limits: { calls: 100, modelTimeoutMs: 1_000, approvalTimeoutMs: 1_000 },
  });
  const closings: (Error | undefined)[] = [];
  const arriving = { bytes: 0 };
  const results = createLimiter({ room: 32 * MIB });
  const answers: Promise<void>[] = [];
  const channel = createChannel(near, {
    onMessage: () => assert.fail('no call'),
    onPacked(bytes) {
      answers.push(answerCall({ channel, broker, results, arriving }, readSandboxCall(bytes), over.signal));
    },
    onClose(error) {
      closings.push(error);
      over.abort(new Error('The channel has ended.'));
    },
  });
  const calls = random.between(1, 6);
  for (let id = 1; id <= calls; id += 1) await callBy(random, sandbox, id);
  await settled(3);
  // Waits for bytes end with the job.
  over.abort(new Error('The job is over.'));
  broker.close();
  await Promise.all(answers);
  assert.ok(closings.length <= 1);
  if (closings.length === 0) {
    assert.equal(arriving.bytes, 0);
    await settled(2);
    assert.equal(answered.length, answers.length, 'a call was not answered once');
  }
  channel.close();
  await settled();
  assertNotPolluted();
}

/** Sends one call, of which most is true. */
async function callBy(random: SeededRandom, sandbox: ReturnType<typeof openEnd>, id: number): Promise<void> {
  const { channel } = sandbox;
  const parts = Array.from({ length: random.pick([0, 1, 2, 64, 65]) }, () => random.pick([0, 1, 100, 5_000]));
  const writers = parts.map(() => channel.openStream());
  const bytes = parts.map((size, index) => ({
    path: random.between(0, 3) > 0 ? [index] : somePath(random),
    bytes: random.between(0, 40) > 0 ? size : random.pick([size + 1, 8 * MIB, 2 ** 40, -1, 0.5]),
    stream: random.between(0, 80) > 0 ? writers[index]?.number : random.pick([0, 1, 7, 2 ** 32]),
  }));
  const args = random.between(0, 3) > 0 ? parts.map(() => null) : someValue(random);
  const json = Buffer.from(JSON.stringify(args));
  const call = packCall(
    random.between(0, 8) > 0 ? id : random.pick([0, 1, 2 ** 32 - 1]),
    random.between(0, 8) > 0 ? 'tool' : random.pick(['host', 'model']),
    random.between(0, 4) > 0 ? 'echo' : random.pick(['', 'toString', '__proto__', 'x'.repeat(300)]),
    {
      places: parts.length === 0 ? '' : JSON.stringify(bytes),
      json: random.between(0, 8) > 0 ? json : mutated(random, json),
    },
  );
  // Some heads lie about the lengths of the following parts, too.
  channel.sendPacked(
    random.between(0, 30) > 0 ? call : Buffer.concat([call.subarray(0, 1), mutated(random, call.subarray(1))]),
  );
  await Promise.all(
    writers.map(async (writer, index) => {
      const kind = random.between(0, 40);
      if (kind === 0) return;
      const size = kind === 1 ? (parts[index] ?? 0) + 1 : kind === 2 ? 0 : (parts[index] ?? 0);
      await writer.write(someBytes(random, size));
      writer.end();
    }),
  );
}
