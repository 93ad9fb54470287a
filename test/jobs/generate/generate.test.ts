import { afterAll, describe, expect, it } from 'vitest';
import * as z from 'zod';
import * as mini from 'zod/mini';
import type { GenerateOptions } from '../../../src/contracts/jobs/generation.ts';
import type { ModelGateway } from '../../../src/models/model-gateway.ts';
import { openaiCompatibleGateway } from '../../../src/models/gateways/create-model-gateway.ts';
import { promptDigest } from '../../../src/models/prompt-digest.ts';
import { SkillcellError } from '../../../src/contracts/errors/skillcell-error.ts';
import { createOrchestrator } from '../../../src/jobs/create-orchestrator.ts';
import type { Orchestrator } from '../../../src/jobs/orchestrator.ts';
import { getActiveSkillsSubsystem } from '../../../src/skills/index.ts';
import { startModelStandIn, type StandInAnswer } from '../../fixtures/model-stand-in.ts';
import { scriptedModel } from '../../fixtures/scripted-model.ts';
import { skillLibrary, skillText } from '../../fixtures/skill-library.ts';

const library = skillLibrary(
  {
    'brief/SKILL.md': skillText({ name: 'brief', description: 'Brief.', import: ['custom.facts'] }, 'BE BRIEF'),
    'facts/SKILL.md': skillText({ name: 'facts', description: 'Facts.' }, 'CITE [[S:1]]'),
    'facts/sources.yaml': '- sid: 1\n  url: https://facts.example/\n  title: Facts\n',
    'secret/SKILL.md': skillText({ name: 'secret', description: 'Secret.' }, 'SECRET'),
  },
  { agentsConfig: { 'llm.answer': { disabled: ['custom.secret'] } } },
);
afterAll(() => library[Symbol.dispose]());

const withModel = (model: ModelGateway): Orchestrator => createOrchestrator({ skills: library.subsystem, model });
const json = (value: unknown): string => `\`\`\`json\n${JSON.stringify(value)}\n\`\`\`\n`;
const job = { prompt: 'What is a bar?', consumer: 'llm.answer' };

describe('an answer', () => {
  it('is written with the skills of its consumer in the system prompt, and their sources', async () => {
    const model = scriptedModel(['A bar. [[S:4]]']);
    await using orchestrator = withModel(model);
    const pool = [{ sid: 3, url: 'https://other.example/', title: 'Other' }];
    const result = await orchestrator.generate({ ...job, skills: ['custom.brief'], pool });
    const [request] = model.asked;
    const block = library.subsystem.buildSkillsInstructionBlock({ refs: ['custom.brief'], pool });
    expect(result).toEqual({
      text: 'A bar. [[S:4]]',
      model: 'test/model',
      attempts: 1,
      promptSha256: promptDigest(request ?? { system: '', messages: [] }),
      skills: { active: ['custom.facts', 'custom.brief'], instructionSha256: block.sha256 },
      sources: block.pool,
      usage: { inputTokens: 5, outputTokens: 3 },
      diagnostics: [],
    });
    expect(request?.system.endsWith(`\n\n${block.text}`)).toBe(true);
    expect(request?.messages).toEqual([{ role: 'user', content: job.prompt }]);
  });

  it('has the same system prompt for every prompt, and instructions of the caller first', async () => {
    const model = scriptedModel(['a', 'b', 'c']);
    await using orchestrator = withModel(model);
    await orchestrator.generate({ ...job, skills: ['custom.brief'] });
    await orchestrator.generate({ ...job, prompt: 'Another.', skills: ['custom.brief'] });
    await orchestrator.generate({ ...job, system: 'You are a poet.' });
    const [first, second, third] = model.asked.map(({ system }) => system);
    expect(second).toBe(first);
    expect(third).toBe('You are a poet.\n');
  });

  it('has a diagnostic if it was cut off', async () => {
    await using orchestrator = withModel(scriptedModel([{ text: 'A b', finishReason: 'length' }]));
    const { diagnostics } = await orchestrator.generate(job);
    expect(diagnostics).toMatchObject([{ code: 'generation.cut-off' }]);
  });

  it('is requested with the skills of the orchestrator as the active ones', async () => {
    let seen: unknown;
    const inner = scriptedModel(['a']);
    const model: ModelGateway = {
      ...inner,
      generate: (request, options) => {
        seen = getActiveSkillsSubsystem();
        return inner.generate(request, options);
      },
    };
    await using orchestrator = withModel(model);
    await orchestrator.generate(job);
    expect(seen).toBe(library.subsystem);
  });
});

