import * as z from 'zod/mini';
import type { CheckedValue } from '../../tools/schema/tool-schema.ts';
import { askModel } from '../../models/ask-model.ts';
import type { ModelAnswer, ModelGateway, ModelRequest } from '../../models/model-gateway.ts';
import { ModelTimeoutError } from '../../models/model-timeout-error.ts';
import { promptDigest } from '../../models/prompt-digest.ts';
import { checkOptions } from '../../contracts/checks/check-options.ts';
import { diagnostic } from '../../contracts/errors/diagnostic.ts';
import type { GenerateOptions, Generation } from '../../contracts/jobs/generation.ts';
import { DEFAULT_LIMITS, LIMIT_CEILINGS } from '../../contracts/jobs/limits.ts';
import { SkillcellError } from '../../contracts/errors/skillcell-error.ts';
import { type InstructionBlock, runWithSkills, type SkillsSubsystem } from '../../skills/index.ts';
import { withinDeadline } from '../../protocol/within-deadline.ts';
import { findFencedBlocks, withoutThinking } from '../../skills/text/words/markdown-fences.ts';
import { consumerSchema } from '../request/job-schema.ts';
import { requireLoadable } from '../request/requested-skills.ts';
import { checkOutput, compileOutput, outputSchema, type OutputSchema } from '../request/output-schema.ts';
import { traceModels } from '../tracing/trace-models.ts';
import type { TraceSpan } from '../tracing/trace-span.ts';

const DEFAULT_SYSTEM =
  'You write what the user asks for. Answer with that alone: nothing before it, and nothing about it.';

const PROMPT_CHARACTERS = 1_000_000;
const DEFAULT_ATTEMPTS = 2;
const ACTION = 'generate an answer';

const filled = z.string().check(
  z.refine((text) => text.trim() !== '', 'must not be empty'),
  z.maxLength(PROMPT_CHARACTERS),
);
const whole = (most: number): z.ZodMiniNumber => z.number().check(z.int(), z.minimum(1), z.maximum(most));

const optionsSchema = z.strictObject({
  prompt: filled,
  consumer: consumerSchema,
  skills: z.optional(z.array(z.string())),
  variant: z.optional(z.enum(['full', 'compact'])),
  includeInternal: z.optional(z.boolean()),
  pool: z.optional(z.array(z.record(z.string(), z.unknown()))),
  system: z.optional(filled),
  output: z.optional(outputSchema),
  maxAttempts: z.optional(whole(5)),
  model: z.optional(z.string()),
  modelTimeoutMs: z.optional(whole(LIMIT_CEILINGS.modelTimeoutMs)),
  signal: z.optional(z.custom<AbortSignal>((value) => value instanceof AbortSignal, 'must be an AbortSignal')),
});

/** Model, skills and signal of a generation. */
export interface GenerationHost {
  model: ModelGateway | undefined;
  skills: SkillsSubsystem | undefined;
  /** Aborts the generation. */
  signal: AbortSignal;
  /** Span of the generation. */
  span: TraceSpan;
}

/**
 * Asks the model for an answer, with skills in the system prompt, and asks again while the answer does not fit its schema.
 *
 * @throws SkillcellError `options.invalid`, a `skills.` code or `model.not-configured` before the first request; later a `model.` code
 */
export async function generateAnswer(given: GenerateOptions, host: GenerationHost): Promise<Generation> {
  checkOptions(optionsSchema, given, { action: ACTION });
  const { model: gateway, skills } = host;
  const schema = given.output === undefined ? undefined : await compileOutput(given.output, 'the output');
  const block = renderSkills(given, skills);
  if (gateway === undefined)
    throw new SkillcellError('model.not-configured', `Cannot ${ACTION}: no model is configured.`);
  const signal = given.signal === undefined ? host.signal : AbortSignal.any([given.signal, host.signal]);
  const ask = asking(given, gateway, signal, host.span);
  const judge = judging(given, schema, signal);
  const run = (): Promise<Generation> => converse(given, schema, block, { ask, judge });
  return await (skills === undefined ? run() : runWithSkills(skills, run));
}

/** Renders the skills. A reference that cannot be loaded fails the call: the answer would ignore its rules. */
function renderSkills(given: GenerateOptions, subsystem: SkillsSubsystem | undefined): InstructionBlock | undefined {
  const { skills: refs = [], consumer, variant, includeInternal, pool } = given;
  if (refs.length === 0) return undefined;
  if (subsystem === undefined) {
    const message = `Cannot ${ACTION}: the orchestrator has no skills, got ${refs.map((ref) => JSON.stringify(ref)).join(', ')}.`;
    throw new SkillcellError('options.invalid', message);
  }
  const block = subsystem.buildSkillsInstructionBlock({ refs, consumer, variant, includeInternal, pool });
  requireLoadable(block.rows, consumer, block.diagnostics);
  return block;
}

type Ask = (request: ModelRequest) => Promise<ModelAnswer>;
/** Resolves with undefined without a schema: any text is accepted. */
type Judge = (answer: ModelAnswer) => Promise<CheckedValue | undefined>;

function timeoutOf({ modelTimeoutMs }: GenerateOptions): number {
  return modelTimeoutMs ?? DEFAULT_LIMITS.modelTimeoutMs;
}

