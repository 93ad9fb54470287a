import { generateText, isStepCount, tool, type ToolSet } from 'ai';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { createSandboxTools } from '../../src/ai/create-sandbox-tools.ts';
import type { RunOutput, SandboxTools } from '../../src/ai/sandbox-tools.ts';
import type { SandboxToolsOptions } from '../../src/ai/sandbox-tools-options.ts';
import { createOrchestrator } from '../../src/jobs/create-orchestrator.ts';
import type { Orchestrator } from '../../src/jobs/orchestrator.ts';
import { ALL_LEVELS, everyRunner, requireEachLevel } from '../fixtures/every-level.ts';
import { BEST_LEVEL } from '../fixtures/levels.ts';
import { until } from '../fixtures/until.ts';
import { toolCallingModel, type ModelStep } from '../fixtures/tool-calling-model.ts';

/** A picture of one pixel. */
const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

let orchestrator: Orchestrator;
beforeAll(async () => {
  orchestrator = createOrchestrator({ runners: await everyRunner(), maxSessions: 4 });
});
afterAll(() => orchestrator.close());

/** The outputs of programs, one for each step, and the last message to the model. */
async function runAll(
  tools: SandboxTools,
  programs: string[],
  bound: ToolSet = {},
  context?: unknown,
): Promise<{ outputs: RunOutput[]; told: string }> {
  const model = toolCallingModel(programs.map((code): ModelStep => ({ calls: [['run_code', { code }]] })));
  const { steps } = await generateText({
    model,
    tools: { ...tools, ...bound },
    experimental_toolCallers: Object.fromEntries(Object.keys(bound).map((name) => [name, ['run_code' as const]])),
    toolsContext: { run_code: context } as never,
    stopWhen: isStepCount(programs.length + 1),
    prompt: 'Run them.',
  });
  const outputs = steps.flatMap(({ content }) =>
    content.flatMap((part) => {
      if (part.type === 'tool-error') throw part.error;
      return part.type === 'tool-result' ? [part.output as RunOutput] : [];
    }),
  );
  return { outputs, told: JSON.stringify(model.doGenerateCalls.at(-1)?.prompt.at(-1)) };
}

const sessionTools = (options: SandboxToolsOptions = {}): SandboxTools =>
  createSandboxTools(orchestrator, { isolation: BEST_LEVEL, session: true, ...options });

const next = tool({
  inputSchema: z.object({}),
  execute: async (_, { toolCallId }) => toolCallId,
});

describe.each(ALL_LEVELS)('programs in one session at level %s', (isolation) => {
  beforeEach((context) => requireEachLevel(context, isolation));

  it('find earlier definitions, and call the tools of the call that runs them', async () => {
    await using tools = sessionTools({ isolation, files: { 'a.txt': 'from the host' } });
    const { outputs } = await runAll(
      tools,
      [
        "import { tools } from 'skillcell'; const first = await tools.next({}); first",
        "import { readFileSync } from 'node:fs'; console.log(readFileSync('a.txt', 'utf8')); [first, await tools.next({})]",
        "throw new RangeError('no such month')",
        'process.exit(3)',
        'typeof first',
      ],
      { next },
    );
    expect(outputs).toMatchObject([
      { run: 1, state: 'kept', outcome: 'succeeded', value: 'call-1-1:1' },
      { run: 2, state: 'kept', stdout: 'from the host\n', value: ['call-1-1:1', 'call-2-1:1'] },
      { run: 3, state: 'kept', outcome: 'failed', error: { name: 'RangeError', message: 'no such month' } },
      {
        run: 4,
        state: 'lost',
        exitCode: 3,
        notes: [expect.stringContaining("the definitions of the session's runs are lost")],
      },
      { run: 5, state: 'kept', value: 'undefined' },
    ]);
    expect(new Set(outputs.map(({ jobId }) => jobId)).size).toBe(1);
  });
});

