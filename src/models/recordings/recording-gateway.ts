import { randomUUID } from 'node:crypto';
import { rename, rm, writeFile } from 'node:fs/promises';
import { SkillcellError } from '../../contracts/errors/skillcell-error.ts';
import type { ModelGateway } from '../model-gateway.ts';
import { formatRecording, recordRequest, type RecordedRequest } from './model-recording.ts';
import { usableAnswer } from '../usable-answer.ts';

/**
 * A gateway that writes down what another one is asked and answers. The file is replaced as a whole after each answer,
 * and a first time, empty, before the first request: a file that cannot be written costs no request.
 *
 * @param inner the gateway that really asks
 * @param file where the recording goes; an older recording there is replaced
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
    // One write at a time, each with all that was answered so far: the last one on disk is the fullest.
    lastWrite = (lastWrite ?? Promise.resolve()).then(() => replaceFile(file, formatRecording(requests)));
    return lastWrite;
  };

  return {
    id: inner.id,
    async generate(request, options) {
      await (lastWrite ?? write());
      // What is written down has to be readable, and what is used the same as what is written down.
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
    throw new SkillcellError('usage.invalid', `Cannot write the recording: ${reason(cause)}, got ${file}.`, { cause });
  }
}

function reason(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : String(error);
}
