import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { isStepCount, tool, ToolLoopAgent } from 'ai';
import { expect, it } from 'vitest';
import * as z from 'zod';
import { createSandboxTools } from '../../src/ai/create-sandbox-tools.ts';
import { createOrchestrator } from '../../src/jobs/create-orchestrator.ts';
import { BEST_LEVEL } from '../fixtures/levels.ts';
import { startModelStandIn } from '../fixtures/model-stand-in.ts';

interface WireRequest {
  tools: { function: { name: string; description: string; parameters: object } }[];
  messages: { role: string; content: string; tool_call_id?: string }[];
}

it('an agent lets its programs call its tools, through an HTTP service of models', async () => {
  const code = `import { tools } from 'skillcell';
const { rows } = await tools.sales({ year: 2024 });
console.log(rows.reduce((sum, { cents }) => sum + cents, 0));`;
  await using service = await startModelStandIn([
    { toolCalls: [{ name: 'run_code', input: { code } }] },
    { toolCalls: [{ name: 'run_code', input: { code: 'throw new TypeError("no")' } }] },
    'They sold for 12.50.',
  ]);
  await using orchestrator = createOrchestrator();
  const sales = tool({
    description: 'Gives the sales of a year.',
    inputSchema: z.object({ year: z.number() }),
    execute: async () => ({ rows: [{ cents: 1_000 }, { cents: 250 }] }),
  });
  const provider = createOpenAICompatible({ name: 'stand-in', baseURL: service.baseUrl });
  const agent = new ToolLoopAgent({
    model: provider('any'),
    tools: { ...createSandboxTools(orchestrator, { isolation: BEST_LEVEL }), sales },
    experimental_toolCallers: { sales: ['run_code'] },
    stopWhen: isStepCount(5),
  });
  const { text } = await agent.generate({ prompt: 'What did they sell in 2024?' });
  expect(text).toBe('They sold for 12.50.');
  const [first, second, third] = service.requests.map(({ raw }) => JSON.parse(raw) as WireRequest);
  expect(first?.tools.map(({ function: { name } }) => name)).toEqual(['run_code']);
  expect(first?.tools[0]?.function.description).toContain('sales(input: { year: number }): Promise<unknown>;');
  const answers = [second, third].map((request) => JSON.parse(request?.messages.at(-1)?.content ?? '') as unknown);
  expect(answers).toMatchObject([
    { outcome: 'succeeded', stdout: '1250\n' },
    { outcome: 'failed', error: { name: 'TypeError', message: 'no' } },
  ]);
});

it('a generation streams with the same tools', async () => {
  const { streamText, simulateReadableStream } = await import('ai');
  const { MockLanguageModelV4 } = await import('ai/test');
  await using orchestrator = createOrchestrator();
  const usage = {
    inputTokens: { total: 1, noCache: 1, cacheRead: undefined, cacheWrite: undefined },
    outputTokens: { total: 1, text: 1, reasoning: undefined },
  };
  const model = new MockLanguageModelV4({
    doStream: async () => ({
      stream: simulateReadableStream({
        chunks: [
          { type: 'tool-call', toolCallId: 'a', toolName: 'run_code', input: '{"code":"export default 42"}' },
          { type: 'finish', finishReason: { unified: 'tool-calls', raw: undefined }, usage },
        ],
      }),
    }),
  });
  const tools = createSandboxTools(orchestrator, { isolation: BEST_LEVEL });
  const { toolResults } = streamText({ model, tools, prompt: 'Run it.' });
  expect((await toolResults).map(({ output }) => output)).toMatchObject([{ outcome: 'succeeded', value: 42 }]);
});
