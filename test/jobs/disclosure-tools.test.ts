import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, it, vi } from 'vitest';
import type { ExecOptions } from '../../src/contracts/jobs/job.ts';
import type { JobResult } from '../../src/contracts/jobs/result.ts';
import { createOrchestrator } from '../../src/jobs/create-orchestrator.ts';
import { BEST_LEVEL } from '../fixtures/levels.ts';
import { EVERY_LEVEL, everyRunner, requireEachLevel } from '../fixtures/every-level.ts';
import { programAnswer, scriptedModel } from '../fixtures/scripted-model.ts';
import { skillLibrary, skillText } from '../fixtures/skill-library.ts';

const library = skillLibrary(
  {
    'cite/SKILL.md': skillText({ name: 'cite', description: 'How we cite. Always.' }, '# Cite\n\nAs in [[S:1]].\n'),
    'cite/tools.yaml': 'tools:\n  - id: web.find\n    role: search\n    why: Finds sources.\n',
    'cite/sources.yaml': 'sources:\n  - sid: 1\n    url: https://example.org/rules\n    title: Rules\n',
    'cite/data/rows.txt': 'one\ntwo\nthree\n',
    'cite/data/raw.bin': { base64: 'AAH/' },
    'style/SKILL.md': skillText({ name: 'style', description: 'House style.' }, '# Style\n\nShort.\n'),
    'secret/SKILL.md': skillText({ name: 'secret', description: 'Secret plans.' }, '# Secret plan 4711\n'),
    'secret/plan.txt': 'secret plan 4711\n',
  },
  { agentsConfig: { 'test.reader': { disabled: ['custom.secret'] } } },
);
const cache = mkdtempSync(join(tmpdir(), 'disclosure-cache-'));
vi.stubEnv('XDG_CACHE_HOME', cache);
const runners = await everyRunner();
const orchestrator = createOrchestrator({ runners, skills: library.subsystem });
afterAll(async () => {
  await orchestrator.close();
  library[Symbol.dispose]();
  rmSync(cache, { recursive: true });
});

const NODE = `import { tools } from 'skillcell';
const attempt = (call) => call().catch((error) => [error.code, error.message]);
`;

