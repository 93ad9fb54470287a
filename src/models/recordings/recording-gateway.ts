import { randomUUID } from 'node:crypto';
import { rename, rm, writeFile } from 'node:fs/promises';
import { SkillcellError } from '../../contracts/errors/skillcell-error.ts';
import type { ModelGateway } from '../model-gateway.ts';
import { formatRecording, recordRequest, type RecordedRequest } from './model-recording.ts';
import { usableAnswer } from '../usable-answer.ts';

/**
 * A gateway that records the requests and answers of another one. The file is replaced completely after each answer. It
 * is first written, empty, before the first request, so that an unwritable file costs no request.
 *
 * @param inner the gateway that asks the model
 * @param file path of the recording; an older recording is replaced
 * @returns the gateway; its `generate` throws `usage.invalid` when the file cannot be written, and `model.failed` for an
 * answer without a text
 * @example
 * ```ts
 * import { readFileSync } from 'node:fs';
 * import { recordingGateway, type ModelGateway } from 'skillcell';
 *
 * const model: ModelGateway = {
 *   id: 'example/fixed',
 *   async generate() {
 *     const usage = { inputTokens: null, outputTokens: null };
 *     return { text: '42', model: 'example/fixed', usage, finishReason: 'stop' };
 *   },
 * };
 * const request = { system: 'Be brief.', messages: [{ role: 'user' as const, content: 'Six times seven?' }] };
 * const signal = AbortSignal.timeout(10_000);
 * await recordingGateway(model, 'answers.json').generate(request, { signal });
 * console.log(JSON.parse(readFileSync('answers.json', 'utf8')).requests[0].answer.text);
 * // prints: [ '42' ]
 * ```
 */
export function recordingGateway(inner: ModelGateway, file: string): ModelGateway {
  const requests: RecordedRequest[] = [];
  let lastWrite: Promise<void> | undefined;

  const write = (): Promise<void> => {
    // One write at a time, each with all answers so far, so that the last write is the most complete.
    lastWrite = (lastWrite ?? Promise.resolve()).then(() => replaceFile(file, formatRecording(requests)));
    return lastWrite;
  };

  return {
    id: inner.id,
    async generate(request, options) {
      await (lastWrite ?? write());
      // The recording must be readable, and the returned answer must equal the recorded one.
      const answer = usableAnswer(await inner.generate(request, options), inner);
      requests.push(recordRequest(request, answer));
      await write();
      return answer;
    },
  };
}

async function replaceFile(file: string, text: string): Promise<void> {
  const temporary = `${file}.${randomUUID()}.tmp`;
  try {
    await writeFile(temporary, text, { flag: 'wx', mode: 0o600 });
    await rename(temporary, file);
  } catch (cause) {
    await rm(temporary, { force: true });
    throw new SkillcellError('usage.invalid', `Cannot write the recording ${file}: ${reason(cause)}.`, { cause });
  }
}

function reason(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : String(error);
}
