import { isDeepStrictEqual } from 'node:util';
import { judgeSkills, type SkillEvidence, type SkillTally } from './judge-skills.ts';
import { readWhole } from './read-in-pieces.ts';
import type { AcceptedJob, ServiceHistory } from './service-history.ts';
import { begunPrograms, storedBytes, storedEvents, storedFolders, storedRows, type StoredJob } from './stored-state.ts';

/** What a judge compares. */
export interface ServiceEvidence extends SkillEvidence {
  /** Folder for the marks of programs. */
  marks: string;
  /** Most jobs that may have been lost with a host. */
  mostLost: number;
}

/** The reason of a cancellation at the end of a service. */
const OVERTIME = 'the service ends';

/** How the jobs ended, by their rows. */
export interface ServiceTally {
  orders: number;
  accepted: number;
  finished: number;
  canceled: number;
  hostLost: number;
  deleted: number;
  reruns: number;
  /** Jobs whose events were read through cut streams. */
  joined: number;
  skills: SkillTally;
}

/** Most attempts of a job whose service is killed. */
const MOST_ATTEMPTS = 3;

/**
 * Compares the answers of a service with its rows, its folders, its logs and the marks of its programs, when every job should have ended. The service
 * runs meanwhile, and no client changes anything.
 */
export async function judgeService(evidence: ServiceEvidence): Promise<{ faults: string[]; tally: ServiceTally }> {
  const { place, history, marks, mostLost } = evidence;
  const rows = await storedRows(place);
  const byId = new Map(rows.jobs.map((row) => [row.id, row]));
  const folders = new Set(storedFolders(place));
  const faults: string[] = [];
  for (const id of folders) if (!byId.has(id)) faults.push(`folder ${id} has no row`);
  for (const id of byId.keys()) if (!folders.has(id)) faults.push(`row ${id} has no folder`);
  if (rows.strayWords > 0) faults.push(`${rows.strayWords} rows of the search have no job`);
  for (const name of rows.skillsWithoutArchive) faults.push(`skill ${name} has no archive`);
  if (rows.strayArchives > 0) faults.push(`${rows.strayArchives} archives have no skill`);

  for (const job of history.jobs.values()) {
    const row = byId.get(job.id);
    if (row === undefined && job.removed === 'no') faults.push(`job ${job.id} was accepted and has no row`);
    if (row !== undefined && job.removed === 'yes') faults.push(`job ${job.id} was deleted and has a row`);
    if (row !== undefined) faults.push(...(await judgeJob(evidence, job, row)));
  }
  faults.push(...judgeOrders(history, rows.jobs, marks), ...(await judgeLists(evidence, rows.jobs)));
  const skills = await judgeSkills(evidence);
  faults.push(...skills.faults);

  const hostLost = rows.jobs.filter((row) => row.error_code === 'job.host-lost').length;
  if (hostLost > mostLost)
    faults.push(`${hostLost} jobs were lost with their host, ${mostLost} at most ran at the kills`);
  const jobs = [...history.jobs.values()];
  const tally: ServiceTally = {
    ...{ orders: history.orders.length, accepted: jobs.length, hostLost },
    finished: rows.jobs.filter(({ state }) => state === 'finished').length,
    canceled: rows.jobs.filter(({ outcome }) => outcome === 'canceled').length,
    deleted: jobs.filter(({ removed }) => removed === 'yes').length,
    reruns: jobs.filter(({ rerunOf }) => rerunOf !== undefined).length,
    joined: jobs.filter(({ events, removed }) => removed === 'no' && (events?.length ?? 0) > 0).length,
    skills: skills.tally,
  };
  return { faults, tally };
}

