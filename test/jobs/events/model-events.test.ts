import { expect, it } from 'vitest';
import { createOrchestrator } from '../../../src/jobs/create-orchestrator.ts';
import { BEST_LEVEL } from '../../fixtures/levels.ts';
import { programAnswer, scriptedModel } from '../../fixtures/scripted-model.ts';

const program = (code: string): string => programAnswer('javascript', code);

it('a job emits the requests of each stage, and the answers', async () => {
  const answers = [
    '```skillcell-decision\n{ "action": "codegen", "task": "Try." }\n```',
    program('process.exit(1);'),
    program('export default 7;'),
  ];
  const model = scriptedModel(answers);
  await using orchestrator = createOrchestrator({ model });
  const job = orchestrator.stream({ kind: 'codegen', isolation: BEST_LEVEL, task: 'Try it.', select: true });
  const seen: unknown[] = [];
  for await (const event of job) {
    if (event.type === 'prompt') seen.push([event.stage, event.round, event.promptSha256]);
    if (event.type === 'attempt') seen.push([event.phase, event.attempt]);
    if (event.type === 'code') seen.push(['code', event.attempt, event.code]);
    if (event.type === 'run') seen.push(['run', event.run]);
    if (event.type === 'text') seen.push([event.stage, event.round, event.text]);
  }
  const { decision, codegen } = await job.result;
  expect(codegen?.attempts).toHaveLength(2);
  expect(seen).toEqual([
    ['decision', 1, decision?.rounds[0]?.promptSha256],
    ['decision', 1, answers[0]],
    ['asking', 1],
    ['codegen', 1, codegen?.attempts[0]?.promptSha256],
    ['codegen', 1, answers[1]],
    ['running', 1],
    ['code', 1, 'process.exit(1);\n'],
    ['run', 1],
    ['asking', 2],
    ['codegen', 2, codegen?.attempts[1]?.promptSha256],
    ['codegen', 2, answers[2]],
    ['running', 2],
    ['code', 2, 'export default 7;\n'],
    ['run', 2],
  ]);
});
