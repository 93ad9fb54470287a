import { generateText, isStepCount, jsonSchema, tool } from 'ai';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import * as z from 'zod';
import * as z3 from 'zod/v3';
import { createSandboxTools } from '../../src/ai/create-sandbox-tools.ts';
import type { RunOutput } from '../../src/ai/sandbox-tools.ts';
import type { SandboxToolsOptions } from '../../src/ai/sandbox-tools-options.ts';
import type { ApprovalRequest } from '../../src/tools/calls/approval.ts';
import { defineTool } from '../../src/tools/define/tool.ts';
import { createOrchestrator } from '../../src/jobs/create-orchestrator.ts';
import type { Orchestrator } from '../../src/jobs/orchestrator.ts';
import { EVERY_LEVEL, everyRunner, requireEachLevel } from '../fixtures/every-level.ts';
import { MISSING_PYTHON, requireHere } from '../fixtures/describe-with.ts';
import { BEST_LEVEL } from '../fixtures/levels.ts';
import { toolCallingModel } from '../fixtures/tool-calling-model.ts';

const stopWhen = isStepCount(5);
const half = defineTool({
  id: 'math.half',
  description: 'Halves a number.',
  input: z.strictObject({ of: z.number() }),
  effect: 'read',
  execute: async ({ of }) => of / 2,
});
const asked: ApprovalRequest[] = [];
let orchestrator: Orchestrator;
beforeAll(async () => {
  orchestrator = createOrchestrator({
    runners: await everyRunner(),
    tools: [half],
    async approve(request) {
      asked.push(request);
      return { allow: (request.input as { cents: number }).cents < 100, reason: 'too much' };
    },
  });
});
afterAll(() => orchestrator.close());

const find = tool({
  description: 'Finds customers whose name begins so.',
  inputSchema: z.object({ prefix: z.string() }),
  outputSchema: z.object({ names: z.array(z.string()) }),
  execute: async ({ prefix }) => ({ names: ['ada', 'alan', 'grace'].filter((name) => name.startsWith(prefix)) }),
});

/** Runs one program by `run_code`, as the model's only step. */
async function run(code: string, options: SandboxToolsOptions = {}): Promise<RunOutput> {
  const tools = createSandboxTools(orchestrator, { isolation: BEST_LEVEL, ...options });
  const model = toolCallingModel([{ calls: [['run_code', { code }]] }]);
  const { steps } = await generateText({ model, tools, stopWhen, prompt: 'Run it.' });
  const [part] = steps[0]?.content.filter(({ type }) => type !== 'tool-call') ?? [];
  if (part?.type !== 'tool-result') throw new Error(`no result: ${JSON.stringify(part)}`);
  return part.output as RunOutput;
}

describe.each(EVERY_LEVEL)('run_code at level %s', (isolation) => {
  beforeEach((context) => requireEachLevel(context, isolation));

  it('runs the program of the model, with the tools that name it as their caller, and the model goes on with the result', async () => {
    const code = `import { tools, setValue } from 'skillcell';
const [a, g] = await Promise.all([tools.find({ prefix: 'a' }), tools.find({ prefix: 'g' })]);
console.log('found', a.names.length + g.names.length);
setValue([...a.names, ...g.names]);`;
    const model = toolCallingModel([
      { calls: [['run_code', { code }]] },
      ({ prompt }) => JSON.stringify(prompt.at(-1)),
    ]);
    const { text, steps } = await generateText({
      model,
      tools: { ...createSandboxTools(orchestrator, { isolation }), find },
      experimental_toolCallers: { find: ['run_code'] },
      stopWhen,
      prompt: 'How many begin with a or g?',
    });
    expect(model.doGenerateCalls[0]?.tools?.map(({ name }) => name)).toEqual(['run_code']);
    const output = { outcome: 'succeeded', exitCode: 0, stdout: 'found 3\n', value: ['ada', 'alan', 'grace'] };
    expect(steps[0]?.toolResults[0]?.output).toMatchObject(output);
    expect(JSON.parse(text)).toMatchObject({ content: [{ output: { type: 'json', value: output } }] });
  });

  it('gives the model a program that failed as a result', async () => {
    const output = await run('console.log(1);\nthrow new RangeError("no such month");', { isolation });
    expect(output).toMatchObject({
      outcome: 'failed',
      exitCode: 1,
      stdout: '1\n',
      error: { name: 'RangeError', message: 'no such month', line: 2 },
    });
  });

  it('ends the program when the generation is aborted', async () => {
    const controller = new AbortController();
    const wait = tool({
      inputSchema: z.object({}),
      async execute(_, { abortSignal }) {
        controller.abort(new Error('the user left'));
        return { aborted: abortSignal?.aborted };
      },
    });
    const ended = Promise.withResolvers<unknown>();
    const code =
      "import { tools } from 'skillcell'; await tools.wait({}); await new Promise(() => setInterval(() => {}, 1e3));";
    const generation = generateText({
      model: toolCallingModel([{ calls: [['run_code', { code }]] }]),
      tools: { ...createSandboxTools(orchestrator, { isolation }), wait },
      experimental_toolCallers: { wait: ['run_code'] },
      stopWhen,
      prompt: 'Wait.',
      abortSignal: controller.signal,
      onToolExecutionEnd: ({ toolOutput }) => ended.resolve(toolOutput),
    });
    const outcome = generation.then(
      () => 'went on',
      (error: unknown) => error,
    );
    expect(await ended.promise).toMatchObject({ type: 'tool-result', output: { outcome: 'canceled' } });
    expect(await outcome).not.toBe('went on');
  });
});

