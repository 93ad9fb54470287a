import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createSandboxTools } from '../../src/ai/index.ts';
import type { ModelGateway } from '../../src/models/model-gateway.ts';
import { removeTree } from '../../src/durable/remove-tree.ts';
import { evaluateSkill } from '../../src/evals/evaluate-skill.ts';
import { openSkillLibrary } from '../../src/library/open-skill-library.ts';
import type { SkillLibrary } from '../../src/library/snapshot/skill-library.ts';
import { createOrchestrator } from '../../src/jobs/create-orchestrator.ts';
import { createLocalRunner } from '../../src/sandboxes/local/local-runner.ts';
import { openTreeCache } from '../../src/library/stores/cache/tree-cache.ts';
import { createDirectoryStore } from '../../src/library/stores/directory/directory-store.ts';
import { writeTree } from '../conformance/write-tree.ts';
import { farAway } from '../fixtures/far-away.ts';
import { BEST_LEVEL, LEVELS, requireLevel } from '../fixtures/levels.ts';

let home: string;
let library: SkillLibrary;
const skill = (body: string): string =>
  `---\nname: units\ndescription: Units in reports.\nscripts: [scripts/unit.mjs]\n---\n${body}`;
const root = (): string => join(home, 'skills');

beforeEach(async () => {
  home = realpathSync(mkdtempSync(join(tmpdir(), 'skill-library-')));
  writeTree(root(), {
    'units/SKILL.md': skill('Give SI units.\n'),
    'units/scripts/unit.mjs': "console.log('SI');\n",
    'dates/SKILL.md': '---\nname: dates\ndescription: Dates in reports.\n---\nWrite ISO dates.\n',
  });
  const cacheDir = join(home, 'cache');
  const store = createDirectoryStore({ path: root(), kind: 'user', cache: openTreeCache(cacheDir) });
  library = await openSkillLibrary({ stores: [store], cacheDir });
});
afterEach(async () => {
  await library.close();
  removeTree(home);
});

const host = (more: object = {}) =>
  createOrchestrator({ skills: library, runners: [createLocalRunner()], allowUnisolated: true, ...more });

/** Changes the skill, and refreshes the library. */
async function change(unit: string): Promise<void> {
  writeFileSync(join(root(), 'units', 'SKILL.md'), skill(`Give ${unit} units.\n`));
  writeFileSync(join(root(), 'units', 'scripts', 'unit.mjs'), `console.log('${unit}');\n`);
  await library.refresh();
}

const READ = `import { readFileSync, readdirSync } from 'node:fs';
console.log(readdirSync(process.env.SKILLS_DIR + '/custom').join(), readFileSync(process.env.SKILLS_DIR + '/custom/units/SKILL.md', 'utf8').split('\\n').at(-2));`;

