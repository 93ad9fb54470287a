import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { BEST_FLAGS } from '../../fixtures/levels.ts';
import { program, serverFile, serverLog, startHttpServer } from '../../fixtures/mcp/mcp-scene.ts';
import { runMain, startMain, type MainRun } from '../../fixtures/run-main.ts';
import { isAlive } from '../../fixtures/spawn-cli.ts';
import { until } from '../../fixtures/until.ts';

const JOB = ['--runner', 'local', ...BEST_FLAGS];
const SECRET = 'key-of-the-test';

let cwd: string;
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), 'cli-mcp-'));
});
afterEach(() => rmSync(cwd, { recursive: true }));

async function run(
  argv: readonly string[],
  file: unknown,
  stdin = '',
  env: Record<string, string> = {},
): Promise<MainRun> {
  writeFileSync(join(cwd, 'mcp.json'), typeof file === 'string' ? file : JSON.stringify(file));
  return await runMain([...argv, '--mcp', 'mcp.json'], { cwd, stdin, env });
}

const exec = (
  file: unknown,
  code: string,
  tools: readonly string[] = ['crm.*'],
  env: Record<string, string> = {},
): Promise<MainRun> =>
  run(['exec', '-', '--language', 'javascript', ...JOB, ...tools.flatMap((tool) => ['--tool', tool])], file, code, env);

const SERVER = { crm: program('v2-server', ['stdio'], { TOKEN: SECRET }) };
const CALL = `import { tools } from 'skillcell';
console.log(JSON.stringify(await tools.crm.add({ a: 1, b: 2 })));`;

describe('skillcell exec --mcp', () => {
  it.each(['mcpServers', 'servers'])(
    'gives the program the tools that --tool names, by the field %s',
    async (field) => {
      expect(await exec({ [field]: SERVER }, CALL)).toMatchObject({ code: 0, stdout: '{"sum":3}\n' });
    },
  );

  it('gives the program no tools without --tool', async () => {
    const code = `${CALL.split('\n')[0]}\nawait tools.crm.add({ a: 1, b: 2 }).catch((error) => console.log(error.code));`;
    expect(await exec({ mcpServers: SERVER }, code, [])).toMatchObject({ code: 0, stdout: 'tool.not-allowed\n' });
  });

  it('replaces variables of the environment, so that no file holds a key', async () => {
    const env = { LOG_OF_TEST: '/dev/null', EMPTY: '' };
    const server = {
      command: '${NODE_OF_TEST:-' + process.execPath + '}',
      args: [serverFile('v2-server'), '${EMPTY:-stdio}'],
      env: { LOG: '${LOG_OF_TEST}' },
    };
    expect(await exec({ mcpServers: { crm: server } }, CALL, ['crm.*'], env)).toMatchObject({
      code: 0,
      stdout: '{"sum":3}\n',
    });
  });

  it('replaces variables in an address as well, but not in a type, which messages show', async () => {
    const server = await startHttpServer('v2-server');
    try {
      const env = { PORT_OF_TEST: new URL(server.url).port, TYPE_OF_TEST: SECRET };
      const url = 'http://127.0.0.1:${PORT_OF_TEST}/mcp';
      expect(await exec({ mcpServers: { crm: { url } } }, CALL, ['crm.*'], env)).toMatchObject({
        code: 0,
        stdout: '{"sum":3}\n',
      });
      const typed = await exec({ mcpServers: { crm: { url, type: '${TYPE_OF_TEST}' } } }, CALL, [], env);
      expect(typed).toMatchObject({ code: 2, stderr: expect.stringContaining('type must be one of') });
      expect(typed.stderr).not.toContain(SECRET);
    } finally {
      await server.stop();
    }
  });

  it.each([
    ['an argument', ['fails', '${KEY_OF_TEST}']],
    ['a part of an argument', ['fails', '--key=${KEY_OF_TEST}']],
  ])('repeats in no message the value of a variable in %s', async (_what, args) => {
    const server = { command: process.execPath, args: [serverFile('hostile-server'), ...args] };
    const { code, stderr } = await exec({ mcpServers: { crm: server } }, CALL, [], { KEY_OF_TEST: SECRET });
    expect(code).toBe(3);
    expect(stderr).toMatch(/and last wrote: cannot open \[path\] with (?:--key=)?\[redacted\]\./);
    expect(stderr).not.toContain(SECRET);
  });

  it('reports tools that were left out', async () => {
    const { code, stderr } = await exec(
      { mcpServers: { crm: program('hostile-server', ['bad-schema']) } },
      'console.log(1)',
      [],
    );
    expect(code).toBe(0);
    expect(stderr).toContain('Cannot offer the input of crm.bad: its schema cannot be enforced whole');
  });

  it('ends the servers when it is interrupted', async () => {
    using log = serverLog();
    const server = program('hostile-server', ['stubborn'], { LOG: log.path });
    writeFileSync(join(cwd, 'mcp.json'), JSON.stringify({ mcpServers: { crm: server } }));
    const code = 'console.log("up"); setInterval(() => {}, 1000);';
    const running = startMain(['exec', '-', '--language', 'javascript', ...JOB, '--mcp', 'mcp.json'], {
      cwd,
      stdin: code,
    });
    await log.has('tools/list');
    running.signal('SIGTERM');
    expect((await running.done).code).toBe(143);
    const pids = log.lines()[0]?.split(' ').map(Number) ?? [];
    expect(pids.length).toBe(2);
    await until(() => pids.every((pid) => !isAlive(pid)), 'the end of the servers');
  });
});

