import { afterAll, beforeAll, beforeEach, afterEach, describe, expect, it } from 'vitest';
import { BEST_LEVEL } from '../fixtures/levels.ts';
import { callLine, type RawClient, startRawClient } from '../fixtures/mcp-clients/raw-client.ts';
import { levelFlags } from '../fixtures/mcp-server.ts';
import { forgetPeak, peakMemory } from '../fixtures/peak-memory.ts';
import { until } from '../fixtures/until.ts';

const MIB = 1024 * 1024;
const ENDLESS = 'setInterval(() => {}, 1_000);';
/** The most that a client may make a server grow. */
const MOST_MORE = 64 * MIB;

let client: RawClient;
let before = 0;
beforeAll(async () => {
  client = await startRawClient(await levelFlags(BEST_LEVEL));
  // Modules that load at first use are no growth.
  await client.ask('tools/list');
  await client.ask('tools/call', { name: 'run_code', arguments: { code: '1' } });
});
afterAll(() => client[Symbol.asyncDispose]());
beforeEach(() => {
  before = forgetPeak(client.pid);
});
afterEach(async () => {
  const more = Math.round((peakMemory(client.pid) - before) / MIB);
  expect(more, 'MiB that the server grew by').toBeLessThanOrEqual(MOST_MORE / MIB);
  // It still serves.
  const again = await client.ask('tools/call', { name: 'run_code', arguments: { code: 'console.log(1)' } });
  expect(again.result?.structuredContent?.outcome).toBe('succeeded');
});

/** The outcomes of the requests whose answers came after the first `from`. */
const codesOf = (from: number): string[] =>
  client.answers
    .slice(from)
    .filter(({ id }) => !String(id).startsWith('asked-'))
    .map(({ result, error }) => {
      const structured = result?.structuredContent;
      return structured?.error?.code ?? structured?.outcome ?? String(error?.data?.code ?? error?.code ?? 'done');
    });

/** Counts the codes of all answers after the first `from`. */
function countsOf(from: number): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const code of codesOf(from)) counts[code] = (counts[code] ?? 0) + 1;
  return counts;
}

/** Waits until so many answers have come. */
async function answered(from: number, count: number): Promise<void> {
  await until(() => client.answers.length >= from + count, `${count} answers`, 110_000);
}

/** Waits until all sent requests are handled. */
async function handled(): Promise<void> {
  await client.ask('ping');
  // Some answers take a moment longer than the first ping.
  await client.ask('ping');
}

/** Ids that have no answer yet. */
function idsWithout(from: number, count: number, name: string): string[] {
  const ids = new Set(client.answers.slice(from).map(({ id }) => id));
  return Array.from({ length: count }, (_, id) => `${name}-${id}`).filter((id) => !ids.has(id));
}

async function cancel(ids: readonly string[]): Promise<void> {
  for (const requestId of ids) {
    await client.send(
      `${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId } })}\n`,
    );
  }
}

