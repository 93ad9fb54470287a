import * as z from 'zod/mini';
import { SkillcellError } from '../../contracts/errors/skillcell-error.ts';
import type { ModelAnswer, ModelRequest } from '../model-gateway.ts';

/** Schema name of a recording. */
export const RECORDING_SCHEMA = 'skillcell/model-recording@1';

/** One request with its answer, as in a file. Texts are arrays of lines, so that changes are easy to read. */
export interface RecordedRequest {
  /** `provider/model` that answered. */
  model: string;
  system: string[];
  messages: { role: 'user' | 'assistant'; content: string[] }[];
  answer: {
    text: string[];
    usage: { inputTokens: number | null; outputTokens: number | null };
    finishReason: string;
  };
}

const lines = z.array(z.string());
const count = z.nullable(z.number().check(z.int(), z.nonnegative()));

const recordingSchema = z.strictObject({
  schema: z.literal(RECORDING_SCHEMA),
  requests: z.array(
    z.strictObject({
      model: z.string(),
      system: lines,
      messages: z.array(z.strictObject({ role: z.enum(['user', 'assistant']), content: lines })),
      answer: z.strictObject({
        text: lines,
        usage: z.strictObject({ inputTokens: count, outputTokens: count }),
        finishReason: z.string(),
      }),
    }),
  ),
});

/**
 * Parses the text of a recording.
 *
 * @param text content of the file
 * @param file its name, for the message
 * @returns the requests in the order in which they were made
 * @throws {SkillcellError} `usage.invalid` when it is not a recording
 */
export function parseRecording(text: string, file: string): RecordedRequest[] {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch (cause) {
    throw new SkillcellError('usage.invalid', `Cannot replay ${file}: it is no JSON.`, { cause });
  }
  const checked = z.safeParse(recordingSchema, parsed);
  if (checked.success) return checked.data.requests;
  const where = checked.error.issues[0]?.path.join('.') ?? '';
  throw new SkillcellError(
    'usage.invalid',
    `Cannot replay ${file}: it is no ${RECORDING_SCHEMA}; the fault is at ${where === '' ? 'its top level' : where}.`,
  );
}

/** The text of a recording: JSON with two blanks of indentation and a final newline. */
export function formatRecording(requests: readonly RecordedRequest[]): string {
  return `${JSON.stringify({ schema: RECORDING_SCHEMA, requests }, null, 2)}\n`;
}

/** Converts a request and its answer into the form of the file. */
export function recordRequest(request: ModelRequest, answer: ModelAnswer): RecordedRequest {
  return {
    model: answer.model,
    system: request.system.split('\n'),
    messages: request.messages.map(({ role, content }) => ({ role, content: content.split('\n') })),
    answer: { text: answer.text.split('\n'), usage: answer.usage, finishReason: answer.finishReason },
  };
}
