import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { JobResult } from '../../../src/contracts/jobs/result.ts';
import type { ClusterJob } from './cluster-jobs.ts';

/** A line in the history of a client. It is written before the client goes on. */
export type ClientWord =
  | { word: 'accepted'; job: ClusterJob }
  | { word: 'started' | 'restarted'; id: string; attempt: number; about: string }
  /** A call of a run of the program, as its tool saw it begin. */
  | { word: 'called'; id: string; run: string; tool: 'read' | 'write' }
  | { word: 'ended'; id: string; outcome: JobResult['outcome']; stdout: string; artifact: string | null; about: string }
  | { word: 'failed'; id: string; code: string; about: string }
  /** Every job has ended, and the client takes no more. */
  | { word: 'done' };

/** The life of a client: one process. */
export interface ClientLife {
  name: string;
  words: (ClientWord & { at: number })[];
}

const ENDING = '.jsonl';

export function historyPath(folder: string, life: string): string {
  return join(folder, `${life}${ENDING}`);
}

/** The histories of all clients. A client that was killed may leave half a line. */
export function readHistories(folder: string): ClientLife[] {
  return readdirSync(folder)
    .filter((name) => name.endsWith(ENDING))
    .toSorted()
    .map((file) => {
      const lines = readFileSync(join(folder, file), 'utf8').split('\n').slice(0, -1);
      return { name: file.slice(0, -ENDING.length), words: lines.map((line) => JSON.parse(line) as never) };
    });
}