describe('createOrchestrator({ skills: library })', () => {
  it.for(LEVELS)('sends the skills that a job names, at level %s', async (isolation, context) => {
    requireLevel(context, isolation);
    await using orchestrator = host();
    const result = await orchestrator.exec({ code: READ, isolation, skills: { refs: ['custom.units'] } });
    expect([result.outcome, result.stdout.text.trim()]).toEqual(['succeeded', 'units Give SI units.']);
    const script = await orchestrator.script({ skill: 'custom.units', script: 'scripts/unit.mjs', isolation });
    expect(script.stdout.text.trim()).toBe('SI');
  });

  it('gives a job the state of the library at its submission, and the next job the new state', async () => {
    await using orchestrator = host();
    const options = { code: READ, isolation: BEST_LEVEL, skills: { refs: ['custom.units'] } };
    const job = await orchestrator.exec(options);
    await change('US');
    const second = await orchestrator.exec(options);
    expect([job, second].map(({ stdout }) => stdout.text.trim())).toEqual([
      'units Give SI units.',
      'units Give US units.',
    ]);
  });

  it('keeps the snapshot of a codegen job while it waits for its model', async () => {
    const seen: string[] = [];
    let turns = 0;
    const model: ModelGateway = {
      id: 'example/fixed',
      async generate({ system }) {
        seen.push(/Give \w+ units/.exec(system)?.[0] ?? 'none');
        await change('US');
        turns += 1;
        const code =
          turns === 1
            ? 'throw new Error("again");'
            : `import { readFileSync } from 'node:fs';\nconsole.log(readFileSync(process.env.SKILLS_DIR + '/custom/units/SKILL.md', 'utf8').split('\\n').at(-2));`;
        const usage = { inputTokens: null, outputTokens: null };
        return { text: `\`\`\`javascript\n${code}\n\`\`\``, model: 'example/fixed', usage, finishReason: 'stop' };
      },
    };
    await using orchestrator = host({ model });
    const given = { task: 'Units.', isolation: BEST_LEVEL, skills: { refs: ['custom.units'] } };
    const { outcome, stdout } = await orchestrator.codegen(given);
    expect([outcome, stdout.text.trim()]).toEqual(['succeeded', 'Give SI units.']);
    expect(seen[0]).toBe('Give SI units');
    await orchestrator.codegen(given);
    expect(seen.at(-1)).toBe('Give US units');
  });

  it('keeps the snapshot of a session to its end', async () => {
    await using orchestrator = host();
    await using session = await orchestrator.session({ isolation: BEST_LEVEL, skills: { refs: ['custom.units'] } });
    await change('US');
    const { value } = await session.run(
      "require('node:fs').readFileSync(process.env.SKILLS_DIR + '/custom/units/SKILL.md', 'utf8').split('\\n').at(-2)",
    );
    expect(value).toBe('Give SI units.');
  });

  it('refuses a job during an outage', async () => {
    await using orchestrator = host();
    rmSync(root(), { recursive: true });
    await library.refresh().catch(() => undefined);
    await expect(
      orchestrator.exec({ code: '1', isolation: BEST_LEVEL, skills: { refs: ['custom.units'] } }),
    ).rejects.toMatchObject({ code: 'store.unavailable' });
  });

  it('generates answers with the current skills', async () => {
    const seen: string[] = [];
    const model: ModelGateway = {
      id: 'example/fixed',
      async generate({ system }) {
        seen.push(/Give \w+ units/.exec(system)?.[0] ?? 'none');
        const usage = { inputTokens: null, outputTokens: null };
        return { text: 'Yes.', model: 'example/fixed', usage, finishReason: 'stop' };
      },
    };
    await using orchestrator = host({ model });
    const given = { prompt: 'Units?', consumer: 'llm', skills: ['custom.units'] };
    await orchestrator.generate(given);
    await change('US');
    await orchestrator.generate(given);
    expect(seen).toEqual(['Give SI units', 'Give US units']);
  });

  it('gives tools of the AI SDK the current skills', async () => {
    await using orchestrator = host();
    await using tools = createSandboxTools(orchestrator);
    const call = async (name: 'list_skills' | 'load_skill', input: object): Promise<string> =>
      JSON.stringify(await tools[name]?.execute?.(input as never, { toolCallId: '1', messages: [] } as never));
    expect(await call('list_skills', {})).toContain('custom.dates');
    expect(await call('load_skill', { skill: 'custom.units' })).toContain('Give SI units');
    await change('US');
    expect(await call('load_skill', { skill: 'custom.units' })).toContain('Give US units');
  });

  it('can be evaluated', async () => {
    writeTree(root(), {
      'units/evals/evals.json': JSON.stringify({
        skill_name: 'units',
        evals: [{ id: 'one', prompt: 'Hand back 1.', assertions: [{ type: 'value-equals', value: 1 }] }],
      }),
    });
    await library.refresh();
    const model: ModelGateway = {
      id: 'example/fixed',
      async generate({ system }) {
        const value = system.includes('Give SI units') ? 1 : 0;
        const usage = { inputTokens: null, outputTokens: null };
        return { text: `\`\`\`javascript\nexport default ${value};\n\`\`\``, model: 'x', usage, finishReason: 'stop' };
      },
    };
    const orchestrator = { runners: [createLocalRunner()], allowUnisolated: true };
    const job = { isolation: BEST_LEVEL };
    const { sides } = await evaluateSkill({
      skills: library,
      skill: 'custom.units',
      model,
      runs: 1,
      orchestrator,
      job,
    });
    expect(sides.map(({ passRate }) => passRate)).toEqual([1, 0]);
  });

  describe('over a store that lists only heads', () => {
    let asked: string[];
    let far: SkillLibrary;
    const opened = (): string[] => asked.splice(0).filter((call) => call.startsWith('open'));

    beforeEach(async () => {
      writeTree(root(), {
        'maps/SKILL.md':
          '---\nname: maps\ndescription: Maps.\ntriggers: { keywords: [meridian] }\nimport: [custom.dates]\n---\nNorth is up.\n',
        'safe/SKILL.md': '---\nname: safe\ndescription: The safe.\n---\nIt opens with 4711.\n',
      });
      asked = [];
      const store = createDirectoryStore({ path: root(), kind: 'user', cache: openTreeCache(join(home, 'far')) });
      const descriptor = { agents_config: { '*': { disabled: ['custom.safe'] } } };
      far = await openSkillLibrary({ stores: [farAway(store, asked)], cacheDir: join(home, 'far'), descriptor });
    });
    afterEach(() => far.close());

    const says = (text: string): ModelGateway => ({
      id: 'example/fixed',
      async generate() {
        const usage = { inputTokens: null, outputTokens: null };
        return { text, model: 'example/fixed', usage, finishReason: 'stop' };
      },
    });

    it('fetches the skills that match a task, with their imports, and nothing else', async () => {
      await using orchestrator = host({ skills: far });
      const { outcome, skills } = await orchestrator.codegen({
        task: 'Draw the meridian.',
        dryRun: true,
        isolation: BEST_LEVEL,
        skills: { match: true },
      });
      expect([outcome, skills.active]).toEqual(['succeeded', ['custom.dates', 'custom.maps']]);
      expect(opened().toSorted()).toEqual(['open dates', 'open maps']);
      expect(
        (await orchestrator.codegen({ task: 'Wait.', dryRun: true, isolation: BEST_LEVEL, skills: { match: true } }))
          .outcome,
      ).toBe('succeeded');
      expect(opened()).toEqual([]);
    });

    it('fetches a skill when the code of a job loads it, and never a denied skill', async () => {
      await using orchestrator = host({ skills: far });
      const code = `import { tools } from 'skillcell';
console.log((await tools.skills.list({})).map(({ id }) => id).join());
console.log((await tools.skills.load({ skill: 'custom.maps' })).instructions.trim());
console.log((await tools.skills.read({ skill: 'custom.dates', path: 'SKILL.md' })).text.includes('ISO'));
await tools.skills.load({ skill: 'custom.safe' }).catch((error) => console.log(error.message.includes('no skill')));`;
      const job = { code, isolation: BEST_LEVEL, tools: ['skills.*'] };
      const { stdout, skills } = await orchestrator.exec(job);
      expect(stdout.text.trim().split('\n')).toEqual([
        'custom.dates,custom.maps,custom.units',
        'North is up.',
        'true',
        'true',
      ]);
      expect(skills.active).toEqual(['custom.maps']);
      expect(opened().toSorted()).toEqual(['open dates', 'open maps']);
    });

    it('refuses to load a skill that changed after the submission of the job', async () => {
      const model = says(`\`\`\`javascript
import { tools } from 'skillcell';
console.log(await tools.skills.load({ skill: 'custom.units' }).catch((error) => error.message));
\`\`\``);
      const changing: ModelGateway = {
        ...model,
        async generate(request, options) {
          writeFileSync(join(root(), 'units', 'SKILL.md'), skill('Give US units.\n'));
          await far.refresh();
          return await model.generate(request, options);
        },
      };
      await using orchestrator = host({ skills: far, model: changing });
      const job = { task: 'Units.', isolation: BEST_LEVEL, tools: ['skills.load'] };
      const { stdout } = await orchestrator.codegen(job);
      expect(stdout.text.trim()).toBe('Cannot load custom.units as it was: it has changed since.');
    });

    it('fetches the skills that a decision chooses', async () => {
      const answers = ['{"skills":["SK2"]}', '{"action":"text","text":"Up."}'];
      const seen: string[] = [];
      const model: ModelGateway = {
        id: 'example/fixed',
        async generate({ system }) {
          seen.push(system);
          const usage = { inputTokens: null, outputTokens: null };
          return {
            text: `\`\`\`skillcell-decision\n${answers.shift()}\n\`\`\``,
            model: 'x',
            usage,
            finishReason: 'stop',
          };
        },
      };
      await using orchestrator = host({ skills: far, model });
      const result = await orchestrator.codegen({ task: 'Where is north?', select: true, isolation: BEST_LEVEL });
      expect(result.decision?.rounds.length).toBe(2);
      expect(seen[1]).toContain('North is up.');
      expect(opened().toSorted()).toEqual(['open dates', 'open maps']);
    });
  });

  it('refuses a value that is neither skills nor a library', () => {
    expect(() => createOrchestrator({ skills: {} as never })).toThrow(/loadSkillsSubsystem or openSkillLibrary/);
  });
});
