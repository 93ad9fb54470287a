import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { defineTool, type Tool } from '../../src/tools/define/tool.ts';
import { connectMcpTools, type McpTools } from '../../src/mcp/client/connect-mcp-tools.ts';
import { createOrchestrator } from '../../src/jobs/create-orchestrator.ts';
import type { Orchestrator } from '../../src/jobs/orchestrator.ts';
import { BEST_LEVEL } from '../fixtures/levels.ts';
import { program, serverLog } from '../fixtures/mcp/mcp-scene.ts';
import { programAnswer, scriptedModel } from '../fixtures/scripted-model.ts';

let mcp: McpTools;
let orchestrator: Orchestrator;
const log = serverLog();
beforeAll(async () => {
  const env = { LOG: log.path, TOKEN: 'token-of-the-test' };
  mcp = await connectMcpTools({
    v2: program('v2-server', ['stdio'], env),
    v1: program('v1-server', ['stdio'], env),
    lies: program('hostile-server', ['lies']),
  });
  orchestrator = createOrchestrator({ tools: mcp.tools });
});
afterAll(async () => {
  await orchestrator.close();
  await mcp.close();
  log[Symbol.dispose]();
});
let stack = new AsyncDisposableStack();
afterEach(async () => {
  await stack.disposeAsync();
  stack = new AsyncDisposableStack();
});

async function run(code: string, tools = ['v1.*', 'v2.*', 'lies.*']): Promise<unknown> {
  const { value, error } = await orchestrator.exec({
    isolation: BEST_LEVEL,
    tools,
    code: `import { tools } from 'skillcell';
const said = (call) => call.catch(({ code, message }) => [code, message]);
${code}`,
  });
  expect(error).toBeUndefined();
  return value;
}

describe('tools of MCP servers in a sandbox', () => {
  it.each(['v1', 'v2'])('give values and bytes: %s', async (server) => {
    const code = `const pixel = await tools.${server}.pixel({});
export default [await tools.${server}.add({ a: 1, b: 2 }), await tools.${server}.greet({ name: 'Ada' }),
  pixel.mediaType, pixel.bytes instanceof Uint8Array, Buffer.from(pixel.bytes).subarray(1, 4).toString()];`;
    expect(await run(code)).toEqual([{ sum: 3 }, 'Hello, Ada', 'image/png', true, 'PNG']);
  });

  it('have their arguments and results checked', async () => {
    const code = `export default [await said(tools.v2.add({ a: '1', b: 2 })), await said(tools.v2.add({ a: 1, b: 2, c: 3 })),
  await said(tools.lies.lies({})), await said(tools.lies.plain({})), await said(tools.lies.good({}))];`;
    expect(await run(code)).toEqual([
      ['tool.invalid-arguments', expect.stringContaining('The arguments of v2.add do not fit: a')],
      ['tool.invalid-arguments', expect.stringContaining('The arguments of v2.add do not fit')],
      ['tool.invalid-result', expect.stringContaining('The result of lies.lies does not fit: sum')],
      ['tool.invalid-result', expect.stringContaining('The result of lies.plain does not fit')],
      { fine: true },
    ]);
  });

  it('fail like other tools, without paths of the host and without keys', async () => {
    expect(await run('export default await said(tools.v2.fail({}));')).toEqual([
      'tool.failed',
      'No row in [path] for [redacted]',
    ]);
  });

  it('can be called only if the job names them', async () => {
    const code =
      'export default [await said(tools.v2.add({ a: 1, b: 2 })), await said(tools.v2.greet({ name: "Ada" }))];';
    expect(await run(code, ['v2.greet'])).toEqual([['tool.not-allowed', expect.any(String)], 'Hello, Ada']);
  });

  it('have their calls canceled with the job', async () => {
    const job = orchestrator.stream({
      kind: 'exec',
      isolation: BEST_LEVEL,
      tools: ['v2.wait'],
      code: "import { tools } from 'skillcell'; await tools.v2.wait({});",
    });
    await log.has('waiting');
    orchestrator.cancel(job.jobId, 'no longer needed');
    expect((await job.result).outcome).toBe('canceled');
    await log.has('canceled');
  });

  it('that may have had their effect when the server died are not called again', async () => {
    const own = stack.use(await connectMcpTools({ s: program('v2-server', ['stdio']) }));
    const dying = programAnswer('javascript', "import { tools } from 'skillcell';\nawait tools.s.die({});");
    const model = scriptedModel([dying, dying]);
    const host = createOrchestrator({ tools: own.tools, model });
    stack.defer(() => host.close());
    const { calls } = await host.codegen({ task: 'Die.', isolation: BEST_LEVEL, tools: ['s.die'], maxAttempts: 2 });
    const made = calls.filter(({ name }) => name === 's.die').map(({ code }) => code);
    expect(made).toEqual(['mcp.unavailable', 'tool.effect-unknown']);
  });

  it('need an approval if requested, except tools that are declared read-only', async () => {
    const own = stack.use(
      await connectMcpTools({ s: program('v2-server', ['stdio']) }, { approval: 'write', timeoutMs: 5_000 }),
    );
    const approvals = own.tools.map(({ id, approval, timeoutMs }) => [id, approval, timeoutMs]);
    expect(approvals).toContainEqual(['s.add', 'never', 5_000]);
    expect(approvals).toContainEqual(['s.greet', 'always', 5_000]);
  });
});

describe('ids of two tools', () => {
  const other: Tool = defineTool({ id: 'v2.add', description: 'Another.', execute: async () => 1 });
  const refusal = (tools: readonly Tool[]): unknown => {
    try {
      createOrchestrator({ tools });
      return 'created';
    } catch (error) {
      const { code, message } = error as { code: string; message: string };
      return [code, message];
    }
  };

  it('cause a tool.name-conflict with both names if they are the same and one tool is of an MCP server', () => {
    const message =
      'Cannot create the orchestrator: two tools have the id v2.add: the tool "add" of the MCP server v2 and tools.';
    expect(refusal([...mcp.tools, other])).toEqual(['tool.name-conflict', `${message}${mcp.tools.length}.`]);
    // A copy of a tool still belongs to its server.
    const changed = mcp.tools.map((tool): Tool => ({ ...tool, approval: 'always' }));
    expect(refusal([...changed, other])).toEqual(['tool.name-conflict', `${message}${mcp.tools.length}.`]);
  });

  it('cause no conflict if they differ', async () => {
    expect(refusal([...mcp.tools, { ...other, id: 'v2.other' }])).toBe('created');
  });
});
