import { describe, expect, it } from 'vitest';
import type { McpTools } from '../../../src/mcp/client/connect-mcp-tools.ts';
import { headerFault } from '../../../src/mcp/client/header-fault.ts';
import { answering, type AnswerRequest, MODERN } from '../../fixtures/mcp/answering.ts';
import { call, connect } from '../../fixtures/mcp/mcp-scene.ts';
import { serveLocally } from '../../fixtures/outgoing/local-server.ts';

async function connected<Result>(
  results: Record<string, AnswerRequest>,
  use: (mcp: McpTools) => Promise<Result>,
): Promise<Result> {
  await using server = await serveLocally(answering(results));
  await using mcp = await connect({ url: `http://127.0.0.1:${server.port}/mcp` });
  return await use(mcp);
}

const DONE = { resultType: 'complete', content: [{ type: 'text', text: 'done' }] };

describe('a result of the newer protocol', () => {
  it('without its type is complete', async () => {
    const { resultType: _, ...untyped } = DONE;
    const came = await connected({ ...MODERN, 'tools/call': () => untyped }, (mcp) => call(mcp, 'good'));
    expect(came).toEqual({ value: 'done' });
  });
});

describe('a result that requires input', () => {
  /** The result of a call, and the parameters of the requests that were made for it. */
  async function called(answer: (turn: number) => object): Promise<[unknown, Record<string, unknown>[]]> {
    const seen: Record<string, unknown>[] = [];
    const respond: AnswerRequest = ({ id, params: { _meta, ...params } }) => answer(seen.push({ id, ...params }));
    return [await connected({ ...MODERN, 'tools/call': respond }, (mcp) => call(mcp, 'good', { a: 1 })), seen];
  }
  const more = (rest: object): object => ({ resultType: 'input_required', ...rest });
  const confirm = { method: 'elicitation/create', params: { message: 'Sure?', requestedSchema: { type: 'object' } } };

  it('with only a state is requested again, with the last state unchanged', async () => {
    const [came, seen] = await called((turn) => (turn < 3 ? more({ requestState: `{"turn": ${turn}}` }) : DONE));
    expect(came).toEqual({ value: 'done' });
    const params = { name: 'good', arguments: { a: 1 } };
    expect(seen.map(({ id: _, ...each }) => each)).toEqual([
      params,
      { ...params, requestState: '{"turn": 1}' },
      { ...params, requestState: '{"turn": 2}' },
    ]);
    expect(new Set(seen.map(({ id }) => id)).size).toBe(3);
  });

  it('again and again fails the call with an unknown effect', async () => {
    const [came, seen] = await called(() => more({ requestState: 'busy' }));
    expect(came).toEqual({
      code: 'tool.failed',
      message: 'The MCP server s asked for the same call more than 10 times.',
      effect: 'unknown',
    });
    expect(seen).toHaveLength(11);
  });

  it.each([{}, { requestState: 'kept' }])('fails the call if it asks for an answer, beside %j', async (state) => {
    const [came, seen] = await called(() => more({ inputRequests: { confirm }, ...state }));
    expect(came).toEqual({
      code: 'tool.failed',
      message: 'The MCP server s asked for more input, which is not supported here.',
      effect: 'none',
    });
    expect(seen).toHaveLength(1);
  });

  it('fails the call with an unknown effect if the server is gone at the repeat', async () => {
    await using server = await serveLocally(
      answering({
        ...MODERN,
        'tools/call'(_, response) {
          response.on('close', () => void server[Symbol.asyncDispose]());
          return more({ requestState: 'busy' });
        },
      }),
    );
    await using mcp = await connect({ url: `http://127.0.0.1:${server.port}/mcp` });
    expect(await call(mcp, 'good')).toMatchObject({ code: 'mcp.unavailable', effect: 'unknown' });
  });
});

describe('headers for arguments', () => {
  const schema = (properties: object, rest: object = {}): object => ({ type: 'object', properties, ...rest });
  const header = (name: unknown, type: unknown = 'string'): object => ({ type, 'x-mcp-header': name });

  it('that cannot be sent keep their tool out, which is noted; the others stay', async () => {
    const tools = [
      { name: 'good', inputSchema: schema({ region: header('Region') }) },
      { name: 'bad', inputSchema: schema({ region: header('My Region') }) },
    ];
    const list = (): object => ({ tools, ttlMs: 0, cacheScope: 'private' });
    expect(
      await connected({ ...MODERN, 'tools/list': list }, async (mcp) => [mcp.tools.map(({ id }) => id), mcp.notes]),
    ).toEqual([
      ['s.good'],
      [
        {
          server: 's',
          tool: 'bad',
          what: 'left-out',
          message:
            'Cannot offer the tool "bad" of the MCP server s: x-mcp-header must be a name that HTTP allows, got "My Region".',
        },
      ],
    ]);
    // The older protocol sends no such headers.
    expect(await connected({ 'tools/list': list }, async ({ tools: all }) => all.length)).toBe(2);
  });

  it.each<[string, object]>([
    ['none', schema({ a: { type: 'string' } })],
    ['one of each type', schema({ a: header('A'), b: header('B', 'integer'), c: header('C', 'boolean') })],
    ['one in an object', schema({ a: schema({ b: header('B') }) })],
    ['an argument of that name', schema({ 'x-mcp-header': { type: 'string' } })],
    ['a value that looks like a header', schema({ a: { enum: [header('')] } }, { default: { a: header('') } })],
    ['a condition on an argument of that name', schema({}, { dependentRequired: { 'x-mcp-header': ['a'] } })],
  ])('can be sent: %s', (_, input) => {
    expect(headerFault(input)).toBeUndefined();
  });

  it.each<[string, object]>([
    ['an empty name', schema({ a: header('') })],
    ['a name with a line end', schema({ a: header('A\n') })],
    ['a name that is no text', schema({ a: header(7) })],
    ['a number', schema({ a: header('A', 'number') })],
    ['one of several types', schema({ a: header('A', ['string', 'null']) })],
    ['no type', schema({ a: { 'x-mcp-header': 'A' } })],
    ['two of one name', schema({ a: header('A'), b: schema({ a: header('a') }) })],
    ['all arguments', { ...schema({}), ...header('A') }],
    ['items', schema({ a: { type: 'array', items: header('A') } })],
    ['an alternative', schema({}, { anyOf: [schema({ a: header('A') })] })],
    ['an alternative of an argument', schema({ a: { oneOf: [header('A')] } })],
    ['a definition', schema({ a: { $ref: '#/$defs/a' } }, { $defs: { a: header('A') } })],
    ['a pattern of names', schema({}, { patternProperties: { a: header('A') } })],
  ])('cannot be sent: %s', (_, input) => {
    expect(headerFault(input)).toMatch(/x-mcp-header/);
  });
});
