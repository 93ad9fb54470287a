import type { SentEvent } from '../../src/client/follow-job.ts';
import { apiPath } from '../shared/api.ts';

/** The service sends a comment each 15 seconds, which the browser keeps to itself. */
const RETRY_MS = 1_000;

/** States of the connection. */
export type Connection = 'open' | 'lost' | 'ended';

/**
 * Reads the events of a job up to its last one, each once. The browser goes on after the last event by itself; a refusal, as of a service that
 * starts, is tried again here.
 *
 * @returns a function that ends it
 */
export function followJob(
  id: string,
  { onEvent, onState }: { onEvent: (event: SentEvent) => void; onState: (state: Connection) => void },
): () => void {
  let last: string | undefined;
  let source: EventSource | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const connect = (): void => {
    source = new EventSource(apiPath(`/jobs/${encodeURIComponent(id)}/events`, { after: last }));
    source.addEventListener('open', () => onState('open'));
    source.addEventListener('message', ({ data, lastEventId }: MessageEvent<string>) => {
      last = lastEventId;
      const event = JSON.parse(data) as SentEvent;
      onEvent(event);
      if (event.type !== 'finished') return;
      onState('ended');
      source?.close();
    });
    source.addEventListener('error', () => {
      onState('lost');
      if (source?.readyState === EventSource.CLOSED) timer = setTimeout(connect, RETRY_MS);
    });
  };
  connect();
  return () => {
    source?.close();
    clearTimeout(timer);
  };
}
