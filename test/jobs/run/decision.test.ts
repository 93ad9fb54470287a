import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterAll, describe, expect, it } from 'vitest';
import type { ModelGateway } from '../../../src/models/model-gateway.ts';
import { openaiCompatibleGateway } from '../../../src/models/gateways/create-model-gateway.ts';
import { recordingGateway } from '../../../src/models/recordings/recording-gateway.ts';
import type { JobEvent } from '../../../src/contracts/jobs/events.ts';
import type { JobResult } from '../../../src/contracts/jobs/result.ts';
import { createOrchestrator } from '../../../src/jobs/create-orchestrator.ts';
import { BEST_LEVEL } from '../../fixtures/levels.ts';
import { startModelStandIn, type StandInAnswer } from '../../fixtures/model-stand-in.ts';
import { scriptedModel } from '../../fixtures/scripted-model.ts';
import { skillLibrary, skillText } from '../../fixtures/skill-library.ts';

const sources = (url: string): string => `- sid: 1\n  url: ${url}\n  title: T\n`;
const library = skillLibrary(
  {
    'bars/SKILL.md': skillText({ name: 'bars', description: 'Bars.' }, 'DRAW BARS [[S:1]]'),
    'bars/sources.yaml': sources('https://bars.example/'),
    'planning/SKILL.md': skillText({ name: 'planning', description: 'Plans.' }, 'PLAN FIRST [[S:1]]'),
    'planning/sources.yaml': sources('https://plans.example/'),
    'secret/SKILL.md': skillText({ name: 'secret', description: 'Secret.' }, 'SECRET'),
  },
  {
    agentsConfig: {
      'solver.react.decision': { disabled: ['custom.secret'] },
      'solver.codegen': { disabled: ['custom.planning'] },
    },
  },
);
afterAll(() => library[Symbol.dispose]());

const isolation = BEST_LEVEL;
const block = (value: object): string => `\`\`\`skillcell-decision\n${JSON.stringify(value)}\n\`\`\``;

/** Codes of diagnostics, except about limits, which differ between levels. */
function codesOf({ diagnostics }: JobResult): string[] {
  return diagnostics.map(({ code }) => code).filter((code) => !code.startsWith('limit.'));
}

