import { afterEach, describe, expect, it } from 'vitest';
import type { McpTools } from '../../../src/mcp/client/connect-mcp-tools.ts';
import type { McpConnectOptions } from '../../../src/mcp/client/mcp-tool-options.ts';
import { call, connect, program, serverLog } from '../../fixtures/mcp/mcp-scene.ts';

let stack = new AsyncDisposableStack();
afterEach(async () => {
  await stack.disposeAsync();
  stack = new AsyncDisposableStack();
});

async function hostile(mode: string, more = '', options: McpConnectOptions = {}): Promise<McpTools> {
  return stack.use(await connect(program('hostile-server', [mode, more], { TOKEN: 'token-of-the-test' }), options));
}

const refused = (mode: string, more = '', options: McpConnectOptions = {}): Promise<unknown> =>
  hostile(mode, more, options).then(
    () => 'connected',
    ({ code, message }: { code: string; message: string }) => [code, message],
  );

describe('a server that keeps to the protocol', () => {
  it('connects and answers, so that the servers below fail for other reasons', async () => {
    const mcp = await hostile('plain');
    expect(mcp.notes).toEqual([]);
    expect(await call(mcp, 'good')).toEqual({ value: 'fine' });
  });

  it('of the older protocol that ends when it is asked for the newer one is started once more', async () => {
    expect(await call(await hostile('exits-when-asked'), 'good')).toEqual({ value: 'fine' });
  });

  it('may write its log between its messages', async () => {
    expect(await call(await hostile('garbage'), 'good')).toEqual({ value: 'fine' });
  });

  it('may give its tools in pages', async () => {
    expect((await hostile('pages')).tools.map(({ id }) => id)).toEqual(['s.first', 's.second']);
  });

  it('may have no tools, which is noted', async () => {
    const { tools, notes } = await hostile('none');
    expect([tools, notes]).toEqual([
      [],
      [{ server: 's', what: 'no-tools', message: 'The MCP server s offers no tools.' }],
    ]);
  });
});

describe('a server that cannot be used is refused with mcp.unavailable', () => {
  it('when it says nothing', async () => {
    expect(await refused('silent', '', { connectTimeoutMs: 300 })).toEqual([
      'mcp.unavailable',
      'Cannot use the MCP server s: it gave no answer in time.',
    ]);
  });

  it('when it ends, with its last output, without paths of the host and without keys', async () => {
    expect(await refused('fails')).toEqual([
      'mcp.unavailable',
      'Cannot use the MCP server s: it ended with exit code 4, and last wrote: cannot open [path] with [redacted].',
    ]);
  });

  it('without keys, even if a shorter value is a part of one', async () => {
    const server = program('hostile-server', ['fails'], { SHORT: 'k', TOKEN: 'token-of-the-test' });
    await expect(connect(server)).rejects.toThrow('and last wrote: cannot open [path] with [redacted].');
  });

  it('when there is no such command, or working folder', async () => {
    const message = async (server: Parameters<typeof connect>[0]): Promise<string> =>
      await connect(server).then(
        () => 'connected',
        (error: Error) => error.message,
      );
    expect(await message({ command: 'no-such-command' })).toContain('it has a command that was not found.');
    expect(await message({ command: 'true', cwd: '/no/such/folder' })).toContain(
      'it has a working folder that is not there.',
    );
  });

  it.each([
    ['same-cursor', '', 'lists its tools without an end'],
    ['new-cursors', '', 'lists its tools without an end'],
    ['many', '1001', 'lists more than 1000 tools'],
    ['many', '100000', 'sent a message that is refused: over 200000 values'],
    ['no-list', '', 'does not answer as the protocol says'],
  ])('when its list is not accepted: %s %s', async (mode, more, words) => {
    expect(await refused(mode, more)).toEqual(['mcp.unavailable', `Cannot use the MCP server s: it ${words}.`]);
  });
});

