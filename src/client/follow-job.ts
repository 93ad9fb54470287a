import * as z from 'zod/mini';
import { SkillcellError } from '../contracts/errors/skillcell-error.ts';
import type { JobEvent } from '../contracts/jobs/events.ts';
import type { JobResult } from '../contracts/jobs/result.ts';
import { type AskService, foreign, type Patience } from './ask-service.ts';

/** An event as the service sends it: output has a text, or bytes as base64. */
export type SentEvent =
  | Exclude<JobEvent, { type: 'output' | 'faulted' }>
  | { type: 'output'; jobId: string; stream: 'stdout' | 'stderr'; text?: string; base64?: string };

/** The service sends a comment each 15 seconds: without any bytes for this time, the connection is dead. */
const SILENCE_MS = 45_000;
/** Characters of one event: results are large, and a foreign answer may have no end. */
const EVENT_CHARACTERS: number = 256 * 1024 * 1024;

const texts = z.looseObject({ text: z.string(), bytes: z.number(), truncated: z.boolean() });
const resultSchema = z.looseObject({
  jobId: z.string(),
  outcome: z.enum(['succeeded', 'failed', 'timeout', 'out_of_memory', 'limit', 'canceled']),
  ...{ runner: z.nullable(z.string()), isolation: z.nullable(z.string()) },
  ...{ stdout: texts, stderr: texts },
  artifacts: z.array(z.looseObject({ path: z.string(), bytes: z.number(), sha256: z.string() })),
  omitted: z.array(z.looseObject({ path: z.string(), reason: z.string() })),
  diagnostics: z.array(z.looseObject({ code: z.string(), message: z.string() })),
}) as unknown as z.ZodMiniType<JobResult>;
const eventSchema = z.union([
  z.looseObject({ type: z.literal('finished'), jobId: z.string(), result: resultSchema }),
  z.looseObject({
    ...{ type: z.literal('output'), jobId: z.string(), stream: z.enum(['stdout', 'stderr']) },
    ...{ text: z.optional(z.string()), base64: z.optional(z.string()) },
  }),
  z.looseObject({
    type: z.string().check(z.refine((type) => type !== 'finished' && type !== 'output')),
    jobId: z.string(),
  }),
]) as unknown as z.ZodMiniType<SentEvent>;

/**
 * Reads the events of a job, each once, up to the last one. A cut stream goes on after the last event that arrived whole.
 *
 * @throws SkillcellError `service.unavailable`, or with the code of a refusal
 */
export async function* followJob(ask: AskService, jobId: string, patience: Patience): AsyncGenerator<SentEvent> {
  let last: string | undefined;
  for (;;) {
    const silence = new AbortController();
    const timer = setTimeout(() => silence.abort(new Error('no bytes came')), SILENCE_MS);
    let failure: unknown = new Error('the stream ended before its last event');
    try {
      const headers = last === undefined ? {} : { 'last-event-id': last };
      const answer = await ask(`/jobs/${jobId}/events`, { headers, signal: silence.signal }, (given) => given);
      if (!/^text\/event-stream\b/.test(answer.headers.get('content-type') ?? '')) throw foreign(answer);
      for await (const { id, data } of eventsIn(answer, () => timer.refresh())) {
        const event = checkedEvent(data, answer);
        yield event;
        last = id;
        patience.progress();
        if (event.type === 'finished') return;
      }
    } catch (error) {
      if (SkillcellError.isInstance(error)) throw error;
      failure = error;
    } finally {
      clearTimeout(timer);
      // Ends the connection of a reader that has left.
      silence.abort();
    }
    await patience.pause(failure);
  }
}

function checkedEvent(data: string, answer: Response): SentEvent {
  try {
    return eventSchema.parse(JSON.parse(data));
  } catch {
    throw foreign(answer);
  }
}

/** The events of a stream, by its lines. An event without its empty line is not whole. */
async function* eventsIn(answer: Response, onBytes: () => void): AsyncGenerator<{ id: string; data: string }> {
  let id: string | undefined;
  let data: string | undefined;
  let begun: string[] = [];
  let characters = 0;
  for await (const piece of answer.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    onBytes();
    const [end = '', ...next] = piece.split('\n');
    begun.push(end);
    characters += end.length;
    if (characters > EVENT_CHARACTERS) throw foreign(answer);
    for (const text of next) {
      const line = begun.join('');
      [begun, characters] = [[text], text.length];
      if (line.startsWith('id: ')) id = line.slice(4);
      else if (line.startsWith('data: ')) data = line.slice(6);
      else if (line === '') {
        if (id !== undefined && data !== undefined) yield { id, data };
        [id, data] = [undefined, undefined];
      }
    }
  }
}
