import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import type { SentEvent } from '../../src/client/follow-job.ts';
import type { Artifact, CallRow, JobResult, ResultSkills } from '../../src/contracts/jobs/result.ts';
import { ME } from '../shared/queries.ts';
import { LineReader, type OutputLine } from './ansi.ts';
import { type Connection, followJob } from './follow-job.ts';

/** A program of a codegen job, as it arrives. */
export interface LiveAttempt {
  attempt: number;
  code: string;
  promptSha256: string | null;
}

/** A sandbox of a job that began anew in another one. */
export interface LostSandbox {
  attempt: number;
  /** Null if it was lost before it started, or without a fleet. */
  worker: string | null;
  reason: string;
}

/** All that the events of a job have told so far. */
export interface LiveJob {
  connection: Connection;
  lines: OutputLine[];
  attempts: LiveAttempt[];
  calls: CallRow[];
  artifacts: Artifact[];
  skills: ResultSkills | null;
  /** The present step of the job, as a text. */
  phase: string;
  result: JobResult | null;
  /** Sandboxes that were lost with their hosts. */
  lost: LostSandbox[];
}

/** Events of this time are shown together, in milliseconds, so that fast output does not block the page. */
const SHOW_MS = 100;
/** Time for events at once, in milliseconds. The browser hands over a whole megabyte of them in one task. */
const TAKE_MS = 50;

/** Follows a job, from its first event on. */
export function useLiveJob(id: string): LiveJob {
  const [shown, setShown] = useState<LiveJob>(() => emptyJob());
  const client = useQueryClient();
  useEffect(() => {
    const job = emptyJob();
    const take = eventTaker(job);
    const waiting: SentEvent[] = [];
    let timer: ReturnType<typeof setTimeout> | undefined;
    const show = (): void => {
      timer ??= setTimeout(() => {
        timer = undefined;
        const end = performance.now() + TAKE_MS;
        let taken = 0;
        for (const event of waiting) {
          take(event);
          taken += 1;
          if (performance.now() > end) break;
        }
        waiting.splice(0, taken);
        setShown({ ...job });
        if (waiting.length > 0) show();
      }, SHOW_MS);
    };
    const end = followJob(id, {
      onEvent(event) {
        waiting.push(event);
        if (event.type === 'started' || event.type === 'finished')
          void client.invalidateQueries({ queryKey: ['jobs'] });
        show();
      },
      onState(state) {
        job.connection = state;
        // The session may have ended: then the page returns to the sign-in.
        if (state === 'lost') void client.invalidateQueries({ queryKey: ME });
        show();
      },
    });
    return () => {
      end();
      clearTimeout(timer);
    };
  }, [id, client]);
  return shown;
}

function emptyJob(): LiveJob {
  return {
    ...{ connection: 'open', lines: [], attempts: [], calls: [], artifacts: [] },
    ...{ skills: null, phase: 'waiting', result: null, lost: [] },
  };
}

/** Adds events to a job. */
export function eventTaker(job: LiveJob): (event: SentEvent) => void {
  let [readers, decoders] = outputReaders();
  let prompt: string | null = null;
  let worker: string | null = null;
  return (event) => {
    if (event.type === 'output') {
      const { stream, text, base64 } = event;
      const bytes = base64 === undefined ? undefined : Uint8Array.from(atob(base64), (each) => each.charCodeAt(0));
      const added = text ?? decoders[stream].decode(bytes, { stream: true });
      readers[stream].add(job.lines, added);
    } else if (event.type === 'waiting') job.phase = `waiting: ${event.reason}`;
    else if (event.type === 'restarted') {
      [readers, decoders] = outputReaders();
      Object.assign(job, { lines: [], attempts: [], calls: [], artifacts: [] });
      job.lost = [...job.lost, { attempt: event.attempt - 1, worker, reason: event.reason }];
      worker = null;
      job.phase = `attempt ${event.attempt} begins: ${event.reason}`;
    } else if (event.type === 'started') {
      worker = event.worker ?? null;
      job.phase = `running at level ${event.isolation}${event.worker === undefined ? '' : ` on worker ${event.worker}`}`;
    } else if (event.type === 'attempt') {
      job.phase =
        event.phase === 'asking' ? `the model writes program ${event.attempt}` : `program ${event.attempt} runs`;
    } else if (event.type === 'prompt') prompt = event.promptSha256;
    else if (event.type === 'code') {
      job.attempts = [...job.attempts, { attempt: event.attempt, code: event.code, promptSha256: prompt }];
    } else if (event.type === 'skills') job.skills = event.skills;
    else if (event.type === 'call') job.calls = [...job.calls, event.call];
    else if (event.type === 'artifact') job.artifacts = [...job.artifacts, event.artifact];
    else if (event.type === 'finished') {
      job.result = event.result;
      job.phase = 'finished';
      ({ calls: job.calls, artifacts: job.artifacts, skills: job.skills } = event.result);
    }
  };
}

/** Readers for both streams of output, which hold incomplete lines and characters. */
function outputReaders(): [Record<OutputLine['stream'], LineReader>, Record<OutputLine['stream'], TextDecoder>] {
  return [
    { stdout: new LineReader('stdout'), stderr: new LineReader('stderr') },
    { stdout: new TextDecoder(), stderr: new TextDecoder() },
  ];
}
