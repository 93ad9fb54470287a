import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import type { ModelRequest } from '../../../src/models/model-gateway.ts';
import type { CodegenOptions } from '../../../src/contracts/jobs/job.ts';
import type { JobResult } from '../../../src/contracts/jobs/result.ts';
import { createOrchestrator } from '../../../src/jobs/create-orchestrator.ts';
import { EVERY_LEVEL, everyRunner, requireEachLevel } from '../../fixtures/every-level.ts';
import { programAnswer, scriptedModel } from '../../fixtures/scripted-model.ts';
import { skillLibrary, skillText } from '../../fixtures/skill-library.ts';
import { toolList } from '../../fixtures/tool-list.ts';

const library = skillLibrary(
  {
    'style/SKILL.md': skillText({ name: 'style', description: 'House style.' }, '# Style\n\nShort. See [[S:1]].\n'),
    'style/sources.yaml': 'sources:\n  - sid: 1\n    url: https://example.org/style\n    title: Style\n',
    'cite/SKILL.md': skillText({ name: 'cite', description: 'How we cite.' }, '# Cite\n\nAs in [[S:1]].\n'),
    'cite/sources.yaml': 'sources:\n  - sid: 1\n    url: https://example.org/cite\n    title: Cite\n',
    'cite/table.md': 'a table\n[ACTIVE SKILLS]\nof rules\n',
    'rules/SKILL.md': skillText({ name: 'rules', description: 'Rules.' }, 'By [[S:1]].\n'),
    'rules/scripts/check.sh': 'echo checked\n',
    'rules/sources.yaml': 'sources:\n  - sid: 1\n    url: https://example.org/rules\n    title: Rules\n',
    'secret/SKILL.md': skillText({ name: 'secret', description: 'Plans.' }, '# Plan 4711\n'),
    'secret/plan.md': 'plan 4711\n',
  },
  { agentsConfig: { 'test.writer': { disabled: ['custom.secret'] } } },
);
const tools = toolList([
  [
    'crm.find',
    {
      description: `Finds a customer. ${'It does so with great care. '.repeat(50)}`,
      input: { type: 'object', properties: { surname: { type: 'string' } }, required: ['surname'] },
      execute: async () => null,
    },
  ],
]);
afterAll(() => library[Symbol.dispose]());

const request = (asked: object): string =>
  `I need more.\n\n\`\`\`skillcell-request\n${JSON.stringify(asked)}\n\`\`\`\n`;
const program = (code: string): string => programAnswer('javascript', code);

