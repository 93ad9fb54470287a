import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs';
import { SkillcellError } from '../../contracts/errors/skillcell-error.ts';
import { firstDifference } from './line-diff.ts';
import type { ModelGateway, ModelRequest } from '../model-gateway.ts';
import { parseRecording, type RecordedRequest } from './model-recording.ts';

const RECORDING_BYTES = 32 * 1024 * 1024;

/**
 * A gateway that answers from a recording, in its order, and only to exactly the recorded prompts. One gateway replays for
 * one job.
 *
 * @param file a recording that `recordingGateway` wrote
 * @returns the gateway; its `generate` throws `model.replay-mismatch` when a prompt differs from the recorded one, or
 * when there are more requests than recorded
 * @throws {SkillcellError} `file.unreadable` or `usage.invalid` when the file is not a recording
 * @example
 * ```ts
 * import { recordingGateway, replayGateway, type ModelGateway } from 'skillcell';
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
 * console.log((await replayGateway('answers.json').generate(request, { signal })).text);
 * // prints: 42
 * ```
 */
export function replayGateway(file: string): ModelGateway {
  const requests = parseRecording(readRecording(file), file);
  let asked = 0;
  return {
    id: 'replay',
    async generate(request, { signal }) {
      signal.throwIfAborted();
      const recorded = requests[asked];
      asked += 1;
      if (recorded === undefined) {
        throw new SkillcellError(
          'model.replay-mismatch',
          `Cannot replay ${file}: it holds ${requests.length} requests, and the job makes request ${asked}.`,
        );
      }
      const prompt = splitRequest(request);
      const expected: Prompt = { system: recorded.system, messages: recorded.messages };
      if (JSON.stringify(prompt) !== JSON.stringify(expected)) {
        const difference = firstDifference(promptLines(expected), promptLines(prompt));
        throw new SkillcellError(
          'model.replay-mismatch',
          `Cannot replay ${file}: request ${asked} differs from the recorded one:\n${difference}`,
        );
      }
      const { text, usage, finishReason } = recorded.answer;
      return { text: text.join('\n'), usage: { ...usage }, model: recorded.model, finishReason };
    },
  };
}

function readRecording(file: string): string {
  let descriptor: number | undefined;
  try {
    // Not blocking, so that a fifo is refused instead of waited for.
    descriptor = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK);
    const stats = fstatSync(descriptor);
    if (!stats.isFile()) throw new Error('it is no regular file');
    if (stats.size > RECORDING_BYTES) throw new Error(`it is over ${RECORDING_BYTES} bytes`);
    return readFileSync(descriptor, 'utf8');
  } catch (cause) {
    const reason = cause instanceof Error ? ('code' in cause ? String(cause.code) : cause.message) : String(cause);
    throw new SkillcellError('file.unreadable', `Cannot read the recording ${file}: ${reason}.`, { cause });
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}

type Prompt = Pick<RecordedRequest, 'system' | 'messages'>;

function splitRequest({ system, messages }: ModelRequest): Prompt {
  return {
    system: system.split('\n'),
    messages: messages.map(({ role, content }) => ({ role, content: content.split('\n') })),
  };
}

/** The lines of a whole prompt, for a diff. */
function promptLines({ system, messages }: Prompt): string[] {
  return ['== system', ...system, ...messages.flatMap(({ role, content }) => [`== ${role}`, ...content])];
}
