import { afterAll, describe, expect, it } from 'vitest';
import { createOrchestrator } from '../../../src/jobs/create-orchestrator.ts';
import type { JobResult } from '../../../src/contracts/jobs/result.ts';
import { defineTool } from '../../../src/tools/define/tool.ts';
import { BEST_LEVEL } from '../../fixtures/levels.ts';
import { programAnswer, scriptedModel } from '../../fixtures/scripted-model.ts';
import { skillLibrary, skillText } from '../../fixtures/skill-library.ts';

const sources = (url: string): string => `- sid: 1\n  url: ${url}\n  title: T\n`;
const library = skillLibrary(
  {
    'bars/SKILL.md': skillText({ name: 'bars', description: 'Bars.' }, 'DRAW BARS [[S:1]]'),
    'bars/sources.yaml': sources('https://bars.example/'),
    'plans/SKILL.md': skillText({ name: 'plans', description: 'Plans.' }, 'PLAN FIRST [[S:1]]'),
    'plans/sources.yaml': sources('https://plans.example/'),
    'ruler/SKILL.md': skillText({ name: 'ruler', description: 'Rules.', toolsets: ['tools:Tools'] }, 'RULE'),
    'ruler/tools.mjs':
      "export const Tools = [{ id: 'length', description: 'A length.', execute: ({ of }) => of.length }];",
    'secret/SKILL.md': skillText({ name: 'secret', description: 'Secret.' }, 'SECRET'),
  },
  { agentsConfig: { 'solver.codegen': { disabled: ['custom.secret'] } } },
);
afterAll(() => library[Symbol.dispose]());

const isolation = BEST_LEVEL;
const { subsystem: skills } = library;
const both = { skills, skillTools: true };
const block = (value: object): string => `\`\`\`skillcell-decision\n${JSON.stringify(value)}\n\`\`\``;

describe('a job with skillTools', () => {
  it('loads a skill once, as its consumer may, and its sources are those of the result', async () => {
    await using orchestrator = createOrchestrator({ skills });
    const code = `import { tools } from 'skillcell';
const refused = await tools.load_skill({ skill_name: 'secret' }).catch(({ code, message }) => [code, message]);
const wrong = await tools.load_skill({ skill: 'bars' }).catch(({ code }) => code);
const load = (name) => tools.load_skill({ skill_name: name });
export default [await load('plans'), await load('bars'), await load('custom.bars'), refused, wrong];`;
    const job = { kind: 'exec' as const, code, isolation, skills: { refs: ['custom.ruler'] } };
    const { value, sources: cited, stderr } = await orchestrator.stream(job, both).result;
    expect([value, stderr.text]).toEqual([
      [
        'PLAN FIRST [[S:1]]',
        'DRAW BARS [[S:2]]',
        'The skill "custom.bars" is already active.',
        ['tool.failed', 'There is no skill "secret" here; there are custom.bars, custom.plans, custom.ruler.'],
        'tool.invalid-arguments',
      ],
      '',
    ]);
    expect(cited.map(({ url }) => url)).toEqual(['https://plans.example/', 'https://bars.example/']);
  });

  it('has the tools of its skills without naming them, and only these', async () => {
    await using orchestrator = createOrchestrator({ skills });
    const code = `import { tools } from 'skillcell';
const other = await tools.call('skills.list', {}).catch(({ message }) => message);
export default [await tools.length({ of: 'four' }), other];`;
    const job = { kind: 'exec' as const, code, isolation, skills: { refs: ['custom.ruler'] } };
    expect((await orchestrator.stream(job, both).result).value).toEqual([
      4,
      expect.stringContaining('does not have the tool'),
    ]);
    const without = await orchestrator.stream(job, { skills }).result;
    expect(without.outcome).toBe('failed');
  });

  it('has the tools of the skills that a decision chooses, which are active from the start', async () => {
    const code = `import { tools } from 'skillcell';
export default [await tools.length({ of: 'four' }), await tools.load_skill({ skill_name: 'ruler' })];`;
    const model = scriptedModel([
      block({ skills: ['custom.ruler'] }),
      block({ action: 'codegen', task: 'Measure.' }),
      programAnswer('js', code),
    ]);
    await using orchestrator = createOrchestrator({ skills, model });
    const job = { kind: 'codegen', task: 'How long is it?', select: true, isolation, maxAttempts: 1 } as const;
    const result: JobResult = await orchestrator.stream(job, both).result;
    expect([result.value, result.skills.active]).toEqual([
      [4, 'The skill "ruler" is already active.'],
      ['custom.ruler'],
    ]);
    const [choice, , written] = model.asked.map(({ system, messages }) => system + JSON.stringify(messages));
    expect(choice).toContain('- load_skill: ');
    expect(written).toMatch(/load_skill\(input: \{[^}]*skill_name: string;[^}]*\}\): Promise<string>/);
    expect(written).toContain(
      String.raw`Skills that there are:\n- **custom.bars**: Bars.\n- **custom.plans**: Plans.\n"`,
    );
  });

  it('in a language without calls has none, and a tool of the same name refuses the job', async () => {
    await using orchestrator = createOrchestrator({ skills });
    const bash = { kind: 'exec', code: 'echo 1', language: 'bash', isolation } as const;
    expect((await orchestrator.stream(bash, both).result).stdout.text).toBe('1\n');
    const own = defineTool({ id: 'load_skill', description: 'Another.', execute: () => Promise.resolve(1) });
    const job = { kind: 'exec' as const, code: '1', isolation, tools: [own] };
    await expect(orchestrator.stream(job, both).result).rejects.toMatchObject({ code: 'tool.name-conflict' });
  });
});
