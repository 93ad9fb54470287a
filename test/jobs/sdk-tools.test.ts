import { jsonSchema, tool } from 'ai';
import { afterAll, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { createOrchestrator } from '../../src/jobs/create-orchestrator.ts';
import { BEST_LEVEL } from '../fixtures/levels.ts';

const seen: unknown[] = [];
const tools = {
  find: tool({
    description: 'Finds a row.',
    inputSchema: z.object({ name: z.string() }),
    execute: async ({ name }, { abortSignal }) => ({ name, hasSignal: abortSignal instanceof AbortSignal }),
  }),
  sum: tool({
    description: 'Adds.',
    inputSchema: jsonSchema<{ of: number[] }>({
      type: 'object',
      properties: { of: { type: 'array', items: { type: 'number' } } },
      required: ['of'],
      additionalProperties: false,
    }),
    execute: async ({ of }) => of.reduce((total, each) => total + each, 0),
  }),
  steps: tool({
    description: 'Gives preliminary results, and a last one.',
    inputSchema: z.object({}),
    async *execute() {
      yield 1;
      yield 2;
    },
  }),
  name: tool({
    description: 'Returns the id of the call.',
    inputSchema: z.object({}),
    execute: async (_, { toolCallId }) => toolCallId,
  }),
  pay: tool({
    description: 'Has to be allowed.',
    inputSchema: z.object({ sum: z.number() }),
    needsApproval: true,
    execute: async ({ sum }) => seen.push(sum),
  }),
};
const orchestrator = createOrchestrator({
  tools,
  approve: async ({ input }) => ({ allow: (input as { sum: number }).sum < 10 }),
});
afterAll(() => orchestrator.close());

describe('tools of the AI SDK', () => {
  it('are accepted unchanged, with their schemas and approvals', async () => {
    const { value } = await orchestrator.exec({
      isolation: BEST_LEVEL,
      tools: ['find', 'sum', 'steps', 'pay'],
      code: `import { tools } from 'skillcell';
const attempt = (call) => call.catch(({ code }) => code);
export default [
  await tools.find({ name: 'ada' }), await attempt(tools.find({ name: 5 })), await tools.sum({ of: [1, 2] }), await attempt(tools.sum({ of: ['1'] })),
  await attempt(tools.sum({ of: [], more: 1 })), await tools.steps({}), await tools.pay({ sum: 5 }), await attempt(tools.pay({ sum: 50 })),
];`,
    });
    expect(value).toEqual([
      { name: 'ada', hasSignal: true },
      'tool.invalid-arguments',
      3,
      'tool.invalid-arguments',
      'tool.invalid-arguments',
      2,
      1,
      'tool.denied',
    ]);
    expect(seen).toEqual([5]);
  });

  it('get a new id for each call', async () => {
    const code = `import { tools } from 'skillcell';
export default [await tools.name({}), await tools.name({})];`;
    const { value } = await orchestrator.exec({ isolation: BEST_LEVEL, tools: ['name'], code });
    expect(new Set(value as string[]).size).toBe(2);
  });

  it('are refused without an execute function', () => {
    const only = { find: tool({ description: 'Elsewhere.', inputSchema: z.object({}) }) };
    expect(() => createOrchestrator({ tools: only as never })).toThrow('tools.find must have an execute function');
  });
});