describe('skillcell codegen --mcp', () => {
  it('declares the tools in the prompt', async () => {
    const argv = ['codegen', 'Add.', '--dry-run', ...JOB, '--tool', 'crm.add'];
    const { code, stdout } = await run(argv, { mcpServers: SERVER });
    expect(code).toBe(0);
    expect(stdout).toContain('/** Adds two numbers. */');
    expect(stdout).toContain('add(input: { a: number; b: number }): Promise<{ sum: number }>');
  });
});

describe('a file of MCP servers that cannot be used', () => {
  it.each([
    [
      `{"mcpServers":{"crm":{"command":"a","env":{"KEY":"${SECRET}" x`,
      '--mcp: it must hold JSON, and breaks off at line 1, column 68',
    ],
    ['[]', '--mcp: it must hold an object with the field mcpServers, or servers, and no other, got "mcp.json"'],
    ['{}', '--mcp: it must hold an object with the field mcpServers, or servers, and no other, got "mcp.json"'],
    [`{"mcpServers":{},"token":"${SECRET}"}`, 'and no other; there is no field "token", got "mcp.json"'],
    [`{"mcpServers":{"crm":{"command":"a","key":"${SECRET}"}}}`, 'the MCP server "crm": there is no field key'],
    [
      `{"mcpServers":{"crm":{"url":"http://a","headers":"${SECRET}"}}}`,
      'the MCP server "crm": headers must be an object',
    ],
    [
      '{"mcpServers":{"crm":{"command":"a","env":{"KEY":"${NOT_SET}"}}}}',
      'env.KEY needs a variable that is not set, got NOT_SET',
    ],
    ['{"mcpServers":{"__proto__":{"command":"a"}}}', '--mcp: it must hold JSON'],
  ])('is mcp.invalid, names the field and no key, and ends with 2: %s', async (file, words) => {
    const { code, stdout, stderr } = await run(['exec', '-', '--json', ...JOB], file, 'never read');
    expect(code).toBe(2);
    const { error } = JSON.parse(stdout) as { error: { code: string; message: string } };
    expect(error.code).toBe('mcp.invalid');
    expect(error.message).toContain(words);
    expect(stdout + stderr).not.toContain(SECRET);
  });

  it('is file.unreadable if it does not exist', async () => {
    const { code, stderr } = await runMain(['exec', '-', ...JOB, '--mcp', 'other.json'], { cwd });
    expect([code, stderr]).toEqual([2, expect.stringContaining('Cannot read --mcp: there is no such file')]);
  });

  it('names a server that cannot be reached, and ends with 3', async () => {
    const { code, stderr } = await exec(
      { mcpServers: { crm: program('hostile-server', ['fails'], { TOKEN: SECRET }) } },
      CALL,
    );
    expect(code).toBe(3);
    expect(stderr).toContain(
      'Cannot use the MCP server crm: it ended with exit code 4, and last wrote: cannot open [path] with [redacted].',
    );
  });
});
