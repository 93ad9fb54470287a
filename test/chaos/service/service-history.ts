import { appendFileSync } from 'node:fs';
import type { ServiceAnswer } from './service-calls.ts';
import type { ServedJob } from './served-jobs.ts';

/** An event of a job, as a client has read it. */
export interface ReadEvent {
  id: string;
  data: string;
}

/** A job that the service has accepted, by its answers. */
export interface AcceptedJob {
  id: string;
  work: ServedJob;
  /** The client that owns it. */
  user: number;
  rerunOf: string | undefined;
  /** Whether a client has asked for its cancellation. */
  isCanceled: boolean;
  /** The first end that an answer showed, and its time. */
  end: { outcome: string; errorCode: string | null; seenAt: number } | undefined;
  /** The result, byte for byte, as it was first answered. */
  result: string | undefined;
  /** Requests to run it again. */
  reruns: number;
  /** Deletions without an answer yet. */
  removing: number;
  /** `maybe` after a deletion that had no answer. */
  removed: 'no' | 'maybe' | 'yes';
  /** The time of the answer to its deletion. */
  removedAt: number;
  /** Events that a reader has put together from cut streams; undefined without a reader. */
  events: ReadEvent[] | undefined;
}

/** One job that a client wants to run once. */
export interface Order {
  work: ServedJob;
  user: number;
  hasKey: boolean;
  /** The ids that answers gave: at most one. */
  ids: Set<string>;
  /** Whether all its requests were refused. */
  isRefused: boolean;
}

/** A skill that a client has uploaded. */
export interface UploadedSkill {
  name: string;
  user: number;
  /** undefined if the upload had no answer. */
  id: number | undefined;
  /** The archives that were sent for each version. */
  sent: Map<number, Uint8Array[]>;
  /** The archives of the versions that the service has accepted. */
  sure: Map<number, Uint8Array>;
  /** `maybe` after a deletion that had no answer. */
  removed: 'no' | 'maybe' | 'yes';
}

/** The clients' own record: their requests and the answers, apart from the state of the service. */
export interface ServiceHistory {
  readonly jobs: Map<string, AcceptedJob>;
  readonly orders: Order[];
  readonly skills: UploadedSkill[];
  readonly violations: string[];
  blame(fault: string): void;
  note(line: object): void;
  /** Records that the service has accepted a job. */
  accepted(id: string, of: Pick<AcceptedJob, 'work' | 'user' | 'rerunOf'>): AcceptedJob;
  /** Compares an answer about a job with the earlier ones. */
  saw(job: AcceptedJob, answer: ServiceAnswer, sentAt: number): void;
}

/** Creates a history, with a copy in a file for the inspection of a violation. */
export function createServiceHistory(path: string, onProgress: (line: string) => void): ServiceHistory {
  const jobs = new Map<string, AcceptedJob>();
  const violations: string[] = [];
  const note = (line: object): void => appendFileSync(path, `${JSON.stringify({ at: Date.now(), ...line })}\n`);
  const blame = (fault: string): void => {
    violations.push(fault);
    note({ fault });
    onProgress(`VIOLATION: ${fault}`);
  };

  const sawEnd = (job: AcceptedJob, outcome: string, errorCode: string | null): void => {
    job.end ??= { outcome, errorCode, seenAt: performance.now() };
    const { end } = job;
    if (end.outcome === outcome && end.errorCode === errorCode) return;
    const [first, second] = [`${end.outcome} ${end.errorCode}`, `${outcome} ${errorCode}`];
    blame(`job ${job.id} has two ends: ${first}, then ${second}`);
  };

  return {
    ...{ jobs, violations, blame, note, orders: [], skills: [] },
    accepted(id, of) {
      note({ accepted: id, name: of.work.name, rerunOf: of.rerunOf });
      const known = jobs.get(id);
      if (known !== undefined) {
        if (known.work !== of.work || known.rerunOf !== of.rerunOf) blame(`two requests were answered with job ${id}`);
        return known;
      }
      const job: AcceptedJob = {
        ...{ id, ...of, isCanceled: false, end: undefined, result: undefined, reruns: 0, removing: 0 },
        ...{ removed: 'no', removedAt: Number.POSITIVE_INFINITY, events: undefined },
      };
      jobs.set(id, job);
      return job;
    },
    saw(job, { status, text, json }, sentAt) {
      if (status === 404) {
        if (job.removed === 'no' && job.removing === 0) blame(`job ${job.id} is missing`);
        return;
      }
      if (status !== 200 && status !== 202) return;
      if (job.removedAt < sentAt) blame(`job ${job.id} was deleted, and is answered with ${status}`);
      if (json?.jobId === job.id) {
        job.result ??= text;
        if (job.result !== text) blame(`job ${job.id} has two results: ${job.result} and ${text}`);
        if (job.end !== undefined && job.end.outcome !== json.outcome)
          blame(`job ${job.id} is ${job.end.outcome}, and its result says ${json.outcome}`);
        return;
      }
      if (json === undefined) return;
      if (json.id !== job.id) return blame(`the answer about job ${job.id} is about ${json.id}`);
      if (json.state === 'finished') sawEnd(job, json.outcome, json.errorCode);
      else if (job.end !== undefined && sentAt > job.end.seenAt)
        blame(`job ${job.id} was ${job.end.outcome}, and is ${json.state} again`);
    },
  };
}