describe('a value', () => {
  const output = z.object({ title: z.string(), rows: z.array(z.number()).min(1) });

  it('is the answer as transformed by the schema, in a block or bare, after thinking', async () => {
    const value = { title: 'Bars', rows: [1] };
    for (const text of [json(value), JSON.stringify(value), `<think>${json({})}</think>Here:\n${json(value)}Done.`]) {
      const model = scriptedModel([text]);
      await using orchestrator = withModel(model);
      const result = await orchestrator.generate({ ...job, output: output.transform(({ title }) => title.length) });
      expect(result).toMatchObject({ value: 4, text, attempts: 1 });
      expect(model.asked[0]?.system).toContain('"required":["title","rows"]');
    }
  });

  it('is asked for again with its faults, and the prompt of each attempt extends the previous one', async () => {
    const model = scriptedModel([
      'Bars!',
      json({ title: 1, rows: [] }),
      {
        text: json({ title: 'B', rows: [2] }),
        usage: { inputTokens: 1, outputTokens: null },
      },
    ]);
    await using orchestrator = withModel(model);
    const result = await orchestrator.generate({ ...job, output, maxAttempts: 3 });
    expect(result).toMatchObject({ value: { title: 'B', rows: [2] }, attempts: 3 });
    expect(result.usage).toEqual({ inputTokens: 11, outputTokens: null });
    expect(model.asked[1]?.messages.at(-1)?.content).toContain('it holds no block marked json');
    expect(model.asked[2]?.messages.at(-1)?.content).toMatch(/title: .*string.*; rows: /);
    for (const [index, { system, messages }] of model.asked.slice(1).entries()) {
      expect(system).toBe(model.asked[index]?.system);
      expect(messages.slice(0, -2)).toEqual(model.asked[index]?.messages);
    }
  });

  it.each([
    ['two blocks', json({ title: 'B', rows: [1] }).repeat(2), '2 blocks'],
    ['no JSON', '```json\n{\n```', 'no JSON'],
    ['an empty answer', '', 'no block'],
    ['a cut block', { text: '```json\n{"title":"B","rows":[1]}', finishReason: 'length' }, 'cut off'],
    ['deeply nested JSON', '['.repeat(200_000), 'no block'],
    ['keys of prototypes', '{"__proto__":{"title":"B","rows":[1]}}', 'title'],
  ])('that never fits fails after the attempts: %s', async (_name, answer, fault) => {
    const model = scriptedModel([answer, answer, answer]);
    await using orchestrator = withModel(model);
    const failed = orchestrator.generate({ ...job, output });
    await expect(failed).rejects.toMatchObject({
      code: 'model.answer-invalid',
      message: expect.stringContaining(fault) as string,
    });
    expect(model.asked).toHaveLength(2);
  });

  it('is judged by a JSON schema as well, with all its keywords', async () => {
    const schema = {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      type: 'object',
      required: ['title'],
      properties: { title: { type: 'string', pattern: '^(a+)+$' } },
      additionalProperties: false,
    };
    const model = scriptedModel([json({}), json({ title: `${'a'.repeat(40)}!` }), json({ title: 'aa' })]);
    await using orchestrator = withModel(model);
    const { value } = await orchestrator.generate({ ...job, output: schema, maxAttempts: 3 });
    expect(value).toEqual({ title: 'aa' });
    expect(model.asked[0]?.system).toContain('schema:\n{"type":"object","required":["title"]');
    expect(model.asked[1]?.messages.at(-1)?.content).toContain('title');
    expect(model.asked[2]?.messages.at(-1)?.content).toContain('title');
  });

  it('has readable faults with zod/mini as well', async () => {
    const model = scriptedModel(['[]', '{}']);
    await using orchestrator = withModel(model);
    const failed = orchestrator.generate({ ...job, output: mini.object({ title: mini.string() }) });
    await expect(failed).rejects.toMatchObject({
      message: expect.stringMatching(/title: .*expected string/i) as string,
    });
    expect(model.asked[1]?.messages.at(-1)?.content).toMatch(/expected object/i);
  });
});

