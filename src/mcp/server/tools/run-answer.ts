import * as z from 'zod/mini';
import type { SessionResult, SessionRun } from '../../../contracts/jobs/session.ts';
import { PROGRAM_FIELDS } from './job-answer.ts';
import { createLinkedContent, type LinkedContent } from './linked-content.ts';
import type { ResourceStore } from '../resources/resource-store.ts';
import { runUri } from '../resources/resource-uri.ts';
import type { ToolAnswer } from './server-tool.ts';

const shownForm = z.union([z.string(), z.strictObject({ uri: z.string(), bytes: z.number() })]);

/** A run in a session for clients: the library's `SessionRun`, with links in place of large parts. */
export const runAnswerSchema: z.core.$ZodType = z.looseObject({
  session: z.string(),
  run: z.number(),
  epoch: z.number(),
  state: z
    .enum(['kept', 'lost'])
    .check(z.describe('Whether definitions of earlier runs are there for the next run; files are there in any case.')),
  ...PROGRAM_FIELDS,
  results: z.array(z.strictObject({ data: z.record(z.string(), shownForm) })),
});

/** Writes the result of one run for a client. */
export async function runAnswer(session: string, run: SessionRun, store: ResourceStore): Promise<ToolAnswer> {
  const { value, stdout, stderr, results, calls, ...rest } = run;
  const linked = createLinkedContent(runUri(session, run.run), store);
  const json = 'value' in run ? JSON.stringify(value) : undefined;
  const isLinked = json !== undefined && linked.text('value', json, 'application/json') !== undefined;
  const shown = {
    session,
    ...rest,
    stdout: linked.output('stdout', stdout),
    stderr: linked.output('stderr', stderr),
    ...(json === undefined || isLinked ? {} : { value }),
    calls: linked.calls(calls),
    results: await Promise.all(results.map((result, index) => shownResult(result, `results/${index + 1}`, linked))),
  };
  return { value: shown, content: linked.blocks, failed: run.outcome !== 'succeeded' };
}

async function shownResult({ data }: SessionResult, name: string, linked: LinkedContent): Promise<{ data: object }> {
  const shown: Record<string, unknown> = {};
  for (const [mediaType, form] of Object.entries(data)) {
    shown[mediaType] = await shownData(form, `${name}/${mediaType}`, mediaType, linked);
  }
  return { data: shown };
}

async function shownData(
  form: string | Uint8Array,
  name: string,
  mediaType: string,
  linked: LinkedContent,
): Promise<unknown> {
  const bytes = Buffer.byteLength(form);
  if (typeof form === 'string') {
    const uri = linked.text(name, form, mediaType);
    return uri === undefined ? form : { uri, bytes };
  }
  await linked.image(mediaType, form.length, async () => form);
  return { uri: linked.keep(name, form, mediaType), bytes };
}
