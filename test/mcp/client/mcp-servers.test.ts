import { describe, expect, it } from 'vitest';
import { connectMcpTools } from '../../../src/mcp/client/connect-mcp-tools.ts';
import type { McpServers } from '../../../src/mcp/client/mcp-servers.ts';

const SECRET = 'value-that-is-a-key';
const said = async (servers: unknown, options?: unknown): Promise<[string, string]> =>
  await connectMcpTools(servers as McpServers, options as never).then(
    () => ['connected', ''],
    ({ code, message }: { code: string; message: string }) => [code, message],
  );

describe('the definition of servers', () => {
  it.each([
    [{ crm: { command: '' } }, 'command must be a text that is not empty, got "".'],
    [{ crm: { command: 5 } }, 'command must be a text, got 5.'],
    [{ crm: { command: 'a', args: SECRET } }, 'args must be a list of texts, got "…".'],
    [{ crm: { command: 'a', args: [SECRET, 5] } }, 'args must be a list of texts, got a list of 2.'],
    [{ crm: { command: 'a', args: ['a\0'] } }, 'args must not hold the character 0.'],
    [{ crm: { command: 'a', env: { KEY: 12_345 } } }, 'env must be an object whose values are texts, got an object.'],
    [{ crm: { command: 'a', env: SECRET } }, 'env must be an object whose values are texts, got "…".'],
    [{ crm: { command: 'a', env: { 'A=B': SECRET } } }, 'env must have names without = that are not empty.'],
    [{ crm: { command: 'a', env: { A: `${SECRET}\0` } } }, 'env must not hold the character 0.'],
    [
      { crm: { command: 'a', token: SECRET } },
      'there is no field token, got "…". There are type, command, args, env, cwd.',
    ],
    [
      { crm: { command: 'a', pin: 12_345 } },
      'there is no field pin, got "…". There are type, command, args, env, cwd.',
    ],
    [{ crm: { command: 'a', type: 'sse' } }, 'type must be stdio, got "sse".'],
    [{ crm: { url: 'ftp://a' } }, 'url must be an address that begins with http:// or https://.'],
    [{ crm: { url: `http://u:${SECRET}@a/` } }, 'url must not hold a user name or a password: headers are for those.'],
    [{ crm: { url: 'http://a', headers: { authorization: `${SECRET}\n` } } }, undefined],
    [{ crm: { url: 'http://a', headers: { 'a b': SECRET } } }, 'headers must have names and values that HTTP allows.'],
    [{ crm: { url: 'http://a', type: 'sse' } }, 'type must be one of http, streamable-http, got "sse".'],
    [{ crm: { url: 'http://a', command: 'b' } }, 'it must have either command or url, and not both.'],
    [{ crm: {} }, 'it must have either command or url, and not both.'],
    [{ crm: 'a' }, 'it must be an object with command or url.'],
  ])('is refused with mcp.invalid, naming the field and no key: %j', async (servers, words) => {
    const [code, message] = await said(servers);
    if (words === undefined) return expect(code).not.toBe('connected');
    expect([code, message]).toEqual(['mcp.invalid', `Cannot use the MCP server "crm": ${words}`]);
    expect(message).not.toMatch(new RegExp(`${SECRET}|12345`));
  });

  it.each(['a.b', 'a b', '1a', '', 'skills', 'a'.repeat(65)])('is refused for an invalid alias: %j', async (alias) => {
    const [code, message] = await said({ [alias]: { command: 'true' } });
    expect([code, message]).toEqual(['mcp.invalid', expect.stringContaining('its alias must be up to 64 letters')]);
  });

  it('is refused if it is no object, and options are checked', async () => {
    expect(await said([])).toEqual([
      'mcp.invalid',
      'Cannot connect MCP servers: they must be an object, by their aliases.',
    ]);
    expect(await said({}, { timeoutMs: 0 })).toEqual(['options.invalid', expect.stringContaining('timeoutMs must be')]);
    expect(await said({}, { approve: 'always' })).toEqual([
      'options.invalid',
      expect.stringContaining('Did you mean approval?'),
    ]);
  });

  it('may be empty', async () => {
    expect(await said({})).toEqual(['connected', '']);
  });
});
