import type { AskModelOptions } from '../broker/ask-model.ts';
import { promptDigest } from '../broker/prompt-digest.ts';
import type { ModelStage } from '../contracts/events.ts';
import type { EmitEvent } from './event-stream.ts';

/** Emits an event for each request of one stage of a job, and for each answer. */
export function modelEvents(
  jobId: string,
  stage: ModelStage,
  emit: EmitEvent,
): NonNullable<AskModelOptions['observe']> {
  let rounds = 0;
  return (request) => {
    const round = (rounds += 1);
    void emit({ type: 'prompt', jobId, stage, round, promptSha256: promptDigest(request) });
    return ({ text }) => void emit({ type: 'text', jobId, stage, round, text });
  };
}
