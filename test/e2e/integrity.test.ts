import { createHash } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { buildRuntime, type RuntimeManifest } from '../../scripts/build-runtime.ts';
import type { ModelGateway } from '../../src/models/model-gateway.ts';
import { openaiCompatibleGateway } from '../../src/models/gateways/create-model-gateway.ts';
import type { JobEvent } from '../../src/contracts/jobs/events.ts';
import type { JobResult } from '../../src/contracts/jobs/result.ts';
import { createOrchestrator } from '../../src/jobs/create-orchestrator.ts';
import { createLocalRunner } from '../../src/sandboxes/local/local-runner.ts';
import { cachedRuntime } from '../../src/sandboxes/local/runtime-cache.ts';
import type { Runner } from '../../src/sandboxes/runner.ts';
import type { RuntimeBundle } from '../../src/sandboxes/runtime-bundle.ts';
import { LEVELS, requireLevel } from '../fixtures/levels.ts';
import { startModelStandIn, type ModelStandIn } from '../fixtures/model-stand-in.ts';
import { skillLibrary, skillText, type SkillLibrary } from '../fixtures/skill-library.ts';

const CANARY = 'CANARY-9f31c7-of-a-denied-skill';
const ANSWER = '```javascript\nconsole.log("written by the model");\n```';

let folder: string;
let model: ModelStandIn;
let library: SkillLibrary;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'integrity-'));
  model = await startModelStandIn(() => ANSWER);
});
afterAll(async () => {
  await model.close();
  rmSync(folder, { recursive: true });
});
beforeEach(() => {
  model.requests.length = 0;
  library = skillLibrary(
    {
      'good/SKILL.md': skillText({ name: 'good', description: 'Good.', import: ['custom.part'] }, 'Do good.'),
      'good/data.txt': 'some data',
      'part/SKILL.md': skillText({ name: 'part', description: 'Part.' }, 'A part.'),
      'secret/SKILL.md': skillText({ name: 'secret', description: CANARY, tags: [CANARY] }, `${CANARY}\n`),
      'secret/data.txt': CANARY,
      'secret/compact.md': CANARY,
      'secret/sources.yaml': `sources:\n  - { sid: 1, url: "https://example.org/${CANARY}", title: "${CANARY}" }\n`,
      'wants/SKILL.md': skillText(
        { name: 'wants', description: 'Wants.', import: ['custom.secret'] },
        'Wants the secret.',
      ),
    },
    { agentsConfig: { 'solver.codegen': { disabled: ['custom.secret'] } } },
  );
  return () => library[Symbol.dispose]();
});

const gateway = (): ModelGateway =>
  openaiCompatibleGateway({ provider: 'openai-compatible', model: 'm', baseUrl: model.baseUrl, apiKey: 'key' });

/** Counts the sandboxes that a runner starts. */
function counting(runner: Runner): { runner: Runner; starts(): number } {
  let starts = 0;
  return {
    starts: () => starts,
    runner: {
      ...runner,
      start(spec, options) {
        starts += 1;
        return runner.start(spec, options);
      },
    },
  };
}

describe('a renderer that differs in the sandbox', () => {
  let bundle: RuntimeBundle;

  beforeAll(async () => {
    const built = join(folder, 'changed');
    await buildRuntime(built);
    // Changes one byte of one string of the renderer, in each file that contains it.
    const marker = '[END ACTIVE SKILLS]';
    const parts = readdirSync(built).filter(
      (file) => /^entry.*\.cjs$/.test(file) && readFileSync(join(built, file), 'utf8').includes(marker),
    );
    expect(parts).toHaveLength(1);
    const part = parts[0] ?? '';
    const text = readFileSync(join(built, part), 'utf8');
    const changed = text.replaceAll(marker, '[END ACTIVE SKILLs]');
    expect(changed.length).toBe(text.length);
    writeFileSync(join(built, part), changed);
    const manifest = JSON.parse(readFileSync(join(built, 'manifest.json'), 'utf8')) as RuntimeManifest;
    const files = { ...manifest.files, [part]: createHash('sha256').update(changed).digest('hex') };
    const lines = Object.entries(files).map(([name, digest]) => `${digest}  ${name}\n`);
    const digest = `sha256:${createHash('sha256').update(lines.join('')).digest('hex')}`;
    writeFileSync(join(built, 'manifest.json'), JSON.stringify({ digest, files }));
    bundle = { folder: built, digest, files };
  });

  it.for(LEVELS)('is refused at level %s, before the model is asked', async (isolation, context) => {
    requireLevel(context, isolation);
    await using orchestrator = createOrchestrator({
      skills: library.subsystem,
      model: gateway(),
      runners: [createLocalRunner({ bundle })],
    });
    const job = orchestrator.stream({ kind: 'codegen', isolation, task: 't', skills: { refs: ['custom.good'] } });
    const types: string[] = [];
    for await (const { type } of job) types.push(type);
    await expect(job.result).rejects.toMatchObject({ code: 'skills.instruction-mismatch', entry: { exitCode: 4 } });
    expect(types).not.toContain('run');
    expect(types.at(-1)).toBe('faulted');
    expect(model.requests).toEqual([]);
    // Without skills nothing is rendered, and the same bundle works.
    const plain = await orchestrator.codegen({ isolation, task: 't' });
    expect(plain).toMatchObject({ outcome: 'succeeded', stdout: { text: 'written by the model\n' } });
    if (isolation === 'namespace') rmSync(await cachedRuntime(bundle), { recursive: true });
  });
});

