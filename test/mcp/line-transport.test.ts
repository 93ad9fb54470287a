import { PassThrough } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { createLineSplitter } from '../../src/protocol/line-splitter.ts';
import { createLineTransport, type LineTransport } from '../../src/mcp/server/stdio/line-transport.ts';

interface Line {
  id?: number | string | null;
  method?: string;
  error?: { code: number; message: string };
}

/** A started transport, the messages that came through it, and its own answers. */
async function start(): Promise<{
  transport: LineTransport;
  taken: Line[];
  answers: Line[];
  send: (...messages: object[]) => Promise<void>;
}> {
  const input = new PassThrough();
  const output = new PassThrough();
  const transport = createLineTransport(input, output);
  const taken: Line[] = [];
  const answers: Line[] = [];
  // oxlint-disable-next-line unicorn/prefer-add-event-listener -- a transport of the SDK is no event target
  transport.onmessage = (message) => void taken.push(message as Line);
  output.on('data', (bytes: Buffer) => {
    for (const line of bytes.toString().trim().split('\n')) answers.push(JSON.parse(line) as Line);
  });
  await transport.start();
  const send = async (...messages: object[]): Promise<void> => {
    input.write(messages.map((message) => `${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`).join(''));
    for (let turns = 0; turns < 50; turns += 1) await turn();
  };
  return { transport, taken, answers, send };
}

const read = (id: number): object => ({ id, method: 'resources/read', params: { uri: 'kept://it' } });
const cancel = (requestId: number): object => ({ method: 'notifications/cancelled', params: { requestId } });

describe('reads over lines', () => {
  it('that are canceled while they wait for their turn leave their place to others', async () => {
    const { transport, taken, answers, send } = await start();
    await send(...Array.from({ length: 66 }, (_, id) => read(id)));
    expect(answers.map(({ id }) => id)).toEqual([65]);
    await send(cancel(1), read(66));
    expect(answers.length).toBe(1);
    await transport.send({ jsonrpc: '2.0', id: 0, result: {} });
    for (let turns = 0; turns < 50; turns += 1) await turn();
    // The canceled read is not made when its turn comes.
    expect(taken.filter(({ method }) => method === 'resources/read').map(({ id }) => id)).toEqual([0, 2]);
    await transport.close();
  });
});

describe('a request over lines with the id of another request', () => {
  const call = (id: number | string): object => ({ id, method: 'tools/call', params: { name: 'x' } });

  it('is refused while the other has no answer', async () => {
    const { transport, taken, answers, send } = await start();
    await send(call(1), call('1'), call(1));
    expect(taken.map(({ id }) => id)).toEqual([1, '1']);
    const message = 'Cannot read the message: another request with its id has no answer yet, got "1".';
    expect(answers).toEqual([{ jsonrpc: '2.0', id: 1, error: { code: -32600, message } }]);
    await transport.send({ jsonrpc: '2.0', id: 1, result: {} });
    await send(call(1));
    expect(taken.map(({ id }) => id)).toEqual([1, '1', 1]);
    await transport.close();
  });

  it('is taken once the other was canceled, and a cancellation comes after its request', async () => {
    const { transport, taken, answers, send } = await start();
    await send(call(1), cancel(1), call(1));
    expect(taken.map(({ id = null }) => id)).toEqual([1, null, 1]);
    expect(answers).toEqual([]);
    await transport.close();
  });
});

it('a line splitter holds a line of tiny pieces in hardly more than its bytes', () => {
  const lines: Buffer[] = [];
  const split = createLineSplitter(1024 * 1024, { line: (line) => void lines.push(line), tooLong: () => undefined });
  const piece = Buffer.from('x');
  const base = process.memoryUsage().arrayBuffers + process.memoryUsage().heapUsed;
  for (let sent = 0; sent < 300_000; sent += 1) split(Buffer.from(piece));
  expect(process.memoryUsage().arrayBuffers + process.memoryUsage().heapUsed - base).toBeLessThan(16 * 1024 * 1024);
  split(Buffer.from('\n'));
  expect(lines).toEqual([Buffer.alloc(300_000, 'x')]);
});