/** A function in the schema may be slow, for example ask a service: it has the same deadline as the model. */
function judging(given: GenerateOptions, schema: OutputSchema | undefined, signal: AbortSignal): Judge {
  const limitMs = timeoutOf(given);
  const overdue = (): never => {
    const message = `Cannot ${ACTION}: its schema took longer than ${limitMs / 1000} s.`;
    throw new SkillcellError('model.answer-invalid', message);
  };
  return async (answer) =>
    schema === undefined ? undefined : await withinDeadline(judgeAnswer(answer, schema), { limitMs, overdue, signal });
}

function asking(given: GenerateOptions, gateway: ModelGateway, signal: AbortSignal, span: TraceSpan): Ask {
  const { model } = given;
  const around = traceModels(() => span, 'generate');
  const timeoutMs = timeoutOf(given);
  return async (request) => {
    try {
      return await askModel(request, { gateway, modelName: model, timeoutMs, signal, around });
    } catch (error) {
      if (!(error instanceof ModelTimeoutError)) throw error;
      throw new SkillcellError('model.failed', `Cannot ${ACTION}: ${error.message}`, { cause: error });
    }
  };
}

async function converse(
  given: GenerateOptions,
  schema: OutputSchema | undefined,
  block: InstructionBlock | undefined,
  { ask, judge }: { ask: Ask; judge: Judge },
): Promise<Generation> {
  const request: ModelRequest = {
    system: generationSystem(given.system, schema, block?.text ?? ''),
    messages: [{ role: 'user', content: given.prompt }],
  };
  const most = schema === undefined ? 1 : (given.maxAttempts ?? DEFAULT_ATTEMPTS);
  const usage: Generation['usage'] = { inputTokens: 0, outputTokens: 0 };
  for (let attempts = 1; ; attempts += 1) {
    const answer = await ask(structuredClone(request));
    usage.inputTokens = sum(usage.inputTokens, answer.usage.inputTokens);
    usage.outputTokens = sum(usage.outputTokens, answer.usage.outputTokens);
    const judged = await judge(answer);
    if (judged === undefined || 'value' in judged) {
      const cut = answer.finishReason === 'length' ? [diagnostic('generation.cut-off', CUT_OFF)] : [];
      return {
        text: answer.text,
        ...judged,
        model: answer.model,
        attempts,
        promptSha256: promptDigest(request),
        skills: {
          active: block?.active ?? [],
          instructionSha256: block === undefined || block.text === '' ? null : block.sha256,
        },
        sources: block?.pool ?? given.pool ?? [],
        usage,
        diagnostics: [...(block?.diagnostics ?? []), ...cut],
      };
    }
    if (attempts >= most) {
      throw new SkillcellError(
        'model.answer-invalid',
        `Cannot ${ACTION}: none of ${most} answers fits the schema. The fault of the last one: ${judged.fault}.`,
      );
    }
    // Model services refuse messages without text.
    request.messages.push(
      { role: 'assistant', content: answer.text.trim() === '' ? '(no text)' : answer.text },
      { role: 'user', content: generationFaultMessage(judged.fault) },
    );
  }
}

const CUT_OFF = 'The answer is cut off: the model reached the maximum length of an answer.';

/** Checks the value of an answer: its one fenced block, or the whole answer. */
async function judgeAnswer({ text, finishReason }: ModelAnswer, schema: OutputSchema): Promise<CheckedValue> {
  const said = withoutThinking(text);
  const blocks = findFencedBlocks(said).filter(({ tag }) => tag === 'json' || tag === '');
  const [block] = blocks;
  if (blocks.length > 1) return { fault: `it holds ${blocks.length} blocks, and one is taken` };
  if (finishReason === 'length' && block?.closed !== true) return { fault: 'it was cut off at its greatest length' };
  let value: unknown;
  try {
    value = JSON.parse(block?.code ?? said);
  } catch {
    return { fault: block === undefined ? 'it holds no block marked json' : 'its block is no JSON' };
  }
  return await checkOutput(schema, value);
}

function sum(one: number | null, other: number | null): number | null {
  return one === null || other === null ? null : one + other;
}

/** The system prompt of a generation. It depends on the instructions, the schema and the skills, but not on the prompt. */
function generationSystem(
  system: string | undefined,
  schema: OutputSchema | undefined,
  instructionBlock: string,
): string {
  const sections = [(system ?? DEFAULT_SYSTEM).trim()];
  if (schema !== undefined)
    sections.push(
      `Answer\n- Give exactly one fenced code block, marked json, with one JSON value in it that fits this JSON schema:\n${JSON.stringify(schema.json)}`,
    );
  if (instructionBlock === '') return `${sections.join('\n\n')}\n`;
  sections.push(
    'Skills\nThe block below holds expert instructions. Follow them where they apply; where they say otherwise, the user and the rules above go first.',
  );
  return `${sections.join('\n\n')}\n\n${instructionBlock}`;
}

/** Message to the model about the fault of its answer. */
function generationFaultMessage(fault: string): string {
  return `That answer was not taken: ${fault}. Give the whole value again, corrected, in one fenced code block marked json.\n`;
}