describe('the description of run_code', () => {
  it('explains how programs are written, and declares the tools that they call', async () => {
    const model = toolCallingModel([]);
    const tools = { ...createSandboxTools(orchestrator, { tools: ['math.*'] }), find };
    await generateText({ model, tools, experimental_toolCallers: { find: ['run_code'] }, prompt: 'Say nothing.' });
    const [told] = model.doGenerateCalls[0]?.tools ?? [];
    const description = told?.type === 'function' ? told.description : '';
    expect(description).toContain('Each program starts anew');
    expect(description).toContain(
      'Files that are to be kept go below the folder that the environment variable `SKILLCELL_OUTPUT`',
    );
    expect(description).toContain('find(input: { prefix: string }): Promise<{ names: string[] }>;');
    expect(description).toContain('half(input: { of: number }): Promise<unknown>;');
    expect(description).toContain('Finds customers whose name begins so.');
    expect(told).toMatchObject({
      inputSchema: {
        type: 'object',
        properties: { code: { type: 'string', description: 'The whole program, in JavaScript.' } },
        required: ['code'],
        additionalProperties: false,
      },
    });
  });

  it('has the declarations of late schemas in its field', async () => {
    const late = tool({
      description: 'Late.',
      inputSchema: jsonSchema(async () => ({
        type: 'object',
        properties: { at: { type: 'number' } },
        required: ['at'],
      })),
      execute: async () => 1,
    });
    const old = tool({ inputSchema: z3.object({ of: z3.string() }), execute: async () => 2 });
    const model = toolCallingModel([]);
    await generateText({
      model,
      tools: { ...createSandboxTools(orchestrator), late, old },
      experimental_toolCallers: { late: ['run_code'], old: ['run_code'] },
      prompt: 'Say nothing.',
    });
    const said = JSON.stringify(model.doGenerateCalls[0]?.tools);
    expect(said).toContain('late(input: { at: number');
    expect(said).toContain('old(input: { of: string');
  });

  it('declares tools in the language of the programs', async () => {
    const model = toolCallingModel([]);
    const tools = { ...createSandboxTools(orchestrator, { language: 'python' }), find };
    await generateText({ model, tools, experimental_toolCallers: { find: ['run_code'] }, prompt: 'Say nothing.' });
    expect(JSON.stringify(model.doGenerateCalls[0]?.tools)).toContain('def find(*, prefix: str)');
  });
});

