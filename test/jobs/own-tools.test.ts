import { afterAll, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { defineTool, type Tool, type ToolContext } from '../../src/tools/define/tool.ts';
import { createOrchestrator } from '../../src/jobs/create-orchestrator.ts';
import { BEST_LEVEL } from '../fixtures/levels.ts';

/** A tool with private state, which a copy of its fields would lose. */
class Counter implements Tool {
  readonly id = 'count';
  readonly description = 'Counts its calls.';
  #calls = 0;
  execute(_input: unknown, { context }: ToolContext): Promise<unknown> {
    this.#calls += 1;
    return Promise.resolve({ calls: this.#calls, context });
  }
}

const twice = defineTool({
  id: 'math.twice',
  description: 'Doubles.',
  input: z.strictObject({ of: z.number() }),
  execute: async ({ of }) => 2 * of,
});
const orchestrator = createOrchestrator({ tools: [twice] });
afterAll(() => orchestrator.close());

describe('tools of one job', () => {
  it('are called like the tools of the orchestrator, with the same checks', async () => {
    const half = defineTool({
      id: 'math.half',
      description: 'Halves.',
      input: z.strictObject({ of: z.number() }),
      execute: async ({ of }) => of / 2,
    });
    const counter = new Counter();
    const { value, callTotals } = await orchestrator.exec({
      isolation: BEST_LEVEL,
      tools: ['math.*', half, counter],
      context: 'ada',
      code: `import { tools } from 'skillcell';
const codeOf = (call) => call.catch(({ code }) => code);
export default [await tools.math.half({ of: 5 }), await tools.math.twice({ of: 5 }), await codeOf(tools.math.half({ of: 'x' })), await tools.count({}), await tools.count({})];`,
    });
    const [first, second] = [
      { calls: 1, context: 'ada' },
      { calls: 2, context: 'ada' },
    ];
    expect(value).toEqual([2.5, 10, 'tool.invalid-arguments', first, second]);
    expect(callTotals['math.half']).toEqual({ calls: 2, failed: 1, replayed: 0 });
  });

  it('are not available to other jobs', async () => {
    const own = new Counter();
    const code = "import { tools } from 'skillcell'; export default await tools.count({}).catch(({ code }) => code);";
    const jobs = [[own], ['math.twice']].map((tools) => orchestrator.exec({ isolation: BEST_LEVEL, tools, code }));
    const [mine, other] = await Promise.all(jobs);
    expect([mine?.value, other?.value]).toEqual([{ calls: 1 }, 'tool.not-allowed']);
    await expect(orchestrator.exec({ isolation: BEST_LEVEL, tools: ['count'], code })).rejects.toThrow('got "count"');
  });

  it.each([
    [[twice], 'tools must not use the name of a tool of the orchestrator, got math.twice.'],
    [[new Counter(), new Counter()], 'tools.1.id must be an id that no tool before it has'],
    [[{ ...twice, id: 'skills.mine' }], 'tools.0.id must not begin with skills.'],
    [['math.*', { ...twice, id: 'a', execute: 1 }], 'tools.1.execute must be a function, got 1'],
    [[5], 'tools.0 must be an id, a pattern, or a tool by defineTool(), got 5'],
  ])('%# are refused before anything runs', async (tools, message) => {
    const refused = orchestrator.exec({ isolation: BEST_LEVEL, tools: tools as never, code: '1' });
    await expect(refused).rejects.toMatchObject({ code: 'job.invalid', message: expect.stringContaining(message) });
  });
});
