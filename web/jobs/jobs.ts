import type { Job, JobSummary } from '../../src/server/schemas/jobs.ts';
import type { UseQueryResult } from '@tanstack/react-query';
import { useAnswer } from '../shared/queries.ts';

/** Colours of states and outcomes. */
const COLOURS: Readonly<Record<string, string>> = {
  waiting: 'gray',
  running: 'blue',
  succeeded: 'green',
  canceled: 'gray',
};

/** The request of a job as the service shows it: names of variables, and files without their bytes. */
export interface ShownRequest {
  kind: JobSummary['kind'];
  label?: string;
  code?: string;
  task?: string;
  language?: string;
  skill?: string;
  script?: string;
  args?: string[];
  env?: string[];
  files: { destination: string; bytes: number }[];
  stdin: { bytes: number } | null;
  limits?: { runTimeoutMs?: number; memoryMib?: number };
  skills?: { refs?: string[] };
  network?: (string | object)[];
  packages?: { npm?: string[]; pypi?: string[] };
  secrets?: string[];
  [field: string]: unknown;
}

/** A job. It is read again while it runs. */
export function useJob(id: string): UseQueryResult<Job> {
  return useAnswer(`/jobs/${encodeURIComponent(id)}`);
}

/** The request of a job. */
export function requestOf({ request }: Job): ShownRequest {
  return request as unknown as ShownRequest;
}

/** The state of a job in one word, and its colour. */
export function stateOf({ state, outcome }: Pick<JobSummary, 'state' | 'outcome'>): { word: string; color: string } {
  const word = state === 'finished' ? (outcome ?? 'failed') : state;
  return { word: word.replaceAll('_', ' '), color: COLOURS[word] ?? 'red' };
}

/** How long a job took, or has run so far. */
export function lastedMs({ startedAt, finishedAt }: Pick<JobSummary, 'startedAt' | 'finishedAt'>): number | null {
  return startedAt === null ? null : (finishedAt ?? Date.now()) - startedAt;
}