describe('tools that programs call', () => {
  it('go through all checks of a job, and each call has an id of its own within that of run_code', async () => {
    asked.length = 0;
    const seen: unknown[] = [];
    const pay = tool({
      inputSchema: z.object({ cents: z.number(), note: z.string().default('none') }),
      needsApproval: true,
      execute: async (input, { toolCallId, messages, context }) => seen.push({ input, toolCallId, messages, context }),
    });
    const flood = tool({ inputSchema: z.object({}), execute: async () => 'x'.repeat(300_000) });
    const code = `import { tools } from 'skillcell';
const codeOf = (call) => call.catch(({ code, message }) => code + ' ' + message);
export default [await tools.pay({ cents: 5 }), await tools.pay({ cents: 6 }), await codeOf(tools.pay({ cents: 500 })), await codeOf(tools.pay({ cents: 'x' })),
  await codeOf(tools.flood({})), await codeOf(tools.call('other', {}))];`;
    const { steps } = await generateText({
      model: toolCallingModel([{ calls: [['run_code', { code }]] }]),
      tools: { ...createSandboxTools(orchestrator, { isolation: BEST_LEVEL, context: 'ada' }), pay, flood },
      experimental_toolCallers: { pay: ['run_code'], flood: ['run_code'] },
      stopWhen,
      prompt: 'Pay.',
    });
    const output = steps[0]?.toolResults[0]?.output as RunOutput | undefined;
    const value = output?.value;
    const [first, second, ...refused] = value as unknown[];
    expect([first, second]).toEqual([1, 2]);
    expect(refused).toEqual([
      expect.stringMatching(/^tool\.denied .*too much/),
      expect.stringMatching(/^tool\.invalid-arguments .*cents/),
      expect.stringMatching(/^tool\.too-large /),
      expect.stringMatching(/^tool\.not-allowed /),
    ]);
    expect(asked.map(({ tool: id, input, context }) => [id, input, context])).toEqual([
      ['pay', { cents: 5, note: 'none' }, 'ada'],
      ['pay', { cents: 6, note: 'none' }, 'ada'],
      ['pay', { cents: 500, note: 'none' }, 'ada'],
    ]);
    const prompt = [{ role: 'user', content: 'Pay.' }];
    expect(seen).toEqual([
      expect.objectContaining({ input: { cents: 5, note: 'none' }, toolCallId: 'call-1-1:1', messages: prompt }),
      expect.objectContaining({ input: { cents: 6, note: 'none' }, toolCallId: 'call-1-1:2', messages: prompt }),
    ]);
  });

  it('are not reached by the approval of the SDK, except by that of run_code, but by ours', async () => {
    let paid = 0;
    const pay = tool({ inputSchema: z.object({ cents: z.number() }), execute: async () => (paid += 1) });
    const code =
      "import { tools } from 'skillcell'; export default await tools.pay({ cents: 500 }).catch(({ code }) => code);";
    const generate = async (options: SandboxToolsOptions, asking: 'pay' | 'run_code') => {
      const { steps } = await generateText({
        model: toolCallingModel([{ calls: [['run_code', { code }]] }]),
        tools: { ...createSandboxTools(orchestrator, { isolation: BEST_LEVEL, ...options }), pay },
        experimental_toolCallers: { pay: ['run_code'] },
        toolApproval: { [asking]: 'user-approval' },
        stopWhen,
        prompt: 'Pay.',
      });
      return steps[0]?.content.at(-1);
    };
    expect(await generate({}, 'pay')).toMatchObject({ type: 'tool-result', output: { value: 1 } });
    expect(await generate({}, 'run_code')).toMatchObject({
      type: 'tool-approval-request',
      toolCall: { input: { code } },
    });
    for (const session of [false, true])
      expect(await generate({ approval: 'always', session }, 'pay')).toMatchObject({
        output: { value: 'tool.denied' },
      });
    expect(paid).toBe(1);
  });

  it('are called as declared, even by names that every value of the language has', async () => {
    const names = ['toString', 'constructor', 'then', 'call'];
    const model = toolCallingModel([
      {
        calls: [
          [
            'run_code',
            {
              code: `import { tools } from 'skillcell';
export default await Promise.all(${JSON.stringify(names)}.map((name) => tools.call(name, { prefix: 'ad' })));`,
            },
          ],
        ],
      },
    ]);
    const { steps } = await generateText({
      model,
      tools: {
        ...createSandboxTools(orchestrator, { isolation: BEST_LEVEL }),
        ...Object.fromEntries(names.map((name) => [name, find])),
      },
      experimental_toolCallers: Object.fromEntries(names.map((name) => [name, ['run_code']])) as never,
      stopWhen,
      prompt: 'Find.',
    });
    const told = JSON.stringify(model.doGenerateCalls[0]?.tools);
    for (const name of names) expect(told).toContain(`call(id: \\"${name}\\"`);
    expect(steps[0]?.toolResults[0]?.output).toMatchObject({ value: names.map(() => ({ names: ['ada'] })) });
  });

  it('get the context of run_code, if it fits their schema', async () => {
    const whoami = tool({
      inputSchema: z.object({}),
      contextSchema: z.object({ user: z.string(), role: z.string().default('reader') }),
      execute: async (_, { context }) => context,
    });
    const generate = async (context: unknown): Promise<unknown> => {
      const { steps } = await generateText({
        model: toolCallingModel([
          {
            calls: [
              ['run_code', { code: "import { tools } from 'skillcell'; export default await tools.whoami({});" }],
            ],
          },
        ]),
        tools: { ...createSandboxTools(orchestrator, { isolation: BEST_LEVEL }), whoami },
        experimental_toolCallers: { whoami: ['run_code'] },
        toolsContext: { run_code: context, whoami: { user: 'unseen', role: 'unseen' } } as never,
        stopWhen,
        prompt: 'Who?',
      });
      return steps[0]?.content.at(-1);
    };
    expect(await generate({ user: 'ada' })).toMatchObject({ output: { value: { user: 'ada', role: 'reader' } } });
    expect(await generate({ user: 5 })).toMatchObject({
      type: 'tool-error',
      error: {
        code: 'options.invalid',
        message: expect.stringContaining('toolsContext.run_code does not fit the context of whoami'),
      },
    });
  });

  it('are called from Python by their names', async (context) => {
    requireHere(context, MISSING_PYTHON);
    const code = "import skillcell\nskillcell.set_value(skillcell.tools.find(prefix='a'))\nprint('ü')";
    const { steps } = await generateText({
      model: toolCallingModel([{ calls: [['run_code', { code }]] }]),
      tools: { ...createSandboxTools(orchestrator, { isolation: BEST_LEVEL, language: 'python' }), find },
      experimental_toolCallers: { find: ['run_code'] },
      stopWhen,
      prompt: 'Find.',
    });
    expect(steps[0]?.toolResults[0]?.output).toMatchObject({ stdout: 'ü\n', value: { names: ['ada', 'alan'] } });
  });

  const bind = async (options: SandboxToolsOptions, bound: object): Promise<unknown> =>
    generateText({
      model: toolCallingModel([]),
      tools: { ...createSandboxTools(orchestrator, options), ...bound },
      experimental_toolCallers: Object.fromEntries(Object.keys(bound).map((name) => [name, ['run_code']])) as never,
      prompt: 'Say nothing.',
    });

  it.each<[string, SandboxToolsOptions, object, string, string]>([
    [
      'a language without calls of tools',
      { language: 'bash' },
      { find },
      'options.invalid',
      'bash cannot call tools, got find.',
    ],
    [
      'a tool without execute',
      {},
      { find: tool({ inputSchema: z.object({}), outputSchema: z.string() }) },
      'options.invalid',
      'got find.',
    ],
    ['an invalid name of a tool', {}, { 'find it': find }, 'options.invalid', 'got "find it"'],
    [
      'a schema that cannot be enforced',
      {},
      {
        find: tool({ inputSchema: jsonSchema({ type: 'object', $dynamicRef: '#x' }), execute: async () => 1 }),
      },
      'tool.schema-unsupported',
      'Cannot offer the input of find',
    ],
    [
      'a late schema that cannot be enforced',
      {},
      {
        find: tool({
          inputSchema: jsonSchema(Promise.resolve({ type: 'object', $dynamicRef: '#x' } as never)),
          execute: async () => 1,
        }),
      },
      'tool.schema-unsupported',
      'Cannot offer the input of find',
    ],
  ])('%s is refused before the model is asked', async (_case, options, bound, code, message) => {
    await expect(bind(options, bound)).rejects.toMatchObject({ code, message: expect.stringContaining(message) });
  });
});

