import { describe, expect, it } from 'vitest';
import { defineTool } from '../../../src/tools/define/tool.ts';
import type { ModelAnswer, ModelRequest } from '../../../src/models/model-gateway.ts';
import type { JobResult } from '../../../src/contracts/jobs/result.ts';
import type { CodegenOptions } from '../../../src/contracts/jobs/job.ts';
import { createOrchestrator } from '../../../src/jobs/create-orchestrator.ts';
import { BEST_LEVEL } from '../../fixtures/levels.ts';
import { scriptedModel } from '../../fixtures/scripted-model.ts';

const FAILING = '```javascript\nconsole.log("tried");\nprocess.exit(1);\n```';
const GOOD = '```javascript\nexport default 1;\n```';
const decision = (value: object): string => `\`\`\`skillcell-decision\n${JSON.stringify(value)}\n\`\`\``;
const HAND_OVER = decision({ action: 'codegen', task: 'Try it.' });

async function run(
  answers: readonly string[],
  job: Partial<CodegenOptions>,
  usage: ModelAnswer['usage'] = { inputTokens: 50, outputTokens: 20 },
): Promise<{ result: JobResult; asked: ModelRequest[] }> {
  const model = scriptedModel(answers, usage);
  await using orchestrator = createOrchestrator({ model });
  return { result: await orchestrator.codegen({ isolation: BEST_LEVEL, task: 'Try it.', ...job }), asked: model.asked };
}

describe('a budget', () => {
  it('of requests ends a job whose programs fail, and keeps its attempts', async () => {
    const { result, asked } = await run([FAILING, FAILING, FAILING], { budget: { modelCalls: 2 } });
    expect(asked).toHaveLength(2);
    expect(result).toMatchObject({
      outcome: 'limit',
      limit: 'model-calls',
      error: { name: 'BudgetReached', message: 'The job may make 2 requests to the model.' },
      codegen: { attempts: [{ outcome: 'failed' }, { outcome: 'failed' }] },
    });
  });

  it('that is just sufficient changes nothing', async () => {
    const budget = { modelCalls: 2, inputTokens: 1_000_000, outputTokens: 40, toolCalls: 1 };
    const { result, asked } = await run([FAILING, GOOD], { budget });
    expect(result).toMatchObject({ outcome: 'succeeded', value: 1 });
    expect(result.limit).toBeUndefined();
    expect(asked.map(({ maxOutputTokens }) => maxOutputTokens)).toEqual([40, 20]);
  });

  it('counts the rounds of a decision and the attempts after it together', async () => {
    const { result, asked } = await run([HAND_OVER, FAILING, GOOD], { select: true, budget: { modelCalls: 2 } });
    expect(asked).toHaveLength(2);
    expect(result).toMatchObject({
      outcome: 'limit',
      limit: 'model-calls',
      decision: { action: 'codegen', rounds: [{}] },
      codegen: { attempts: [{ outcome: 'failed' }] },
    });
  });

  it('ends a decision as well, before there is a sandbox', async () => {
    const { result, asked } = await run(['no', HAND_OVER], { select: true, budget: { modelCalls: 1 }, expect: ['a'] });
    expect(asked).toHaveLength(1);
    expect(result).toMatchObject({
      outcome: 'limit',
      limit: 'model-calls',
      decision: { action: null, rounds: [{ fault: expect.any(String) as string }] },
      contract: { satisfied: false, missing: ['a'] },
    });
  });

  it('of tokens that does not cover the first prompt makes no request', async () => {
    for (const select of [false, true]) {
      const { result, asked } = await run([GOOD], { select, budget: { inputTokens: 10 } });
      expect(asked).toEqual([]);
      expect(result).toMatchObject({ outcome: 'limit', limit: 'tokens', error: { name: 'BudgetReached' } });
    }
  });

  it('of answered tokens ends the job with the answer that used it up', async () => {
    const { result, asked } = await run([FAILING, GOOD], { budget: { outputTokens: 20 } });
    expect(asked).toHaveLength(1);
    expect(result).toMatchObject({ outcome: 'limit', limit: 'tokens', stdout: { text: 'tried\n' } });
  });

  it('estimates unreported tokens by the length of the texts', async () => {
    const budget = { outputTokens: Math.ceil(FAILING.length / 4) };
    const { result, asked } = await run([FAILING, GOOD], { budget }, { inputTokens: null, outputTokens: null });
    expect(asked).toHaveLength(1);
    expect(result).toMatchObject({ outcome: 'limit', limit: 'tokens' });
  });

  it('of tool calls ends the job at the first call over it', async () => {
    let made = 0;
    const count = defineTool({ id: 'count', description: 'Counts.', execute: async () => (made += 1) });
    await using orchestrator = createOrchestrator({ tools: [count] });
    const code = `import { tools } from 'skillcell';
for (const id of ['count', 'nothing', 'count']) await tools.call(id, {}).then(console.log, (error) => console.log(error.code));
setInterval(() => {}, 1000);`;
    const job = { isolation: BEST_LEVEL, code, tools: ['count'] };
    const result = await orchestrator.exec({ ...job, budget: { toolCalls: 2 } });
    expect(result).toMatchObject({
      outcome: 'limit',
      limit: 'calls',
      error: { name: 'BudgetReached', message: 'The job may make 2 calls of tools.' },
      stdout: { text: expect.stringMatching(/^1\ntool.not-allowed\n/) as string },
    });
    expect(made).toBe(1);
  });

  it.each([
    { modelCalls: 0 },
    { modelCalls: -1 },
    { inputTokens: Number.NaN },
    { outputTokens: 1.5 },
    { toolCalls: '3' },
    { toolCalls: Number.POSITIVE_INFINITY },
    { tokens: 5 },
    3,
    null,
  ])('of an invalid form is refused before anything runs: %j', async (budget) => {
    const asked: unknown[] = [];
    const model = { id: 'test/model', generate: async () => Promise.reject(new Error(String(asked.push(1)))) };
    await using orchestrator = createOrchestrator({ model });
    const refused = orchestrator.codegen({ task: 'x', budget: budget as object });
    await expect(refused).rejects.toMatchObject({
      code: 'job.invalid',
      message: expect.stringContaining('budget') as string,
    });
    expect(asked).toEqual([]);
  });

  it('over the greatest safe integer is refused with that maximum', async () => {
    await using orchestrator = createOrchestrator({ model: scriptedModel([GOOD]) });
    await expect(orchestrator.codegen({ task: 'x', budget: { outputTokens: 2 ** 60 } })).rejects.toMatchObject({
      message:
        'Cannot accept the job: budget.outputTokens must be a whole number from 1 to 9007199254740991, got 1152921504606847000.',
    });
  });
});
