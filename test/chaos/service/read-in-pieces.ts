import { setTimeout as pause } from 'node:timers/promises';
import type { SeededRandom } from '../seeded-random.ts';
import type { ServiceCaller } from './service-calls.ts';
import type { ReadEvent } from './service-history.ts';

const RETRY_MS = 25;
/** Most bytes of the first piece. */
const PIECE_BYTES = 20_000;

/** Options of {@link readInPieces}. */
export interface ReadInPiecesOptions {
  random: SeededRandom;
  /** Whether the job may be gone. */
  isOver(): boolean;
  blame(fault: string): void;
}

/** Reads the events of a job up to the last one, through streams that are cut at random points. Whole events are kept. */
export async function readInPieces(
  caller: ServiceCaller,
  id: string,
  events: ReadEvent[],
  { random, isOver, blame }: ReadInPiecesOptions,
): Promise<void> {
  let most = PIECE_BYTES;
  while (!isLast(events.at(-1))) {
    const cut = new AbortController();
    const { length } = events;
    try {
      const answer = await caller.events(id, events.at(-1)?.id, cut.signal);
      if (answer.status === 404) {
        if (isOver()) return;
        return blame(`the events of job ${id} are missing`);
      }
      if (answer.status === 200) await readPiece(answer, events, random.between(1, most));
      else if (answer.status !== 503) return blame(`the events of job ${id} are answered with ${answer.status}`);
    } catch {
      // The service was killed, or is not there.
    }
    cut.abort();
    // An event may be longer than a piece.
    most = events.length > length ? PIECE_BYTES : most * 2;
    await pause(RETRY_MS);
  }
}

/** Reads all events at once. */
export async function readWhole(caller: ServiceCaller, id: string): Promise<ReadEvent[]> {
  const events: ReadEvent[] = [];
  await readPiece(await caller.events(id, undefined, new AbortController().signal), events, Number.POSITIVE_INFINITY);
  return events;
}

async function readPiece({ body }: Response, events: ReadEvent[], bytes: number): Promise<void> {
  const decoder = new TextDecoder();
  let text = '';
  let left = bytes;
  for await (const piece of body ?? []) {
    text += decoder.decode((piece as Uint8Array).subarray(0, left), { stream: true });
    const blocks = text.split('\n\n');
    text = blocks.pop() ?? '';
    events.push(...blocks.flatMap(eventOf));
    left -= (piece as Uint8Array).length;
    if (left <= 0) return;
  }
}

function eventOf(block: string): ReadEvent[] {
  const { id, data } = /^id: (?<id>\d+\.\d+)\ndata: (?<data>.*)$/s.exec(block)?.groups ?? {};
  return id === undefined || data === undefined ? [] : [{ id, data }];
}

function isLast(event: ReadEvent | undefined): boolean {
  return event?.data.startsWith('{"type":"finished"') === true;
}
