import type { RequestListener, ServerResponse } from 'node:http';
import { describe, expect, it } from 'vitest';
import { answering } from '../../fixtures/mcp/answering.ts';
import { call, connect } from '../../fixtures/mcp/mcp-scene.ts';
import { serveLocally } from '../../fixtures/outgoing/local-server.ts';

const PRIMING = 'id: one\nretry: 300\ndata:\n\n';
const DONE = { content: [{ type: 'text', text: 'done' }] };
const UNFINISHED = {
  code: 'mcp.unavailable',
  message: 'The MCP server s broke off its answer.',
  effect: 'unknown',
};

/** Ends the stream of a call after its beginning, and answers the requests that resume it in their order. */
function resumable(begin: string, resumed: readonly string[], ids: unknown[]): RequestListener {
  let called = 0;
  const stream = (response: ServerResponse, body: string): void => {
    const answer = `data: ${JSON.stringify({ jsonrpc: '2.0', id: called, result: DONE })}`;
    const events = body.replaceAll('ANSWER', answer).replaceAll('CALLED', `${called}`);
    response.writeHead(200, { 'content-type': 'text/event-stream' }).end(events);
  };
  const posted = answering({
    'tools/call'({ id }, response) {
      called = id;
      stream(response, begin);
    },
  });
  return (request, response) => {
    if (request.method !== 'GET') return posted(request, response);
    ids.push(request.headers['last-event-id']);
    stream(response, resumed[ids.length - 1] ?? '');
  };
}

/** The result of a call, and the ids by which its stream was resumed. */
async function called(begin: string, ...resumed: string[]): Promise<unknown[]> {
  const ids: unknown[] = [];
  await using server = await serveLocally(resumable(begin, resumed, ids));
  await using mcp = await connect({ url: `http://127.0.0.1:${server.port}/mcp` });
  return [await call(mcp, 'good'), ids];
}

describe('a stream of events skips', () => {
  it.each([
    ['an event with an id and empty data', PRIMING],
    ['an event without data', 'id: one\n\n'],
    ['data without a colon', 'id: one\ndata\n\n'],
    ['an event of another type', 'event: ping\ndata: now\n\n'],
    [
      'an answer in an event of another type',
      'event: ping\ndata: {"jsonrpc":"2.0","id":CALLED,"result":{"content":[]}}\n\n',
    ],
    ['a byte order mark and a comment', '\ufeff: hello\n\n'],
  ])('%s', async (_, begin) => {
    expect(await called(`${begin}event: message\nANSWER\n\n`)).toEqual([{ value: 'done' }, []]);
  });
});

describe('a stream that ends before its answer', () => {
  it.each([
    ['an event with empty data', PRIMING],
    ['an event of another type', 'event: ping\nid: one\ndata: now\n\n'],
    ['a notification', 'id: one\ndata: {"jsonrpc":"2.0","method":"notifications/progress","params":{}}\n\n'],
  ])('is resumed at the id of %s', async (_, begin) => {
    expect(await called(begin, 'id: two\nANSWER\n\n')).toEqual([{ value: 'done' }, ['one']]);
  });

  it('is resumed again, at the last id that came', async () => {
    const resumed = [': still busy\n\n', 'id: two\ndata:\n\n', 'ANSWER\n\n'];
    expect(await called(PRIMING, ...resumed)).toEqual([{ value: 'done' }, ['one', 'one', 'two']]);
  });

  it('fails the call if no event had an id', async () => {
    expect(await called('data:\n\n')).toEqual([UNFINISHED, []]);
  });
});

describe('a message after a first character that readers drop', () => {
  const hostile =
    'data: {"jsonrpc":"2.0","id":CALLED,"result":{"content":[],"structuredContent":{"__proto__":{}}}}\n\n';

  it.each([
    ['a byte order mark', '\ufeff', { code: 'mcp.unavailable' }],
    [
      'characters that look like its bytes, which change the name of the field',
      '\u00ef\u00bb\u00bf',
      { value: 'done' },
    ],
  ])('is refused or no message: %s', async (_, mark, expected) => {
    expect((await called(`${mark}${hostile}ANSWER\n\n`))[0]).toMatchObject(expected);
  });
});