describe('before the model is asked', () => {
  const refused: [string, object, string][] = [
    ['no prompt', { prompt: ' ' }, 'options.invalid'],
    ['no consumer', { consumer: undefined }, 'options.invalid'],
    ['a consumer of an invalid form', { consumer: '../x' }, 'options.invalid'],
    ['an unknown field', { task: 'x' }, 'options.invalid'],
    ['no attempts', { maxAttempts: 0 }, 'options.invalid'],
    ['attempts that are not a number', { maxAttempts: Number.NaN }, 'options.invalid'],
    ['a text as schema', { output: 'text' }, 'options.invalid'],
    ['a schema of an unknown type', { output: { type: 'thing' } }, 'options.invalid'],
    ['a schema that cannot be enforced', { output: { $dynamicRef: '#x' } }, 'tool.schema-unsupported'],
    ['a schema without a JSON schema', { output: z.custom(() => true) }, 'options.invalid'],
    ['an unknown skill', { skills: ['custom.nothing'] }, 'skills.reference-unknown'],
    ['a denied skill', { skills: ['custom.brief', 'custom.secret'] }, 'skills.reference-denied'],
  ];
  it.each(refused)('%s is refused', async (_name, more, code) => {
    const model = scriptedModel(['a']);
    await using orchestrator = withModel(model);
    await expect(orchestrator.generate({ ...job, ...more })).rejects.toMatchObject({ code });
    expect(model.asked).toEqual([]);
  });

  it('a host without a model, without skills, or closed refuses', async () => {
    await using plain = createOrchestrator();
    await expect(plain.generate(job)).rejects.toMatchObject({ code: 'model.not-configured' });
    await expect(plain.generate({ ...job, skills: ['custom.brief'] })).rejects.toMatchObject({
      code: 'options.invalid',
    });
    await plain.close();
    await expect(plain.generate(job)).rejects.toMatchObject({ code: 'orchestrator.closed' });
  });
});

describe('a model that does not answer', () => {
  const never: ModelGateway = { id: 'test/silent', generate: () => new Promise(() => undefined) };

  it('is given up after modelTimeoutMs', async () => {
    await using orchestrator = withModel(never);
    const failed = orchestrator.generate({ ...job, modelTimeoutMs: 30 });
    await expect(failed).rejects.toMatchObject({
      code: 'model.failed',
      message: expect.stringContaining('30 ms') as string,
    });
  });

  it('is given up when its caller cancels, or the orchestrator closes', async () => {
    const orchestrator = withModel(never);
    const reason = new Error('enough');
    await expect(orchestrator.generate({ ...job, signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
    const waiting = orchestrator.generate(job);
    const outcome = expect(waiting).rejects.toMatchObject({ code: 'orchestrator.closed' });
    await orchestrator.close();
    await outcome;
  });
});

describe('a service in trouble', () => {
  const KEY = 'sk-canary-8127ac93';
  const troubles: [string, StandInAnswer, string][] = [
    ['429', { status: 429, headers: { 'retry-after-ms': '1' }, message: `slow down, ${KEY}` }, 'model.failed'],
    ['500', { status: 500, message: KEY }, 'model.failed'],
    ['401', { status: 401, message: `no such key: ${KEY}` }, 'model.refused'],
    ['garbage', { status: 200, body: `<html>${KEY}` }, 'model.failed'],
    [
      'half an answer',
      { status: 200, body: '{"choices":[{"message":{"role":"assistant","content":"a' },
      'model.failed',
    ],
    ['a cut connection', { cut: true }, 'model.failed'],
    ['a cut within the answer', { half: true }, 'model.failed'],
    ['silence', { hang: true }, 'model.failed'],
  ];
  it.each(troubles)('(%s) leads to one clear error without the key', async (_name, trouble, code) => {
    await using service = await startModelStandIn(() => trouble);
    const settings = {
      provider: 'openai-compatible' as const,
      model: 'stand-in',
      baseUrl: service.baseUrl,
      apiKey: KEY,
    };
    await using orchestrator = withModel(openaiCompatibleGateway(settings, { retry: { tries: 2, baseDelayMs: 1 } }));
    const error: unknown = await orchestrator
      .generate({ ...job, modelTimeoutMs: 2_000 })
      .catch((reason: unknown) => reason);
    if (!SkillcellError.isInstance(error)) throw new Error('no SkillcellError');
    expect(error.code).toBe(code);
    expect(`${JSON.stringify(error)}${error.stack}${String(error.cause)}`).not.toContain(KEY);
  });
});

describe('a schema whose check never ends', () => {
  const output = z.object({ bars: z.number().refine(() => new Promise(() => undefined)) });
  const start = (orchestrator: Orchestrator, more: Partial<GenerateOptions> = {}): Promise<unknown> =>
    orchestrator.generate({ ...job, output, ...more }).catch((reason: unknown) => reason);

  it('has the deadline of the model, and blocks neither the caller’s signal nor the end of the orchestrator', async () => {
    await using orchestrator = withModel(scriptedModel([json({ bars: 1 }), json({ bars: 1 }), json({ bars: 1 })]));
    expect(await start(orchestrator, { modelTimeoutMs: 20 })).toMatchObject({
      code: 'model.answer-invalid',
      message: 'Cannot generate an answer: its schema took longer than 0.02 s.',
    });
    const user = new AbortController();
    const left = start(orchestrator, { signal: user.signal });
    setTimeout(() => user.abort(new Error('the user left')), 20);
    expect(await left).toMatchObject({ message: 'the user left' });
    const open = start(orchestrator);
    await new Promise((resolve) => setTimeout(resolve, 20));
    await orchestrator.close();
    expect(await open).toMatchObject({ code: 'orchestrator.closed' });
  });
});