describe.each(EVERY_LEVEL)('the tools of skills at level %s', (isolation) => {
  beforeEach((context) => requireEachLevel(context, isolation));
  const exec = (code: string, more: Partial<ExecOptions> = {}): Promise<JobResult> =>
    orchestrator.exec({
      isolation,
      tools: ['skills.*'],
      skills: { consumer: 'test.reader' },
      code: `${NODE}${code}`,
      ...more,
    });

  it('list the skills that the consumer may load, and load gives instructions, tools and files once', async () => {
    const { value, sources } = await exec(
      "export default [await tools.skills.list({}), await tools.skills.load({ skill: 'custom.cite' }), await tools.skills.load({ skill: 'skills.custom.cite' }), (await tools.skills.list({})).map(({ active }) => active)];",
    );
    expect(value).toEqual([
      [
        { id: 'custom.cite', name: 'cite', brief: 'How we cite.', active: false },
        { id: 'custom.style', name: 'style', brief: 'House style.', active: false },
      ],
      {
        id: 'custom.cite',
        status: 'loaded',
        instructions: '# Cite\n\nAs in [[S:1]].',
        tools: [{ id: 'web.find', role: 'search', why: 'Finds sources.' }],
        files: expect.arrayContaining([
          { path: 'SKILL.md', bytes: expect.any(Number) as number, executable: false },
          { path: 'data/rows.txt', bytes: 14, executable: false },
        ]) as unknown[],
      },
      { id: 'custom.cite', status: 'already active' },
      [true, false],
    ]);
    expect(sources).toMatchObject([{ sid: 1, url: 'https://example.org/rules' }]);
  });

  it('search finds skills that the consumer may load, and never a denied skill', async () => {
    const { value } = await exec(`await tools.skills.load({ skill: 'custom.cite' });
      export default [await tools.skills.search({ text: 'how do we cite?' }), await tools.skills.search({ text: 'secret plans 4711' }),
        await tools.skills.search({ text: '"*' , max: 1 }), await attempt(() => tools.skills.search({ text: 'x', max: 51 }))];`);
    const [cite, secret, none, refused] = value as [unknown, unknown, unknown, [string, string]];
    const shown = { id: 'custom.cite', name: 'cite', brief: 'How we cite.', snippet: 'How we cite. Always.' };
    expect(cite).toEqual([{ ...shown, score: expect.any(Number) as number, active: true }]);
    expect([secret, none]).toEqual([[], []]);
    expect(refused[0]).toBe('tool.invalid-arguments');
  });

  it('a skill that was only read is not active, and a loaded skill comes after the skills of the job', async () => {
    const load = "await tools.skills.load({ skill: 'custom.cite' });";
    const reading = await exec(`await tools.skills.read({ skill: 'custom.style', path: 'SKILL.md' }); ${load}`);
    expect(reading.skills.active).toEqual(['custom.cite']);
    const carrying = await exec(load, { skills: { consumer: 'test.reader', refs: ['custom.style'] } });
    expect(carrying.skills.active).toEqual(['custom.style', 'custom.cite']);
  });

  it('read files by lines and as bytes', async () => {
    const { value } =
      await exec(`const raw = await tools.skills.read({ skill: 'custom.cite', path: 'data/raw.bin', as: 'bytes' });
      export default [await tools.skills.read({ skill: 'custom.cite', path: 'data/rows.txt', offset: 1, limit: 1 }), [...raw.content],
        await attempt(() => tools.skills.read({ skill: 'custom.cite', path: 'data/raw.bin' })),
        await attempt(() => tools.skills.read({ skill: 'custom.cite', path: 'data/raw.bin', as: 'bytes', offset: 1 }))];`);
    const [text, raw, binary, ranged] = value as [object, number[], [string, string], [string, string]];
    expect(ranged[0]).toBe('tool.invalid-arguments');
    expect(ranged[1]).toContain('offset and limit count lines, which bytes have not');
    expect(text).toMatchObject({ text: 'two\n', offset: 1, lines: 3, more: true });
    expect(raw).toEqual([0, 1, 255]);
    expect(binary[0]).toBe('tool.failed');
    expect(binary[1]).toMatch(/binary|3 bytes/);
  });

  it('a denied skill gives the same error as an unknown skill in each tool, and reveals nothing', async () => {
    const result = await exec(`const rows = {};
      for (const skill of ['custom.secret', 'custom.absent']) {
        rows[skill] = [await attempt(() => tools.skills.load({ skill })), await attempt(() => tools.skills.read({ skill, path: 'plan.txt' }))];
      }
      export default rows;`);
    const { 'custom.secret': denied, 'custom.absent': unknown } = result.value as Record<string, [string, string][]>;
    expect(JSON.stringify(denied)).toBe(JSON.stringify(unknown).replaceAll('absent', 'secret'));
    expect(denied?.map(([code]) => code)).toEqual(['tool.failed', 'tool.failed']);
    expect(denied?.[0]?.[1]).toContain('there are custom.cite, custom.style');
    expect(JSON.stringify(result)).not.toContain('4711');
  });

  it('a bare name is accepted if one skill of the consumer has it', async () => {
    const { value } = await exec(`const ids = [];
      for (const skill of ['cite', 'House  Style', 'skills.style', 'sk:style', 'secret', 'twice'])
        ids.push(await tools.skills.load({ skill }).then(({ id, status }) => id + ' ' + status, ({ code }) => code));
      export default [...ids, (await tools.skills.read({ skill: 'cite', path: 'data/rows.txt' })).lines];`);
    const [failed, style] = ['tool.failed', 'custom.style'];
    expect(value).toEqual([
      'custom.cite loaded',
      failed,
      `${style} loaded`,
      `${style} already active`,
      failed,
      failed,
      3,
    ]);
  });

  it('E12 a path that leads out of the skill is refused', async () => {
    const paths = [
      '../secret/plan.txt',
      '/etc/hostname',
      'data/../../secret/plan.txt',
      'data\\\\rows.txt',
      '%2e%2e/secret/plan.txt',
      'data',
      'data/',
      './data/rows.txt',
    ];
    const { value } = await exec(
      `const rows = []; for (const path of ${JSON.stringify(paths)}) rows.push((await attempt(() => tools.skills.read({ skill: 'custom.cite', path })))[0]); export default rows;`,
    );
    expect(value).toEqual(paths.map(() => 'tool.failed'));
  });

  it('the skills of a codegen job are active from the start', async () => {
    const code =
      "import { tools } from 'skillcell';\nexport default [await tools.skills.load({ skill: 'custom.style' }), (await tools.skills.load({ skill: 'custom.cite' })).instructions];";
    const model = scriptedModel([programAnswer('javascript', code)]);
    await using own = createOrchestrator({ runners: await everyRunner(), skills: library.subsystem, model });
    const pool = [{ sid: 1, url: 'https://example.org/other' }];
    const result = await own.codegen({
      isolation,
      task: 'Load.',
      tools: ['skills.load'],
      skills: { refs: ['custom.style'], consumer: 'test.reader', pool },
    });
    // The given pool has number 1 already, so the skill's own source gets the next number.
    expect(result.value).toEqual([{ id: 'custom.style', status: 'already active' }, '# Cite\n\nAs in [[S:2]].']);
    expect(result.sources).toMatchObject([{ sid: 1 }, { sid: 2, url: 'https://example.org/rules' }]);
  });
});

it('a job that asks for an unknown skill gets as many whole names as fit, and the number of the others', async () => {
  const names = Array.from({ length: 40 }, (_, index) => `skill-with-a-long-name-${index + 10}`);
  using many = skillLibrary(
    Object.fromEntries(names.map((name) => [`${name}/SKILL.md`, skillText({ name, description: 'One.' }, '# One\n')])),
  );
  await using own = createOrchestrator({ runners, skills: many.subsystem });
  const { value } = await own.exec({
    isolation: BEST_LEVEL,
    tools: ['skills.*'],
    code: `${NODE}export default [await attempt(() => tools.skills.load({ skill: 'other' })), await attempt(() => tools.skills.load({ skill: 'x'.repeat(300) })), await attempt(() => tools.skills.run_script({ skill: 'other', script: 'a.py' }))];`,
    skills: { refs: names.map((name) => `custom.${name}`) },
  });
  const messages = (value as [string, string][]).map(([, message]) => message);
  const listed = names.slice(0, 9).map((name) => `custom.${name}`);
  expect(messages).toEqual([
    `There is no skill "other" here; there are ${listed.join(', ')} and 31 more.`,
    `There is no skill "${'x'.repeat(100)}" here; there are ${listed.join(', ')} and 31 more.`,
    `Cannot run a script: the skills of the job are ${listed.join(', ')} and 31 more, got "other".`,
  ]);
});

it('a job of an orchestrator without skills cannot ask for them', async () => {
  await using bare = createOrchestrator();
  await expect(bare.exec({ code: '1', tools: ['skills.list'] })).rejects.toMatchObject({ code: 'job.invalid' });
});