/** Waits until the server stops reading, since its answers are not taken. */
async function stalled(): Promise<void> {
  const { readFileSync } = await import('node:fs');
  const read = (): string => /rchar: (\d+)/.exec(readFileSync(`/proc/${client.pid}/io`, 'latin1'))?.[1] ?? '';
  let last = '';
  for (let same = 0; same < 10;) {
    const now = read();
    same = now === last ? same + 1 : 0;
    last = now;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

describe('a client that sends hostile input', () => {
  it('gets a code for each line that is no message', async () => {
    const from = client.answers.length;
    await client.send('hello\n{"jsonrpc":"2.0"}\n[]\n"x"\n\n{"jsonrpc":"1.0","id":1,"method":"ping"}\n');
    await client.send(Buffer.from([0xff, 0xfe, 0x0a]));
    await client.send(`${'['.repeat(70)}\n{"jsonrpc":"2.0","id":1,"method":"ping","params":{"__proto__":{}}}\n`);
    await answered(from, 8);
    expect(codesOf(from)).toEqual(['-32700', '-32600', '-32600', '-32600', '-32600', '-32700', '-32700', '-32700']);
    const ids = client.answers.slice(from).map(({ id }) => id);
    expect(ids).toEqual([null, null, null, null, 1, null, null, null]);
  });

  it('learns which of its requests was not valid, if that can be seen', async () => {
    const from = client.answers.length;
    const params = { name: 'run_code', arguments: {}, _meta: { progressToken: {} } };
    const lines = [
      { jsonrpc: '2.0', id: 'a', method: 'tools/call', params },
      { jsonrpc: '2.0', id: 7, method: 'tools/call', params: [] },
      { jsonrpc: '2.0', id: 1.5, method: 'ping' },
      { jsonrpc: '2.0', id: { a: 1 }, method: 'ping' },
      // No request: its id is one of the server.
      { jsonrpc: '2.0', id: 8, result: [] },
    ];
    await client.send(lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
    await answered(from, lines.length);
    expect(codesOf(from)).toEqual(Array(lines.length).fill('-32600'));
    expect(client.answers.slice(from).map(({ id }) => id)).toEqual(['a', 7, null, null, null]);
  });

  it('gives up waiting calls, and nothing is logged', async () => {
    const from = client.answers.length;
    const ids = Array.from({ length: 6 }, (_, id) => `wait-${id}`);
    await client.send(ids.map((id) => callLine(id, 'open_session', {})).join(''));
    // Two are opened at once.
    await cancel(ids.slice(2));
    await answered(from, 2);
    for (const { result } of client.answers.slice(from)) {
      const { session } = result?.structuredContent ?? {};
      await client.ask('tools/call', { name: 'close_session', arguments: { session } });
    }
    expect(codesOf(from).slice(0, 2)).toEqual(['done', 'done']);
    expect(client.stderr).toBe('');
  });

  it('is refused an endless line, and served again after it', async () => {
    const from = client.answers.length;
    const piece = Buffer.alloc(MIB, 'x');
    for (let sent = 0; sent < 200; sent += 1) await client.send(piece);
    await client.send('\n');
    await answered(from, 1);
    expect(codesOf(from)).toEqual(['-32600']);
  });

  it('is refused a flood of garbage, whether it takes the answers or not', async () => {
    const from = client.answers.length;
    const garbage = 'not a message at all\n'.repeat(10_000);
    for (let sent = 0; sent < 10; sent += 1) await client.send(garbage);
    client.listen(false);
    const sending = Promise.all(Array.from({ length: 10 }, () => client.send(garbage)));
    await stalled();
    client.listen(true);
    await sending;
    await answered(from, 200_000);
    expect(countsOf(from)).toEqual({ '-32700': 200_000 });
  });

  it('is refused most of 10,000 sessions', async () => {
    const from = client.answers.length;
    for (let id = 0; id < 10_000; id += 1) await client.send(callLine(`session-${id}`, 'open_session', {}));
    await answered(from, 10_000);
    const { done, ...refused } = countsOf(from);
    // The code depends on how fast sessions open.
    const { 'session.too-many': tooMany = 0, 'orchestrator.queue-full': full = 0, ...others } = refused;
    expect({ done, refused: tooMany + full, others }).toEqual({ done: 16, refused: 9_984, others: {} });
    const opened = client.answers.slice(from).flatMap(({ result }) => result?.structuredContent?.session ?? []);
    for (const session of opened) await client.ask('tools/call', { name: 'close_session', arguments: { session } });
    expect(opened.length).toBe(done);
  });

  it('is refused most of a flood of jobs, and may cancel the rest', async () => {
    const from = client.answers.length;
    for (let id = 0; id < 5_000; id += 1)
      await client.send(callLine(`job-${id}`, 'run_code', { code: `/* ${id} */ ${ENDLESS}` }));
    await handled();
    const taken = idsWithout(from, 5_000, 'job');
    expect([countsOf(from), taken.length]).toEqual([{ 'orchestrator.queue-full': 4_936 }, 64]);
    // A call that frees room is admitted.
    const closed = await client.ask('tools/call', { name: 'close_session', arguments: { session: 'none' } });
    expect(closed.result?.structuredContent?.error?.code).toBe('session.ended');
    await cancel(taken);
  });

  it('is refused calls whose arguments fill the memory', async () => {
    const from = client.answers.length;
    const code = `/* ${'x'.repeat(3 * MIB)} */ ${ENDLESS}`;
    for (let id = 0; id < 12; id += 1) await client.send(callLine(`large-${id}`, 'run_code', { code }));
    await handled();
    // Five of them are 15 MiB.
    expect(countsOf(from)).toEqual({ 'orchestrator.queue-full': 7 });
    await cancel(idsWithout(from, 12, 'large'));
  });

  it('cannot have many large resources made at once', async () => {
    const code = `import { writeFileSync } from 'node:fs';
writeFileSync(process.env.SKILLCELL_OUTPUT + '/large.bin', Buffer.alloc(4 * 1024 * 1024, 1));`;
    const made = await client.ask('tools/call', { name: 'run_code', arguments: { code } });
    const { artifacts = [] } = (made.result?.structuredContent ?? {}) as { artifacts?: { uri: string }[] };
    const uri = artifacts[0]?.uri ?? '';
    const from = client.answers.length;
    client.listen(false);
    const lines = Array.from({ length: 80 }, (_, id) =>
      JSON.stringify({ jsonrpc: '2.0', id: `read-${id}`, method: 'resources/read', params: { uri } }),
    );
    await client.send(`${lines.join('\n')}\n`);
    await stalled();
    client.listen(true);
    await answered(from, 80);
    const { done, ...refused } = countsOf(from);
    expect(done).toBeGreaterThanOrEqual(1);
    expect(refused).toEqual({ 'orchestrator.queue-full': 80 - (done ?? 0) });
  });
});
