import type { JobResult } from '../../src/contracts/jobs/result.ts';
import type { Job, JobSummary } from '../../src/server/schemas/jobs.ts';
import { useQuery, type UseQueryResult } from '@tanstack/react-query';
import { ask } from '../shared/api.ts';

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
  code?: string;
  task?: string;
  language?: string;
  skill?: string;
  script?: string;
  args?: string[];
  env?: string[];
  files: { destination: string; bytes: number }[];
  stdin: { bytes: number } | null;
  skills?: { refs?: string[] };
  [field: string]: unknown;
}

/** A job. It is read again while it runs. */
export function useJob(id: string): UseQueryResult<Job> {
  return useQuery({ queryKey: ['jobs', id], queryFn: () => ask<Job>(`/jobs/${encodeURIComponent(id)}`) });
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

/** The limits that a result names, with their uses. */
export function usesOf({ usage, stdout, stderr, artifacts, callTotals }: JobResult): [name: string, used: string][] {
  const mib = usage.maxRssBytes === null ? undefined : `${(usage.maxRssBytes / 1024 / 1024).toFixed(0)} MiB`;
  const calls = Object.values(callTotals ?? {}).reduce((sum, total) => sum + total.calls, 0);
  const uses: [string, string | undefined][] = [
    ['time', usage.wallMs === null ? undefined : `${usage.wallMs} ms`],
    ['processor', usage.cpuMs === null ? undefined : `${usage.cpuMs} ms`],
    ['memory', mib],
    ['output', `${stdout.bytes + stderr.bytes} B${stdout.truncated || stderr.truncated ? ' (cut off)' : ''}`],
    ['artifacts', `${artifacts.reduce((sum, { bytes }) => sum + bytes, 0)} B`],
    ['calls', String(calls)],
  ];
  return uses.filter((use): use is [string, string] => use[1] !== undefined);
}
