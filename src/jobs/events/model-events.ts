import type { AskModelOptions } from '../../models/ask-model.ts';
import { promptDigest } from '../../models/prompt-digest.ts';
import type { ModelStage } from '../../contracts/jobs/events.ts';
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