describe.each(LEVELS)('at level %s', (isolation) => {
  beforeEach((context) => requireLevel(context, isolation));

  it('the agent renders by itself, without the host\u2019s renderer after the job is accepted', async () => {
    const { subsystem } = library;
    let accepted = false;
    let rendered = 0;
    const real = subsystem.buildSkillsInstructionBlock.bind(subsystem);
    const guarded = new Proxy(subsystem, {
      get(target, key) {
        if (accepted) throw new Error('the host\u2019s skills were used after the job was accepted');
        // The skills are whole already.
        if (key === 'withWhole') return async () => guarded;
        if (key === 'buildSkillsInstructionBlock') {
          return (...args: Parameters<typeof real>) => {
            rendered += 1;
            return real(...args);
          };
        }
        const value: unknown = Reflect.get(target, key, target);
        return typeof value === 'function' ? value.bind(target) : value;
      },
    });
    await using orchestrator = createOrchestrator({ skills: guarded, model: gateway() });
    const job = orchestrator.stream({ kind: 'codegen', isolation, task: 't', skills: { refs: ['custom.good'] } });
    for await (const { type } of job) if (type === 'accepted') accepted = true;
    const result = await job.result;
    expect(rendered).toBe(1);
    expect(result).toMatchObject({ outcome: 'succeeded', stdout: { text: 'written by the model\n' } });
    const block = real({ refs: ['custom.good'], consumer: 'solver.codegen' });
    expect(model.requests[0]?.system).toContain(block.text);
    expect(result.skills.instructionSha256).toBe(block.sha256);
    expect(() => guarded.skills).toThrow('after the job was accepted');
  });

  it.each([
    ['a changed byte', () => writeFileSync(join(library.root, 'good/data.txt'), 'sOme data')],
    [
      'a changed byte of an imported skill',
      () =>
        writeFileSync(
          join(library.root, 'part/SKILL.md'),
          skillText({ name: 'part', description: 'Part.' }, 'A fart.'),
        ),
    ],
    ['a longer file', () => writeFileSync(join(library.root, 'good/data.txt'), 'some data and more')],
    ['a missing file', () => rmSync(join(library.root, 'good/data.txt'))],
  ])('%s between load and job stops the job before a program or a model runs', async (_name, change) => {
    change();
    await using orchestrator = createOrchestrator({ skills: library.subsystem, model: gateway() });
    for (const job of [
      { kind: 'exec' as const, code: 'console.log("ran")', isolation, skills: { refs: ['custom.good'] } },
      { kind: 'codegen' as const, task: 't', isolation, skills: { refs: ['custom.good'] } },
    ]) {
      const stream = orchestrator.stream({ ...job, output: join(folder, 'out') });
      const events: JobEvent[] = [];
      for await (const event of stream) events.push(event);
      await expect(stream.result).rejects.toMatchObject({ code: 'skills.digest-mismatch' });
      for (const type of ['run', 'output', 'artifact', 'finished'])
        expect(events.map((event) => event.type)).not.toContain(type);
    }
    expect(model.requests).toEqual([]);
    // An unchanged skill still works.
    expect((await orchestrator.exec({ code: '1', isolation })).outcome).toBe('succeeded');
  });

  it('a canary of a skill that the consumer may not see is in no file, prompt, result, event or log', async () => {
    let log = '';
    await using orchestrator = createOrchestrator({
      skills: library.subsystem,
      model: gateway(),
      logger: pino({ level: 'trace' }, { write: (line) => void (log += line) }),
    });
    const skills = { refs: ['custom.wants', 'custom.good'] };
    // The program gets the canary in two pieces, so that the search does not find its own text.
    const [head, tail] = [CANARY.slice(0, 9), CANARY.slice(9)];
    const places = isolation === 'namespace' ? '/' : '"$WORKSPACE/.."';
    const search = await orchestrator.exec({
      isolation,
      language: 'bash',
      skills,
      code: `find ${places} \\( -path /usr -o -path /proc \\) -prune -o -type f -readable -print0 2>/dev/null \\
  | xargs -0 grep -D skip -alF -- ${head}""${tail} 2>/dev/null
find ${places} \\( -path /usr -o -path /proc \\) -prune -o -name '*secret*' -print 2>/dev/null
echo searched; test -r "$SKILLS_DIR/custom/good/SKILL.md" && echo readable`,
    });
    expect(search.stdout.text).toBe('searched\nreadable\n');
    const memory = await orchestrator.exec({
      isolation,
      skills,
      code: `import { readdirSync, readFileSync } from 'node:fs';
        const found = [];
        for (const pid of ['self', ...readdirSync('/proc').filter((name) => /^\\d+$/.test(name))]) {
          for (const file of ['environ', 'cmdline', 'comm', 'status', 'mountinfo', 'maps', 'cgroup', 'stat']) {
            try { if (readFileSync('/proc/' + pid + '/' + file, 'latin1').includes('${head}' + '${tail}')) found.push(pid + file); } catch {}
          }
        }
        export default found;`,
    });
    expect(memory.value).toEqual([]);
    const written = await orchestrator.codegen({ isolation, task: 't', skills });
    expect(written.outcome).toBe('succeeded');
    expect(model.requests).toHaveLength(1);
    const dry = await orchestrator.codegen({ isolation, task: 't', skills, dryRun: true });
    const results: JobResult[] = [search, memory, written, dry];
    for (const text of [log, model.requests[0]?.raw ?? '', JSON.stringify(results)]) {
      expect(text).not.toContain(CANARY);
      expect(text.length).toBeGreaterThan(100);
    }
    expect(written.skills.active).toEqual(['custom.wants', 'custom.part', 'custom.good']);
    expect(written.diagnostics).toContainEqual(
      expect.objectContaining({ code: expect.stringMatching(/denied/) as string }),
    );
    // The check can fail: a consumer that may see the skill has the canary in its prompt.
    const allowed = await orchestrator.codegen({
      isolation,
      task: 't',
      dryRun: true,
      skills: { ...skills, consumer: 'solver.other' },
    });
    expect(JSON.stringify(allowed)).toContain(CANARY);
  });

  it.each<[string, string[], string]>([
    ['denied', ['custom.good', 'custom.secret'], 'skills.reference-denied'],
    ['denied by a short form', ['sk:custom.secret'], 'skills.reference-denied'],
    ['unknown', ['custom.none'], 'skills.reference-unknown'],
    ['a number of a catalog that this job was not shown', ['SK1'], 'skills.reference-unknown'],
    ['a path', ['../secret'], 'skills.reference-unknown'],
    ['empty', [''], 'skills.reference-unknown'],
  ])('a reference that is %s stops the job before a sandbox starts', async (_name, refs, code) => {
    const { runner, starts } = counting(createLocalRunner());
    await using orchestrator = createOrchestrator({ skills: library.subsystem, model: gateway(), runners: [runner] });
    for (const job of [
      { kind: 'exec' as const, code: '1' },
      { kind: 'codegen' as const, task: 't' },
    ]) {
      const stream = orchestrator.stream({ ...job, isolation, skills: { refs } });
      const types: string[] = [];
      for await (const { type } of stream) types.push(type);
      expect(types).toEqual(['faulted']);
      await expect(stream.result).rejects.toMatchObject({ code, entry: { exitCode: 2 } });
    }
    expect(starts()).toBe(0);
    expect(model.requests).toEqual([]);
  });
});