describe('a call of a server', () => {
  it.each([
    ['half', '', 'ended with exit code 0'],
    ['broken', '', 'sent a message that is refused: no valid JSON, or a key that is not allowed'],
    ['proto', '', 'sent a message that is refused: no valid JSON, or a key that is not allowed'],
    ['deep', '1000000', 'sent a message that is refused: nested over 100 levels'],
    ['values', '300000', 'sent a message that is refused: over 200000 values'],
    ['one-line', '13', 'sent a message of more than 12582912 bytes'],
    ['many-lines', '17', 'sent more than 16777216 bytes without an answer'],
  ])(
    'with a refused message fails with mcp.unavailable, once, and may have had its effect: %s',
    async (mode, more, words) => {
      const mcp = await hostile(mode, more);
      const message = `The MCP server s ${words}.`;
      expect(await call(mcp, 'good')).toEqual({ code: 'mcp.unavailable', message, effect: 'unknown' });
    },
  );

  it.each([
    ['deep', '90'],
    ['values', '100000'],
    ['one-line', '11'],
  ])('with the largest accepted message gives its value: %s', async (mode, more) => {
    expect(await call(await hostile(mode, more), 'good')).toEqual({ value: expect.anything() });
  });

  it('without a valid result fails with tool.invalid-result', async () => {
    const called = await call(await hostile('no-result'), 'good');
    expect(called).toEqual({
      code: 'tool.invalid-result',
      message: 'The MCP server s gave a result that the protocol does not allow.',
      effect: 'unknown',
    });
  });

  it('that the server refuses fails with its words, without paths of the host and without keys', async () => {
    const called = await call(await hostile('refuse'), 'good');
    expect(called).toEqual({ code: 'tool.failed', message: 'No [path] [redacted]', effect: 'none' });
  });

  it('refuses requests of the server meanwhile', async () => {
    expect(await call(await hostile('ask'), 'good')).toEqual({ value: { refused: 3 } });
  });

  it('that hangs ends when it is canceled, and the server is notified', async () => {
    using log = serverLog();
    const server = program('hostile-server', ['hang'], { LOG: log.path });
    const mcp = stack.use(await connect(server));
    const canceled = new AbortController();
    const called = call(mcp, 'good', {}, canceled.signal);
    await log.has('tools/call');
    canceled.abort(new Error('over'));
    expect(await called).toMatchObject({ message: 'over' });
    await log.has('notifications/cancelled');
    const [sent, told] = ['tools/call', 'notifications/cancelled'].map((method) => {
      const line = log.lines().find((each) => each.includes(`"${method}"`));
      return JSON.parse(line ?? '{}') as { id?: number; params: { requestId?: number; reason?: string } };
    });
    // Servers do not learn the reasons of jobs.
    expect(told?.params).toEqual({ requestId: sent?.id, reason: 'The call was canceled.' });
  });

  it('that leaves too much unread ends the server, and with it all waiting calls', async () => {
    const input = { text: 'x'.repeat(200_000) };
    const callOften = async (mode: string, times: number): Promise<Set<unknown>> => {
      const mcp = await hostile(mode);
      const all = await Promise.all(Array.from({ length: times }, () => call(mcp, 'good', input)));
      return new Set(all.map((each) => ('message' in each ? each.message : each.value)));
    };
    expect(await callOften('deaf', 200)).toEqual(new Set(['The MCP server s left more than 33554432 bytes unread.']));
    expect(await callOften('plain', 100)).toEqual(new Set(['fine']));
  });

  it('takes no bytes', async () => {
    expect(await call(await hostile('plain'), 'good', { data: new Uint8Array(3) })).toMatchObject({
      code: 'tool.invalid-arguments',
      message: expect.stringContaining('s.good takes no bytes'),
    });
  });
});

describe('tools whose schemas cannot be enforced', () => {
  it.each([
    ['bad-schema', 'the input of s.bad: its schema cannot be enforced whole, got the keyword "unevaluated"'],
    ['bad-output', 'the output of s.bad: its schema cannot be enforced whole'],
    ['deep-schema', 'the input of s.deep: its schema cannot be enforced whole'],
  ])('are left out, which is noted: %s', async (mode, words) => {
    const { tools, notes } = await hostile(mode);
    expect(tools.map(({ id }) => id)).toEqual(['s.good']);
    expect(notes).toEqual([
      { server: 's', tool: expect.any(String), what: 'left-out', message: expect.stringContaining(words) },
    ]);
  });
});

describe('names of tools', () => {
  it('that are no ids are turned into ids, which is noted; one that is too long is left out', async () => {
    const { tools, notes } = await hostile('names');
    expect(tools.map(({ id }) => id)).toEqual(['s.a_b', 's._2d']);
    expect(notes.map(({ tool, what }) => [tool?.slice(0, 3), what])).toEqual([
      ['a/b', 'renamed'],
      ['2d', 'renamed'],
      ['xxx', 'left-out'],
    ]);
  });

  it('that give the same id are refused, and both are named', async () => {
    expect(await refused('conflict')).toEqual([
      'tool.name-conflict',
      'Cannot use the MCP server s: two tools have the id s.a_b: the tool "a/b" of the MCP server s and the tool "a b" of the MCP server s.',
    ]);
  });
});

describe('texts of tools', () => {
  it('hold no hidden and no forged text, and are cut', async () => {
    const { tools } = await hostile('hidden-text');
    expect(tools[0]?.description).toMatch(/^ab \\?\[ACTIVE SKILLS\] c+$/);
    expect(tools[0]?.description.length).toBe(2_000);
  });
});
