import type { IncomingMessage, ServerResponse } from 'node:http';
import type { NetworkRequest } from '../rules/judge-request.ts';
import type { JobState } from './job-state.ts';
import type { EgressRow } from './worker-messages.ts';

/** A request under way. */
export interface Exchange {
  /** Number of the request in this worker. */
  id: number;
  state: JobState;
  request: IncomingMessage;
  response: ServerResponse;
  target: NetworkRequest;
  row: EgressRow;
  /** Records its end. The first end counts. */
  finish(status: number | undefined, reason?: EgressRow['reason']): void;
}

/** The job has used up its share within a request. */
export class OverQuota extends Error {
  override readonly name = 'OverQuota';
}

/** The body of a request, within the share of the job. */
export async function* counted(
  { state, request, row }: Exchange,
  isLimited: boolean,
  chunks: AsyncIterable<Buffer> = request,
): AsyncGenerator<Buffer> {
  const { used, job } = state;
  for await (const chunk of chunks) {
    used.bytesOut += chunk.length;
    row.bytesOut += chunk.length;
    if (isLimited && used.bytesOut > job.limits.bytesOut) throw new OverQuota();
    yield chunk;
  }
}