/** One job: its row, its log, its result, its output and all that clients have seen say the same. */
async function judgeJob({ place, callers }: ServiceEvidence, job: AcceptedJob, row: StoredJob): Promise<string[]> {
  const { id, work } = job;
  const faults: string[] = [];
  const blame = (fault: string): void => void faults.push(`job ${id} ${fault}`);
  if (row.state !== 'finished' || row.result === null) return [`job ${id} has not ended: it is ${row.state}`];
  const { outcome, error_code: errorCode } = row;
  const result = JSON.parse(row.result) as { jobId: string; outcome: string; error?: { message: string } };
  if (result.jobId !== id || result.outcome !== outcome) blame(`is ${outcome}, and its result ${result.outcome}`);
  if (row.attempt > MOST_ATTEMPTS) blame(`ran ${row.attempt} times`);
  if (row.label !== work.name) blame(`has the request of ${row.label}`);
  if (job.end !== undefined && (job.end.outcome !== outcome || job.end.errorCode !== errorCode))
    blame(`was answered as ${job.end.outcome}, and is ${outcome} ${errorCode}`);
  if (!isExpected(job, row, result.error?.message)) blame(`is ${outcome} ${errorCode} instead of ${work.expected}`);

  const caller = callers[job.user];
  if (caller === undefined) return faults;
  const answered = await caller.call(`/jobs/${id}/result`);
  if (!isDeepStrictEqual(answered?.json, result)) blame(`has another result in its answer than in its row`);
  if (job.result !== undefined && job.result !== answered?.text) blame(`has another result than before`);
  // The answer adds the last event if a crash has prevented it.
  const events = await readWhole(caller, id);
  const lines = storedEvents(place, id) ?? [];
  if (lines.join('\n') !== events.map(({ data }) => data).join('\n')) blame(`has another log than stream`);
  const restarts = lines.filter((line) => line.startsWith('{"type":"restarted"')).length;
  if (restarts >= Math.max(1, row.attempt)) blame(`has ${restarts} restarts in its log, in ${row.attempt} attempts`);
  const ends = lines.filter((line) => line.startsWith('{"type":"finished"'));
  if (ends.length !== 1) blame(`has ${ends.length} ends in its log`);
  if (lines.at(-1) !== JSON.stringify({ type: 'finished', jobId: id, result }))
    blame(`has a last event that is not its end: ${lines.at(-1)?.slice(0, 200)}`);
  if (job.events !== undefined && JSON.stringify(job.events) !== JSON.stringify(events))
    blame(`has other events in pieces than at once`);

  if (outcome === 'succeeded') {
    const printed = storedBytes(place, id, 'stdout')?.toString('utf8');
    const all = events.map(({ data }) => JSON.parse(data) as { type: string; stream?: string; text?: string });
    // The output of an attempt that a kill has ended is begun anew.
    const inEvents = all.slice(all.findLastIndex(({ type }) => type === 'restarted') + 1);
    const joined = inEvents.flatMap(({ type, stream, text }) =>
      type === 'output' && stream === 'stdout' ? [text] : [],
    );
    if (joined.join('') !== printed) blame(`has other output in its events than in its file`);
    if (work.stdout !== undefined && printed !== work.stdout)
      blame(`has printed ${JSON.stringify(printed?.slice(0, 99))}`);
  }
  return faults;
}

/** A job ends as it should, or as it was canceled, or as its host was killed for the last time. */
function isExpected(
  { work, isCanceled }: AcceptedJob,
  { outcome, error_code: errorCode }: StoredJob,
  reason: string | undefined,
): boolean {
  if (outcome === work.expected && errorCode === null) return true;
  if (errorCode === 'job.host-lost') return outcome === 'failed';
  // A service that ends cancels the jobs that run when its time is over.
  return outcome === 'canceled' && errorCode === null && (isCanceled || reason === OVERTIME);
}

/** Each order has one job at most, with or without an answer, and its program began once at most. */
function judgeOrders(history: ServiceHistory, rows: readonly StoredJob[], marks: string): string[] {
  const faults: string[] = [];
  const names = new Set(history.orders.map(({ work }) => work.name));
  for (const row of rows) if (row.label === null || !names.has(row.label)) faults.push(`row ${row.id} has no order`);
  for (const { work, hasKey, ids } of history.orders) {
    const own = rows.filter(({ label }) => label === work.name);
    const first = own.filter(({ rerun_of: rerunOf }) => rerunOf === null);
    const strays = first.filter(({ id }) => !ids.has(id));
    if (first.length > 1) faults.push(`${work.name} has ${first.length} jobs`);
    if (hasKey && strays.length > 0) faults.push(`${work.name} has another job for its key: ${strays[0]?.id}`);
    if (ids.size > 1) faults.push(`${work.name} was answered with ${ids.size} jobs`);
    const family = [...history.jobs.values()].filter((job) => job.work.name === work.name);
    for (const { id, reruns } of family) {
      const again = own.filter(({ rerun_of: rerunOf }) => rerunOf === id).length;
      if (again > reruns) faults.push(`job ${id} was run again ${again} times instead of ${reruns}`);
    }
    if (!work.marks) continue;
    // A deleted job, or one that was deleted before its answer, has no row any more.
    const gone = family.filter(({ id }) => !own.some((row) => row.id === id)).length * MOST_ATTEMPTS;
    const most = own.reduce((sum, { attempt }) => sum + attempt, gone);
    const least = own.filter(({ outcome }) => outcome === 'succeeded').length;
    const begun = begunPrograms(marks, work.name);
    if (begun > most || begun < least) faults.push(`${work.name} began ${begun} times, ${least} to ${most} are right`);
  }
  return faults;
}

/** The lists of all users have each row once. */
async function judgeLists({ callers }: ServiceEvidence, rows: readonly StoredJob[]): Promise<string[]> {
  const [admin] = callers;
  const listed: string[] = [];
  let cursor = '';
  do {
    const answer = await admin?.call(`/jobs?limit=100${cursor}`);
    for (const { id } of answer?.json?.items ?? []) listed.push(id as string);
    const next = answer?.json?.next as string | null | undefined;
    cursor = next === null || next === undefined ? '' : `&cursor=${encodeURIComponent(next)}`;
  } while (cursor !== '');
  const stored = rows.map(({ id }) => id);
  return JSON.stringify(listed.toSorted()) === JSON.stringify(stored.toSorted())
    ? []
    : ['the list has other jobs than the rows'];
}