describe('a job with select', () => {
  it('refuses a text over the limit of values, and keeps as much of a text as of other output', async () => {
    const model = scriptedModel([
      block({ action: 'text', text: 'x'.repeat(99) }),
      block({ action: 'text', text: 'é'.repeat(20) }),
    ]);
    await using orchestrator = createOrchestrator({ model });
    const limits = { valueBytes: 100, keptOutputBytes: 21 };
    const result = await orchestrator.codegen({ task: 'Say it.', select: true, limits });
    expect(result).toMatchObject({
      outcome: 'succeeded',
      value: 'é'.repeat(20),
      stdout: { text: 'é'.repeat(10), bytes: 41, truncated: true },
    });
    expect(result.decision?.rounds).toHaveLength(2);
    expect(model.asked[1]?.messages.at(-1)?.content).toContain(
      'Its text is too long: 101 bytes of JSON, and 100 are taken.',
    );
  });

  it('sends only the chosen skills into its sandbox', async () => {
    const code = `import { readdirSync } from 'node:fs';
import { mkdirSync, writeFileSync } from 'node:fs';
writeFileSync(process.env.SKILLCELL_OUTPUT + '/bars.txt', '||');
export default readdirSync(process.env.SKILLS_DIR, { recursive: true }).sort();`;
    const model = scriptedModel([
      block({ skills: ['SK2', 'SK1', 'custom.secret'] }),
      block({ skills: ['SK2', 'SK1'] }),
      block({ action: 'codegen', task: 'Draw the bars.', outputs: ['bars.txt'] }),
      `\`\`\`javascript\n${code}\n\`\`\``,
    ]);
    await using orchestrator = createOrchestrator({ skills: library.subsystem, model });
    const result = await orchestrator.codegen({ isolation, task: 'Show me the sales.', select: true });
    expect(result).toMatchObject({
      outcome: 'succeeded',
      value: ['custom', 'custom/bars', 'custom/bars/SKILL.md', 'custom/bars/sources.yaml'],
      contract: { satisfied: true, missing: [] },
      skills: { active: ['custom.bars'] },
      codegen: { attempts: [{ outcome: 'succeeded' }] },
    });
    expect(codesOf(result)).toEqual(['decision.skill-denied']);
    expect(result.decision).toEqual({
      catalogDigest: library.subsystem.catalog({ consumer: 'solver.react.decision' }).digest,
      rounds: [
        {
          promptSha256: expect.stringMatching(/^[0-9a-f]{64}$/) as string,
          usage: { inputTokens: 5, outputTokens: 3 },
          chosen: [
            { ref: 'SK2', id: 'custom.planning', status: 'loaded' },
            { ref: 'SK1', id: 'custom.bars', status: 'loaded' },
            { ref: 'custom.secret', id: 'custom.secret', status: 'denied', reason: expect.any(String) as string },
          ],
          fault: expect.any(String) as string,
        },
        expect.objectContaining({ chosen: [expect.anything(), expect.anything()] }),
        expect.objectContaining({ chosen: [] }),
      ],
      action: 'codegen',
      handover: {
        task: 'Draw the bars.',
        outputs: ['bars.txt'],
        skills: [
          { ref: 'custom.planning', id: 'custom.planning', status: 'denied', reason: expect.any(String) as string },
          { ref: 'custom.bars', id: 'custom.bars', status: 'loaded' },
        ],
      },
    });
    const written = model.asked.at(-1);
    expect(written?.messages[0]?.content).toMatch(/^Draw the bars\./);
    expect(written?.messages[0]?.content).not.toContain('Show me the sales');
    expect(written?.messages[0]?.content).toContain('"bars.txt"');
    expect(written?.system).toContain('DRAW BARS');
    expect(written?.system).not.toMatch(/PLAN FIRST|SECRET/);
    // One turn has one pool: the source keeps the number that the decision has seen.
    expect(model.asked[2]?.system).toMatch(/PLAN FIRST \[\[S:1\]\][\s\S]*DRAW BARS \[\[S:2\]\]/);
    expect(written?.system).toContain('DRAW BARS [[S:2]]');
    expect(result.sources.map(({ url }) => url)).toEqual(['https://plans.example/', 'https://bars.example/']);
  });

  it('gets the tools that a chosen skill brings, if it asks for them', async () => {
    using tooled = skillLibrary({
      'ruler/SKILL.md': skillText({ name: 'ruler', description: 'Rules.', toolsets: ['tools:Tools'] }, 'RULE'),
      'ruler/tools.mjs':
        "export const Tools = [{ id: 'length', description: 'A length.', execute: ({ of }) => of.length }];",
    });
    const code = "import { tools } from 'skillcell';\nexport default await tools.call('length', { of: 'four' });";
    const answers = (skills: string[]): string[] => [
      block({ skills }),
      block({ action: 'codegen', task: 'Measure.' }),
      `\`\`\`js\n${code}\n\`\`\``,
    ];
    const job = { isolation, task: 'How long is it?', select: true, tools: ['length'], maxAttempts: 1 };
    await using chosen = createOrchestrator({ skills: tooled.subsystem, model: scriptedModel(answers(['SK1'])) });
    const served = await chosen.codegen(job);
    expect(served).toMatchObject({ outcome: 'succeeded', value: 4 });
    expect(codesOf(served)).toEqual([]);
    await using without = createOrchestrator({ skills: tooled.subsystem, model: scriptedModel(answers([])) });
    const unserved = await without.codegen(job);
    expect(unserved).toMatchObject({
      outcome: 'failed',
      error: { message: expect.stringContaining('does not have the tool') as string },
    });
    expect(codesOf(unserved)).toEqual(['decision.tool-unknown']);
  });

  it('keeps its own skills and outputs', async () => {
    const model = scriptedModel([
      block({ skills: ['SK1'] }),
      block({ action: 'codegen', task: 'Go.', outputs: ['b.txt', 'a.txt'] }),
      '```js\nexport default 1;\n```',
    ]);
    await using orchestrator = createOrchestrator({ skills: library.subsystem, model });
    const result = await orchestrator.codegen({
      isolation,
      task: 'Do it.',
      select: { consumer: 'other' },
      expect: ['a.txt'],
      skills: { refs: ['custom.secret'] },
      maxAttempts: 1,
    });
    expect(result.skills.active).toEqual(['custom.secret', 'custom.bars']);
    expect(result).toMatchObject({ outcome: 'failed', contract: { missing: ['a.txt', 'b.txt'] } });
    expect(result.decision?.catalogDigest).toBe(library.subsystem.catalog({ consumer: 'other' }).digest);
  });

  it('answers with a text without a sandbox', async () => {
    const model = scriptedModel([block({ skills: ['SK2'] }), block({ action: 'text', text: 'By bars. [[S:1]]' })]);
    await using orchestrator = createOrchestrator({ skills: library.subsystem, model });
    const job = orchestrator.stream({ kind: 'codegen', isolation: 'kernel', task: 'How?', select: true });
    const events: JobEvent[] = [];
    for await (const event of job) events.push(event);
    const { jobId } = job;
    const result = await job.result;
    expect(result).toMatchObject({
      outcome: 'succeeded',
      value: 'By bars. [[S:1]]',
      stdout: { text: 'By bars. [[S:1]]\n', bytes: 17, truncated: false },
      skills: { active: ['custom.planning'], digest: null },
      sources: [{ sid: 1, url: 'https://plans.example/' }],
      codegen: { attempts: [] },
      decision: { action: 'text' },
    });
    expect(events.map(({ type }) => type)).toEqual([
      'accepted',
      ...['prompt', 'text', 'prompt', 'text', 'decision'],
      'finished',
    ]);
    expect(events.slice(3, 6)).toEqual([
      { type: 'prompt', jobId, stage: 'decision', round: 2, promptSha256: result.decision?.rounds[1]?.promptSha256 },
      { type: 'text', jobId, stage: 'decision', round: 2, text: block({ action: 'text', text: 'By bars. [[S:1]]' }) },
      { type: 'decision', jobId, decision: result.decision },
    ]);
    expect(events.at(-1)).toMatchObject({ type: 'finished', result: { outcome: 'succeeded' } });
  });

  it('is decided on by its own consumer and catalog, even among many concurrent jobs', async () => {
    const names = ['one', 'two', 'three', 'four'];
    using many = skillLibrary(
      Object.fromEntries(
        names.map((name) => [`${name}/SKILL.md`, skillText({ name, description: `For ${name}.` }, `BODY OF ${name}`)]),
      ),
      { agentsConfig: Object.fromEntries(names.map((name) => [`c.${name}`, { enabled: [`custom.${name}`] }])) },
    );
    const model: ModelGateway = {
      id: 'test/model',
      async generate({ system, messages }) {
        await new Promise((resolve) => setTimeout(resolve, Math.random() * 20));
        const bodies = [...system.matchAll(/BODY OF (\w+)/g)].map(([, name]) => name);
        const said = `${/TASK \d+/.exec(messages[0]?.content ?? '')?.[0]} ${bodies.join()}`;
        const text = messages.length === 1 ? block({ skills: ['SK1'] }) : block({ action: 'text', text: said });
        return { text, model: 'test/model', usage: { inputTokens: 1, outputTokens: 1 }, finishReason: 'stop' };
      },
    };
    await using orchestrator = createOrchestrator({ skills: many.subsystem, model, concurrency: 20 });
    const jobs = Array.from({ length: 100 }, async (_, index) => {
      const name = names[(index * 7) % names.length] ?? '';
      const job = orchestrator.stream({ kind: 'codegen', task: `TASK ${index}`, select: { consumer: `c.${name}` } });
      const ids = new Set<string>();
      for await (const event of job) ids.add(event.jobId);
      const { value, skills, decision } = await job.result;
      expect(ids).toEqual(new Set([job.jobId]));
      expect({ value, active: skills.active }).toEqual({ value: `TASK ${index} ${name}`, active: [`custom.${name}`] });
      expect(decision?.catalogDigest).toBe(many.subsystem.catalog({ consumer: `c.${name}` }).digest);
    });
    await Promise.all(jobs);
  });

  it('fails if no answer is valid', async () => {
    const model = scriptedModel(['I would rather not.', 'No.']);
    await using orchestrator = createOrchestrator({ skills: library.subsystem, model });
    const result = await orchestrator.codegen({ isolation, task: 'How?', select: true, expect: ['a.md'] });
    expect(result).toMatchObject({
      outcome: 'failed',
      error: { name: 'DecisionError', message: expect.stringContaining('no fenced code block') as string },
      contract: { satisfied: false, missing: ['a.md'] },
      decision: { action: null, rounds: [{}, {}] },
    });
  });

  it('obeys the clock of its job and of each request, and can be canceled', async () => {
    const never = (): Promise<string> => new Promise(() => undefined);
    const model = scriptedModel([block({ skills: [] }), never, never, never]);
    await using orchestrator = createOrchestrator({ skills: library.subsystem, model });
    const job = { isolation, task: 'How?', select: true } as const;
    expect(await orchestrator.codegen({ ...job, limits: { modelTimeoutMs: 50 } })).toMatchObject({
      outcome: 'timeout',
      error: { name: 'ModelTimeout' },
      decision: { rounds: [{}] },
    });
    expect(await orchestrator.codegen({ ...job, limits: { jobTimeoutMs: 50 } })).toMatchObject({
      outcome: 'timeout',
      error: { name: 'JobTimeout', message: 'The job took longer than 0.05 s.' },
    });
    const stream = orchestrator.stream({ kind: 'codegen', ...job });
    setTimeout(() => orchestrator.cancel(stream.jobId, 'enough'), 50);
    expect(await stream.result).toMatchObject({
      outcome: 'canceled',
      error: { message: 'enough' },
      decision: { rounds: [] },
    });
  });

  it.each([
    [{ select: 'yes' }, 'select must be true or { consumer?, model? }'],
    [{ select: { consumers: 'x' } }, 'select'],
    [{ select: { consumer: '../x' } }, 'select'],
    [{ select: true, dryRun: true }, 'a dry run asks none'],
  ])('%j is refused', async (more, message) => {
    const model = scriptedModel([]);
    await using orchestrator = createOrchestrator({ skills: library.subsystem, model });
    const refused = orchestrator.codegen({ task: 'How?', ...(more as object) });
    await expect(refused).rejects.toMatchObject({
      code: 'job.invalid',
      message: expect.stringContaining(message) as string,
    });
    expect(model.asked).toEqual([]);
  });
});