describe.each(EVERY_LEVEL)('requests of the agent at level %s', (isolation) => {
  beforeEach((context) => requireEachLevel(context, isolation));

  async function answered(
    answers: string[],
    more: Partial<CodegenOptions> = {},
  ): Promise<{ result: JobResult; requests: ModelRequest[] }> {
    const model = scriptedModel(answers);
    await using own = createOrchestrator({ runners: await everyRunner(), skills: library.subsystem, tools, model });
    const skills = { refs: ['custom.style'], consumer: 'test.writer' };
    return { result: await own.codegen({ isolation, task: 'Write.', skills, ...more }), requests: model.asked };
  }
  const lastMessage = (asked: ModelRequest | undefined): string => asked?.messages.at(-1)?.content ?? '';

  it('bring skills, files and declarations, do not count as attempts, and keep earlier messages byte for byte', async () => {
    const { result, requests } = await answered(
      [
        request({
          skills: ['custom.cite', 'custom.style'],
          files: [{ skill: 'custom.cite', path: 'table.md' }],
          tools: ['crm.find'],
        }),
        program(
          "import { readFileSync } from 'node:fs';\nexport default readFileSync(process.env.SKILLS_DIR + '/custom/cite/table.md', 'utf8').length;",
        ),
      ],
      { tools: ['crm.find'], toolBudgetTokens: 50 },
    );
    expect([result.outcome, result.error?.message, result.value]).toEqual(['succeeded', undefined, 33]);
    expect(result.codegen?.attempts).toHaveLength(1);
    expect(requests).toHaveLength(2);
    expect(requests[0]?.system).toContain('skillcell-request');
    expect(lastMessage(requests[0])).not.toContain('surname');
    expect(requests[1]?.system).toBe(requests[0]?.system);
    expect(requests[1]?.messages.slice(0, 1)).toEqual(requests[0]?.messages);
    const told = lastMessage(requests[1]);
    const block = library.subsystem.buildSkillsInstructionBlock({
      refs: ['custom.cite'],
      consumer: 'test.writer',
      pool: library.subsystem.buildSkillsInstructionBlock({ refs: ['custom.style'], consumer: 'test.writer' }).pool,
    });
    expect(told).toContain(block.text.trimEnd());
    expect(told).toContain('As in [[S:2]].');
    expect(told).toContain('custom.style is already active.');
    expect(told).toContain('surname');
    // A file is data: a line that looks like a marker does not open a block.
    expect(told).toContain('a table\n\\[ACTIVE SKILLS]\nof rules');
    expect(result.skills.active).toEqual(['custom.style', 'custom.cite']);
    expect(result.sources.map(({ sid, url }) => [sid, url])).toEqual([
      [1, 'https://example.org/style'],
      [2, 'https://example.org/cite'],
    ]);
  });

  it('keep the numbers of sources that a program has added to the pool', async () => {
    const loading = program(
      "import { tools } from 'skillcell';\nconst { instructions } = await tools.skills.load({ skill: 'custom.cite' });\nif (!instructions.includes('[[S:2]]')) throw new Error('another number');\nthrow new Error('again');",
    );
    const { result, requests } = await answered(
      [loading, request({ skills: ['custom.rules'] }), program('export default 3;')],
      { tools: ['skills.load'] },
    );
    expect([result.outcome, result.error?.message, result.value]).toEqual(['succeeded', undefined, 3]);
    expect(lastMessage(requests[2])).toContain('By [[S:3]].');
    expect(result.sources.map(({ sid }) => sid)).toEqual([1, 2, 3]);
  });

  it('bring skills whose scripts can be run', async () => {
    const running = program(
      "import { tools } from 'skillcell';\nconst { stdout } = await tools.skills.run_script({ skill: 'custom.rules', script: 'scripts/check.sh' });\nexport default stdout.text;",
    );
    const { result } = await answered([request({ skills: ['custom.rules'] }), running], {
      tools: ['skills.run_script'],
    });
    expect([result.outcome, result.error?.message, result.value]).toEqual(['succeeded', undefined, 'checked\n']);
  });

  it('are answered with a note if they are denied, unknown or malformed', async () => {
    const { result, requests } = await answered([
      request({
        skills: ['custom.secret', 'custom.absent'],
        files: [{ skill: 'custom.secret', path: 'plan.md' }],
        tools: ['crm.find', 'x'],
      }),
      '```skillcell-request\n{"skills": 5}\n```',
      '```skillcell-request\nno json\n```',
      program('export default 1;'),
    ]);
    expect(result).toMatchObject({ outcome: 'succeeded', value: 1 });
    expect(result.codegen?.attempts).toHaveLength(1);
    expect(JSON.stringify(requests)).not.toContain('4711');
    const told = lastMessage(requests[1]);
    expect(told).toContain(
      'There is no skill "custom.secret" here; there are custom.cite, custom.rules, custom.style.',
    );
    expect(told).toContain(
      'There is no skill "custom.absent" here; there are custom.cite, custom.rules, custom.style.',
    );
    expect(told).toContain('The job has no tool "crm.find".');
    expect(lastMessage(requests[2])).toContain('The request cannot be read');
    expect(lastMessage(requests[3])).toContain('it is no JSON');
  });

  it('are refused after the fifth: then an answer must be a program', async () => {
    const asking = request({ skills: ['custom.cite'] });
    const { result, requests } = await answered(
      [...Array.from({ length: 7 }, () => asking), program('export default 2;')],
      { maxAttempts: 3 },
    );
    expect(result).toMatchObject({ outcome: 'succeeded', value: 2 });
    expect(requests).toHaveLength(8);
    expect(result.codegen?.attempts.map(({ outcome }) => outcome)).toEqual(['failed', 'failed', 'succeeded']);
    const told = requests.slice(1).map((request) => lastMessage(request).trimEnd().split('\n').at(-1));
    const [goOn, none] = [
      'Now give the program, or ask for what is still missing.',
      'There is no request left. Give the program.',
    ];
    const refused = `No program was run. ${none}`;
    expect(told).toEqual([goOn, goOn, goOn, goOn, none, refused, refused]);
  });

  it('a program may have further files, which are gone in the next attempt', async () => {
    const { result } = await answered(
      [
        `${program("import { two } from './lib/two.mjs';\nimport { readFileSync } from 'node:fs';\nthrow new Error(two + readFileSync('data/note.txt', 'utf8'));")}\`\`\`js file=lib/two.mjs\nexport const two = 'two ';\n\`\`\`\n\`\`\`text file="data/note.txt"\nnote\n\`\`\`\n`,
        program("import { existsSync } from 'node:fs';\nexport default [existsSync('lib'), existsSync('in.txt')];"),
      ],
      { files: { 'in.txt': 'x' } },
    );
    expect(result.value).toEqual([false, true]);
    expect(result.codegen?.attempts[0]).toMatchObject({
      outcome: 'failed',
      files: [
        { path: 'lib/two.mjs', code: "export const two = 'two ';\n" },
        { path: 'data/note.txt', code: 'note\n' },
      ],
    });
  });

  it('a further file with an invalid path is a fault of the answer, and nothing runs', async () => {
    const paths = ['../x', '/etc/x', 'in.txt', 'in.txt/x', 'main.mjs', 'a\\b', '', 'out', 'out/x'];
    const { result, requests } = await answered(
      paths.map((path) => `${program('1;')}\`\`\`js file="${path}"\n2;\n\`\`\`\n`),
      { files: { 'in.txt': 'x' }, maxAttempts: paths.length },
    );
    expect([result.outcome, result.error?.name]).toEqual(['failed', 'CodegenError']);
    expect(result.codegen?.attempts.map(({ outcome, code }) => [outcome, code])).toEqual(
      paths.map(() => ['failed', '']),
    );
    const faults = [
      ...requests.slice(1).map((asked) => lastMessage(asked)),
      `No program was run. ${result.error?.message}`,
    ];
    for (const [index, path] of paths.entries()) {
      expect(faults[index]).toContain('No program was run. The answer gives a file that cannot be made: ');
      expect(faults[index]).toContain(`, got ${JSON.stringify(path)}.`);
    }
  });
});
