import assert from 'node:assert/strict';
import * as z from 'zod/mini';
import { createBroker } from '../../src/broker/broker.ts';
import { offerTool } from '../../src/broker/offered-tool.ts';
import { defineTool } from '../../src/broker/tool.ts';
import { answerCall } from '../../src/orchestrator/answer-call.ts';
import { createByteBudget } from '../../src/orchestrator/byte-budget.ts';
import { createChannel } from '../../src/protocol/channel.ts';
import { sandboxMessageSchema } from '../../src/protocol/message-schema.ts';
import type { SeededRandom } from '../chaos/seeded-random.ts';
import { duplexPair, openEnd } from '../protocol/channel-pair.ts';
import { assertNotPolluted, settled, someBytes, somePath, someValue } from './fuzz-parts.ts';

const MIB = 1024 * 1024;
const echo = defineTool({ id: 'echo', description: 'Gives back its arguments.', execute: async (input) => input });
const offered = offerTool(echo);

/** Calls of a sandbox that lies about their bytes: each is answered once or breaks the protocol, and nothing else happens. */
export async function fuzzCalls(random: SeededRandom): Promise<void> {
  const [near, far] = duplexPair();
  const sandbox = openEnd(far);
  const over = new AbortController();
  const broker = createBroker({
    jobId: 'job',
    tools: new Map([['echo', await offered]]),
    limits: { calls: 100, modelTimeoutMs: 1_000, approvalTimeoutMs: 1_000 },
  });
  const closings: (Error | undefined)[] = [];
  const arriving = { bytes: 0 };
  const results = createByteBudget(32 * MIB);
  const answers: Promise<void>[] = [];
  const channel = createChannel(near, {
    onMessage(given) {
      const message = z.parse(sandboxMessageSchema, given);
      assert.ok(message.type === 'call');
      answers.push(answerCall({ channel, broker, results, arriving }, message, over.signal));
    },
    onClose(error) {
      closings.push(error);
      over.abort(new Error('The channel has ended.'));
    },
  });
  const calls = random.between(1, 6);
  for (let id = 1; id <= calls; id += 1) await callBy(random, sandbox, id);
  await settled(3);
  // Whatever still waits for bytes ends with the job.
  over.abort(new Error('The job is over.'));
  broker.close();
  await Promise.all(answers);
  assert.ok(closings.length <= 1);
  if (closings.length === 0) {
    assert.equal(arriving.bytes, 0);
    await settled(2);
    const ids = sandbox.messages.map((message) => (message as { id: number }).id);
    assert.equal(ids.length, answers.length, 'a call was not answered once');
  }
  channel.close();
  await settled();
  assertNotPolluted();
}

/** Says one call, of which most is true. */
async function callBy(random: SeededRandom, sandbox: ReturnType<typeof openEnd>, id: number): Promise<void> {
  const { channel } = sandbox;
  const parts = Array.from({ length: random.pick([0, 1, 2, 64, 65]) }, () => random.pick([0, 1, 100, 5_000]));
  const writers = parts.map(() => channel.openStream());
  const bytes = parts.map((size, index) => ({
    path: random.between(0, 3) > 0 ? [index] : somePath(random),
    bytes: random.between(0, 40) > 0 ? size : random.pick([size + 1, 8 * MIB, 2 ** 40, -1, 0.5]),
    stream: random.between(0, 80) > 0 ? writers[index]?.number : random.pick([0, 1, 7, 2 ** 32]),
  }));
  channel.send({
    type: 'call',
    id: random.between(0, 8) > 0 ? id : random.pick([0, 1, 2 ** 53]),
    target: random.between(0, 8) > 0 ? 'tool' : random.pick(['host', 'model', '__proto__']),
    name: random.between(0, 4) > 0 ? 'echo' : random.pick(['', 'toString', '__proto__', 'x'.repeat(300)]),
    args: random.between(0, 3) > 0 ? parts.map(() => null) : someValue(random),
    bytes,
  });
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