describe('the output of a program for the model', () => {
  it('is cut if it is long, with a note in its place', async () => {
    const code = `process.stdout.write('a'.repeat(3_000) + 'b'.repeat(3_000));
process.stderr.write('é'.repeat(2_000_000));
export default 'v'.repeat(5_000);`;
    const { stdout, stderr, value, notes } = await run(code, { outputCharacters: 1_000 });
    expect(stdout).toBe(`${'a'.repeat(600)}\n[… cut: 5000 of 6000 characters left out …]\n${'b'.repeat(400)}`);
    expect(stderr).toBe(`${'é'.repeat(1_000)}\n[… cut: of 4000000 bytes only the beginning was kept …]\n`);
    expect(value).toBeUndefined();
    expect(notes?.[0]).toMatch(/^The value is too large to be shown whole\. Its JSON: "vvv+\n\[… cut: 4002 of 5002/);
    expect(JSON.stringify(notes).length).toBeLessThan(1_500);
  });

  it('names the artifacts, which the caller reads by the id of the job', async () => {
    const code = `import { writeFileSync } from 'node:fs';
writeFileSync(process.env.SKILLCELL_OUTPUT + '/table.csv', 'a,b');
writeFileSync(process.env.SKILLCELL_OUTPUT + '/large.bin', Buffer.alloc(2_000_000));`;
    const output = await run(code, { limits: { artifactFileBytes: 1_000_000 } });
    expect(output.files).toEqual([{ path: 'table.csv', bytes: 3 }]);
    // Level none has further notes, on limits that are only watched.
    expect(output.notes?.filter((note) => note.includes('large.bin'))).toHaveLength(1);
    expect(await orchestrator.readArtifact(output, 'table.csv', 'utf8')).toBe('a,b');
  });

  it('is an error with its code if skillcell refuses or fails', async () => {
    const tools = createSandboxTools(orchestrator, { isolation: BEST_LEVEL, tools: ['math.none'] });
    const model = toolCallingModel([
      {
        calls: [
          ['run_code', { code: '1' }],
          ['run_code', { program: '1' }],
        ],
      },
      ({ prompt }) => JSON.stringify(prompt.at(-1)),
    ]);
    const { steps, text } = await generateText({ model, tools, stopWhen, prompt: 'Run it.' });
    const [models, ours] = steps[0]?.content.filter(({ type }) => type === 'tool-error') ?? [];
    expect(ours).toMatchObject({ error: { code: 'job.invalid', cause: { code: 'job.invalid' } } });
    expect(models).toMatchObject({
      error: expect.stringContaining('Cannot call run_code: code is missing: it must be a text.'),
    });
    expect(text).toContain('got \\"math.none\\"');
    expect(text).toContain('(job.invalid)');
  });
});

describe('createSandboxTools', () => {
  it.each([
    [{ language: 'cobol' }, 'language must be one of bash, javascript, python, typescript, got "cobol"'],
    [{ sandbox: true }, 'there is no field sandbox'],
    [{ outputCharacters: 10 }, 'outputCharacters'],
    [{ session: 'yes' }, 'session must be true, false, or a session'],
    [{ limits: { runTimeoutMs: 0 } }, 'limits.runTimeoutMs'],
    [{ consumer: '' }, 'consumer must be an id'],
    [{ approval: 'never' }, 'approval must be'],
    [
      { approval: 'always', session: { run: () => undefined } },
      'approval must be left out, because the given session has its own',
    ],
  ])('refuses %j', (options, message) => {
    expect(() => createSandboxTools(orchestrator, options as never)).toThrow(message);
    expect(() => createSandboxTools(orchestrator, options as never)).toThrow('Cannot create tools of a sandbox: ');
  });

  it('gives files, limits and an environment to each program', async () => {
    const code = `import { readFileSync } from 'node:fs';
export default [readFileSync('a.txt', 'utf8'), process.env.NAME];`;
    expect(await run(code, { files: { 'a.txt': 'x' }, env: { NAME: 'y' } })).toMatchObject({ value: ['x', 'y'] });
    const endless = await run('for (;;);', { limits: { runTimeoutMs: 300 } });
    expect(endless).toMatchObject({ outcome: 'timeout' });
  });
});
