import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { generateText, isStepCount } from 'ai';
import { afterAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { createSandboxTools } from '../../src/ai/create-sandbox-tools.ts';
import type { SandboxToolsOptions } from '../../src/ai/sandbox-tools-options.ts';
import { createOrchestrator } from '../../src/jobs/create-orchestrator.ts';
import { EVERY_LEVEL, everyRunner, requireEachLevel } from '../fixtures/every-level.ts';
import { BEST_LEVEL } from '../fixtures/levels.ts';
import { skillLibrary, skillText } from '../fixtures/skill-library.ts';
import { toolCallingModel, type ModelStep } from '../fixtures/tool-calling-model.ts';

const cache = mkdtempSync(join(tmpdir(), 'skill-tools-cache-'));
vi.stubEnv('XDG_CACHE_HOME', cache);
const table = Array.from({ length: 500 }, (_, index) => `row ${index}: ${'x'.repeat(20)}\n`).join('');
const library = skillLibrary(
  {
    'units/SKILL.md': skillText({ name: 'units', description: 'Units in reports.' }, 'Give SI units. [[S:1]]\n'),
    'units/sources.yaml': 'sources:\n  - sid: 1\n    url: https://example.com/si\n    title: SI\n',
    'units/table.txt': table,
    'units/one-line.txt': 'y'.repeat(5_000),
    'units/scripts/miles.mjs':
      "console.log(process.argv[2] * 1.609344);\nif (process.argv[3]) throw new Error('too far');\n",
    'cites/SKILL.md': skillText({ name: 'cites', description: 'Citing.' }, 'Cite so. [[S:1]]\n'),
    'cites/sources.yaml': 'sources:\n  - sid: 1\n    url: https://example.com/cite\n    title: Cite\n',
    'long/SKILL.md': skillText({ name: 'long', description: 'Long.' }, `${'word '.repeat(1_000)}\n`),
    'secret/SKILL.md': skillText({ name: 'secret', description: 'Of others.' }, 'Hidden.\n'),
  },
  { agentsConfig: { 'solver.codegen': { disabled: ['custom.secret'] } } },
);
const orchestrator = createOrchestrator({ skills: library.subsystem, runners: await everyRunner() });
afterAll(async () => {
  await orchestrator.close();
  library[Symbol.dispose]();
  rmSync(cache, { recursive: true });
});

/** The results of calls, one for each step. */
async function outputs(calls: [string, unknown][], options: SandboxToolsOptions = {}): Promise<unknown[]> {
  const tools = createSandboxTools(orchestrator, { isolation: BEST_LEVEL, ...options });
  const steps = calls.map((call): ModelStep => ({ calls: [call] }));
  const done = await generateText({
    model: toolCallingModel(steps),
    tools,
    stopWhen: isStepCount(steps.length),
    prompt: 'Do it.',
  });
  return done.steps.flatMap(({ content }) =>
    content.flatMap((part) => {
      if (part.type === 'tool-result') return [part.output];
      return part.type === 'tool-error' ? [part.error] : [];
    }),
  );
}

describe('tools of skills', () => {
  it('list, load and read the skills that the consumer may have', async () => {
    const [list, units, cites, file] = await outputs([
      ['list_skills', {}],
      ['load_skill', { skill: 'custom.units' }],
      ['load_skill', { skill: 'custom.cites' }],
      ['read_skill_file', { skill: 'custom.units', path: 'table.txt', offset: 498 }],
    ]);
    const ids = (list as { skills: { id: string }[] }).skills.map(({ id }) => id);
    expect(ids).toEqual(['custom.cites', 'custom.long', 'custom.units']);
    expect(units).toMatchObject({
      id: 'custom.units',
      instructions: 'Give SI units. [[S:1]]',
      files: expect.arrayContaining([{ path: 'table.txt', bytes: table.length, executable: false }]),
      sources: [{ sid: 1, url: 'https://example.com/si' }],
    });
    // The pool of sources belongs to the turn: a skill does not get numbers that another one has.
    expect(cites).toMatchObject({ instructions: 'Cite so. [[S:2]]', sources: [{ sid: 1 }, { sid: 2 }] });
    const lines = { offset: 498, lines: 500, text: table.split('\n').slice(498).join('\n') };
    expect(file).toEqual({ path: 'table.txt', ...lines });
  });

  it('find the skills that the consumer may have by words, the best first, within the limit of characters', async () => {
    const calls: [string, unknown][] = [
      ['search_skills', { text: 'Which units go into a report?' }],
      ['search_skills', { text: 'hidden things of others' }],
    ];
    const [units, secret] = await outputs(calls);
    const hit = { id: 'custom.units', name: 'units', brief: 'Units in reports.', snippet: 'Units in reports.' };
    expect(units).toEqual({ skills: [{ ...hit, score: expect.any(Number) as number }] });
    expect(secret).toEqual({ skills: [] });
    const [cut] = await outputs([['search_skills', { text: 'word units cite' }]], { outputCharacters: 1_000 });
    expect((cut as { skills: unknown[] }).skills).toHaveLength(3);
  });

  it('give the same instructions again, since another conversation has not read them', async () => {
    const [first, second] = await outputs([
      ['load_skill', { skill: 'custom.units' }],
      ['load_skill', { skill: 'custom.units' }],
    ]);
    expect(second).toEqual(first);
  });

  it('cut long texts where the model can go on', async () => {
    const at = (offset?: number): [string, unknown] => [
      'read_skill_file',
      { skill: 'custom.units', path: 'table.txt', ...(offset === undefined ? {} : { offset }) },
    ];
    const [begin, next, wide, long, list] = await outputs(
      [
        at(),
        at(14),
        ['read_skill_file', { skill: 'custom.units', path: 'one-line.txt' }],
        ['load_skill', { skill: 'custom.long' }],
        ['list_skills', {}],
      ],
      { outputCharacters: 400 },
    );
    const lines = table.split(/(?<=\n)/);
    expect(begin).toEqual({ path: 'table.txt', text: lines.slice(0, 14).join(''), offset: 0, lines: 500, next: 14 });
    expect(next).toMatchObject({ offset: 14, next: 27 });
    expect(wide).toMatchObject({ text: 'y'.repeat(400), notes: ['The line is cut after 400 characters.'] });
    expect(long).toMatchObject({
      instructions: expect.stringContaining('characters left out'),
      notes: ['The instructions are cut: read_skill_file gives SKILL.md by lines.'],
    });
    expect((list as { skills: unknown[] }).skills).toHaveLength(3);
  });

  it.each([
    [
      ['load_skill', { skill: 'custom.secret' }],
      'skills.reference-unknown',
      'There is no skill "custom.secret" here; there are',
    ],
    [
      ['load_skill', { skill: 'custom.none' }],
      'skills.reference-unknown',
      'There is no skill "custom.none" here; there are',
    ],
    [['read_skill_file', { skill: 'custom.units', path: '../SKILL.md' }], 'file.unreadable', '../SKILL.md'],
    [['run_skill_script', { skill: 'custom.units', script: 'table.txt' }], 'script.not-listed', 'table.txt'],
    [
      ['run_skill_script', { skill: 'custom.secret', script: 'scripts/a.mjs' }],
      'skills.reference-denied',
      'custom.secret',
    ],
  ] satisfies [[string, unknown], string, string][])('%j is an error with its code', async (call, code, message) => {
    const [error] = await outputs([call as [string, unknown]]);
    expect(error).toMatchObject({ code, message: expect.stringContaining(message) });
    expect((error as Error).message).toContain(`(${code})`);
  });

  it('are missing if the orchestrator has no skills', async () => {
    await using bare = createOrchestrator();
    expect(Object.keys(createSandboxTools(bare))).toEqual(['run_code']);
  });
});

describe.each(EVERY_LEVEL)('scripts and files of skills at level %s', (isolation) => {
  beforeEach((context) => requireEachLevel(context, isolation));

  it('are run, and lie in the sandboxes of programs that have the skill', async () => {
    const code =
      "import { readSkillFile } from 'skillcell'; export default readSkillFile('custom.units', 'table.txt').length;";
    const [well, badly, program] = await outputs(
      [
        ['run_skill_script', { skill: 'custom.units', script: 'scripts/miles.mjs', args: ['26'] }],
        ['run_skill_script', { skill: 'custom.units', script: 'scripts/miles.mjs', args: ['26', 'x'] }],
        ['run_code', { code }],
      ],
      { isolation, skills: ['custom.units'], limits: { runTimeoutMs: 100_000 } },
    );
    expect(well).toMatchObject({ outcome: 'succeeded', stdout: '41.842944\n' });
    expect(badly).toMatchObject({ outcome: 'failed', error: { message: 'too far' } });
    expect(program).toMatchObject({ outcome: 'succeeded', value: table.length });
  });
});