describe('the session of tools', () => {
  it('runs programs of one step one after the other', async () => {
    await using tools = sessionTools();
    const model = toolCallingModel([
      {
        calls: [
          ['run_code', { code: 'await new Promise((done) => setTimeout(done, 300)); const seen = [1]; seen' }],
          ['run_code', { code: 'seen.push(2); seen' }],
        ],
      },
    ]);
    const { steps } = await generateText({ model, tools, stopWhen: isStepCount(2), prompt: 'Run them.' });
    expect(steps[0]?.toolResults.map(({ output }) => (output as RunOutput).value)).toEqual([[1], [1, 2]]);
  });

  it('ends with the tools, which then run nothing', async () => {
    const tools = sessionTools();
    const { outputs } = await runAll(tools, [
      "import { writeFileSync } from 'node:fs'; writeFileSync(process.env.SKILLCELL_OUTPUT + '/a.txt', 'x')",
    ]);
    await tools[Symbol.asyncDispose]();
    expect(await orchestrator.readArtifact(outputs[0] ?? { jobId: '' }, 'a.txt', 'utf8')).toBe('x');
    await expect(runAll(tools, ['1'])).rejects.toMatchObject({ code: 'session.ended' });
    expect(Object.keys({ ...tools })).toEqual(['run_code']);
  });

  it('is opened anew after its end, with a note', async () => {
    await using tools = sessionTools();
    const first = await runAll(tools, ['const a = 1; a']);
    await until(() => !orchestrator.cancel(first.outputs[0]?.jobId ?? ''), 'the end of the session');
    const others = await Promise.all(Array.from({ length: 4 }, () => orchestrator.session({ isolation: BEST_LEVEL })));
    await expect(runAll(tools, ['1'])).rejects.toMatchObject({ code: 'session.too-many' });
    await Promise.all(others.map((other) => other.close()));
    expect(await runAll(tools, ['typeof a'])).toMatchObject({
      outputs: [
        {
          value: 'undefined',
          notes: ['The earlier session has ended: definitions and files of earlier programs are gone.'],
        },
      ],
    });
  });

  it('keeps the tools and the context of its opening', async () => {
    await using tools = sessionTools();
    await runAll(tools, ['1'], { next }, { user: 'ada' });
    const again = { next: { ...next } };
    expect(await runAll(tools, ['2'], again, { user: 'ada' })).toMatchObject({ outputs: [{ value: 2 }] });
    const others = { next: tool({ inputSchema: z.object({ of: z.string() }), execute: async () => 1 }) };
    await expect(runAll(tools, ['3'], others, { user: 'ada' })).rejects.toMatchObject({
      code: 'options.invalid',
      message: 'Cannot run code: the session was opened with other tools, got next. (options.invalid)',
    });
    await expect(runAll(tools, ['3'], {}, { user: 'ada' })).rejects.toThrow('with other tools, got none.');
    await expect(runAll(tools, ['3'], { next }, { user: 'bob' })).rejects.toThrow('with another context');
  });

  it('may belong to the caller, and then stays open', async () => {
    await using session = await orchestrator.session({ isolation: BEST_LEVEL });
    await session.run('var shared = 5');
    const tools = createSandboxTools(orchestrator, { session });
    expect(await runAll(tools, ['shared += 1'])).toMatchObject({ outputs: [{ jobId: session.id, value: 6 }] });
    await tools[Symbol.asyncDispose]();
    expect(await session.run('shared')).toMatchObject({ value: 6 });
    await expect(runAll(tools, ['1'], { next })).rejects.toThrow(
      'Cannot bind tools to run_code: a session has the tools that it was opened with, got next.',
    );
    expect(() => createSandboxTools(orchestrator, { session, skills: ['a'] })).toThrow('skills must be left out');
    expect(() => createSandboxTools(orchestrator, { session, env: { A: 'b' } })).toThrow(
      'Cannot create tools of a sandbox: env must be left out, because the given session has its own.',
    );
  });

  it('interrupts the program of a generation that is aborted, and keeps earlier definitions', async () => {
    await using tools = sessionTools();
    await runAll(tools, ['var kept = 1']);
    const controller = new AbortController();
    const ended = Promise.withResolvers<unknown>();
    const generation = generateText({
      model: toolCallingModel([
        () => {
          setTimeout(() => controller.abort(), 200);
          return { calls: [['run_code', { code: 'for (;;);' }]] };
        },
      ]),
      tools,
      stopWhen: isStepCount(2),
      prompt: 'Wait.',
      abortSignal: controller.signal,
      onToolExecutionEnd: ({ toolOutput }) => ended.resolve(toolOutput),
    });
    await expect(generation).rejects.toThrow();
    // The signal may have come before the program began.
    expect(await ended.promise).toMatchObject({ toolName: 'run_code' });
    expect(await runAll(tools, ['kept'])).toMatchObject({ outputs: [{ value: 1 }] });
  });
});

describe('a displayed result of a session', () => {
  const code = `display({
  [Symbol.for('Jupyter.display')]: () => ({ 'text/plain': 'a point', 'image/png': Buffer.from('${PNG}', 'base64') }),
});`;

  it('is shown as text if it has one', async () => {
    await using tools = sessionTools();
    const { outputs, told } = await runAll(tools, [code]);
    expect(outputs[0]?.displayed).toEqual([{ mediaType: 'text/plain', text: 'a point' }]);
    expect(told).not.toContain(PNG);
  });

  it('is shown as a picture to a model that takes pictures', async () => {
    await using tools = sessionTools({ images: true });
    const { outputs, told } = await runAll(tools, [code]);
    expect(outputs[0]?.displayed).toEqual([{ mediaType: 'image/png', base64: PNG }]);
    const { content } = JSON.parse(told) as { content: { output: { value: { type: string; text?: string }[] } }[] };
    const [text, picture] = content[0]?.output.value ?? [];
    expect(JSON.parse(text?.text ?? '')).toMatchObject({ displayed: [{ mediaType: 'image/png', attached: true }] });
    expect(picture).toMatchObject({ type: 'file', mediaType: 'image/png', data: { type: 'data', data: PNG } });
  });
});