describe('a service in trouble', () => {
  const KEY = 'sk-canary-77b1e09f';
  const failed = { code: 'model.failed' };
  const SILENCE = 'silence';
  const troubles: [string, StandInAnswer, object][] = [
    ['429', { status: 429, headers: { 'retry-after-ms': '1' }, message: `slow down, ${KEY}` }, failed],
    ['500', { status: 500, message: KEY }, failed],
    ['403', { status: 403, message: `the key ${KEY} may not` }, { code: 'model.refused' }],
    ['garbage', { status: 200, body: `{{${KEY}` }, failed],
    ['a cut connection', { cut: true }, failed],
    ['a cut within the answer', { half: true }, failed],
    [SILENCE, { hang: true }, { outcome: 'timeout', error: { name: 'ModelTimeout' } }],
    ['its key as the answer', block({ action: 'text', text: KEY }), { outcome: 'succeeded', value: '[redacted]' }],
  ];

  it.each(troubles)(
    'in the second round (%s) leads to one clear end without leaking the key',
    async (name, trouble, end) => {
      const folder = mkdtempSync(join(tmpdir(), 'decision-'));
      let log = '';
      await using service = await startModelStandIn((_request, index) =>
        index === 0 ? block({ skills: ['SK1'] }) : trouble,
      );
      const settings = { provider: 'openai-compatible' as const, model: 'm', baseUrl: service.baseUrl, apiKey: KEY };
      const gateway = openaiCompatibleGateway(settings, { retry: { tries: 2, baseDelayMs: 1 } });
      await using orchestrator = createOrchestrator({
        skills: library.subsystem,
        model: recordingGateway(gateway, join(folder, 'recording.json')),
        logger: pino({ level: 'trace' }, { write: (line) => void (log += line) }),
      });
      // The other cases need time to load the gateway.
      const limits = { modelTimeoutMs: name === SILENCE ? 1_000 : 20_000 };
      const job = orchestrator.stream({ kind: 'codegen', isolation, task: 'How?', select: true, limits });
      const result = job.result.catch((error: unknown) => error);
      const events: JobEvent[] = [];
      for await (const event of job) events.push(event);
      expect(await result).toMatchObject(end);
      expect(events.filter(({ type }) => type === 'finished' || type === 'faulted')).toHaveLength(1);
      const recorded = readFileSync(join(folder, 'recording.json'), 'utf8');
      rmSync(folder, { recursive: true });
      expect(`${JSON.stringify([await result, events])}${log}${recorded}`).not.toContain(KEY);
    },
  );
});
