import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ReplicaJob } from './replica-jobs.ts';

/** An event as a client has read it. */
export interface SeenEvent {
  /** `<attempt>.<offset>` */
  id: string;
  /** Bytes of its data. */
  bytes: number;
  digest: string;
}

/** A line in the history of a user. It is written before the user goes on. */
export type UserWord =
  | { word: 'ordered'; job: ReplicaJob }
  /** An answer to a submission. All answers for one key name one job. */
  | { word: 'accepted'; name: string; id: string }
  /** A cancellation was answered; surely in time, if the program cannot have ended before each replica knows of it. */
  | { word: 'canceled'; name: string; isInTime: boolean }
  /** The events that the user has joined from cut streams, up to the last one. */
  | { word: 'followed'; name: string; events: SeenEvent[] }
  | { word: 'ended'; name: string; outcome: string; result: string; stdout: string | null; artifact: string | null }
  /** An answer that no answer may be. */
  | { word: 'fault'; about: string }
  /** Every job has ended, and the user orders no more. */
  | { word: 'done' };

/** A call of a tool, as the tool saw it begin. */
export interface JournalCall {
  name: string;
  run: string;
  tool: 'read' | 'write';
}

const ENDING = '.jsonl';

/** The file of a user's history. */
export function userHistoryPath(folder: string, life: string): string {
  return join(folder, `${life}${ENDING}`);
}

/** The histories of all users, by their names. */
export function readUserHistories(folder: string): Map<string, UserWord[]> {
  const files = readdirSync(folder).filter((name) => name.endsWith(ENDING));
  return new Map(
    files.toSorted().map((file) => [file.slice(0, -ENDING.length), linesOf<UserWord>(join(folder, file))]),
  );
}

/** The calls of all jobs, in order. */
export function readJournal(path: string): JournalCall[] {
  return linesOf<JournalCall>(path);
}

function linesOf<Line>(path: string): Line[] {
  const lines = readFileSync(path, 'utf8').split('\n').slice(0, -1);
  return lines.map((line) => JSON.parse(line) as Line);
}
