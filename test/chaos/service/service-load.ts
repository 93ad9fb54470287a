import { setTimeout as pause } from 'node:timers/promises';
import type { SeededRandom } from '../seeded-random.ts';
import { readInPieces } from './read-in-pieces.ts';
import { isSure, jobForm, type ServiceCaller } from './service-calls.ts';
import type { AcceptedJob, Order, ServiceHistory } from './service-history.ts';
import { servedJob } from './served-jobs.ts';
import { skillLoad } from './skill-load.ts';

/** Clients that use a service at random until they are stopped. */
export interface ServiceLoad {
  /** No new action begins. Resolves when requests that must be answered are, so the service must be there. */
  stop(): Promise<void>;
}

/** Options of {@link startServiceLoad}. */
export interface ServiceLoadOptions {
  random: SeededRandom;
  history: ServiceHistory;
  /** One for each user. */
  callers: readonly ServiceCaller[];
  /** Folder for the marks of programs. */
  marks: string;
}

/** Loops of each user, so that its own requests meet. */
const LOOPS = 2;
/** With more jobs that have not ended, clients wait. */
const MOST_OPEN = 24;
const MOST_READERS = 6;
const RETRY_MS = 25;

/** Starts the load. */
export function startServiceLoad({ random, history, callers, marks }: ServiceLoadOptions): ServiceLoad {
  let isStopped = false;
  let readers = 0;
  const reading: Promise<void>[] = [];
  const skills = skillLoad(random, history);
  /** Names of jobs that are being sent. After a deletion, their keys would be free for a second job. */
  const sending = new Set<string>();

  const jobsOf = (user: number, fits: (job: AcceptedJob) => boolean): AcceptedJob[] =>
    [...history.jobs.values()].filter((job) => job.user === user && job.removed === 'no' && fits(job));
  const anyOf = (jobs: AcceptedJob[]): AcceptedJob | undefined =>
    jobs.length === 0 ? undefined : jobs[random.between(0, jobs.length - 1)];
  const isOpen = (job: AcceptedJob): boolean => job.end === undefined && job.result === undefined;

  /** Takes the id from an answer, which may be cut off after its head. */
  const take = (
    location: string | null,
    of: Pick<AcceptedJob, 'work' | 'user' | 'rerunOf'>,
  ): AcceptedJob | undefined => {
    const id = location?.split('/').at(-1);
    return id === undefined ? undefined : history.accepted(id, of);
  };

  const submit = async (caller: ServiceCaller, user: number): Promise<void> => {
    const work = servedJob(random, `job-${history.orders.length}`, marks);
    const key = random.between(0, 2) > 0 ? work.name : undefined;
    const order: Order = { work, user, hasKey: key !== undefined, ids: new Set(), isRefused: false };
    history.orders.push(order);
    history.note({ order: work.name, key });
    const twice = key !== undefined && random.between(0, 4) === 0;
    sending.add(work.name);
    await Promise.all(Array.from({ length: twice ? 2 : 1 }, () => send(caller, order, key)));
    sending.delete(work.name);
    if (order.ids.size > 1) history.blame(`one key has the jobs ${[...order.ids].join(', ')}`);
    const [id] = order.ids;
    const job = id === undefined ? undefined : history.jobs.get(id);
    if (job !== undefined && readers < MOST_READERS) read(caller, job);
  };

  /** Sends a job. With a key, it is sent again until it has an answer. */
  const send = async (caller: ServiceCaller, order: Order, key: string | undefined): Promise<void> => {
    const { work, user } = order;
    for (;;) {
      const sentAt = performance.now();
      const headers = {
        ...(key === undefined ? {} : { 'idempotency-key': key }),
        ...(random.between(0, 3) === 0 ? { prefer: 'wait=1' } : {}),
      };
      const body = work.upload === undefined ? work.request : jobForm(work);
      const answer = await caller.call('/jobs', { body, headers });
      if (answer?.status === 202 || answer?.status === 200) {
        const job = take(answer.location, { work, user, rerunOf: undefined });
        if (job === undefined) return history.blame(`${work.name} was accepted without a Location`);
        order.ids.add(job.id);
        history.saw(job, answer, sentAt);
        return;
      }
      if (isSure(answer)) return history.blame(`${work.name} is refused with ${answer.status}: ${answer.text}`);
      if (key === undefined) return;
      await pause(RETRY_MS);
    }
  };

  /** Reads the events of a job in pieces, through the deaths of the service. */
  const read = (caller: ServiceCaller, job: AcceptedJob): void => {
    readers += 1;
    job.events ??= [];
    const isOver = (): boolean => job.removed !== 'no' || job.removing > 0;
    reading.push(
      readInPieces(caller, job.id, job.events, { random, isOver, blame: history.blame }).finally(() => {
        readers -= 1;
      }),
    );
  };

  const look = async (caller: ServiceCaller, job: AcceptedJob): Promise<void> => {
    const sentAt = performance.now();
    const answer = await caller.call(`/jobs/${job.id}${random.pick(['', '/result'])}`);
    if (answer !== undefined) history.saw(job, answer, sentAt);
  };

  const cancel = async (caller: ServiceCaller, job: AcceptedJob): Promise<void> => {
    const sentAt = performance.now();
    job.isCanceled = true;
    const answer = await caller.call(`/jobs/${job.id}/cancel`, { method: 'POST' });
    if (answer !== undefined && answer.status !== 409) history.saw(job, answer, sentAt);
  };

  const rerun = async (caller: ServiceCaller, job: AcceptedJob, user: number): Promise<void> => {
    job.reruns += 1;
    const sentAt = performance.now();
    const answer = await caller.call(`/jobs/${job.id}/rerun`, { method: 'POST' });
    const again = take(answer?.location ?? null, { work: job.work, user, rerunOf: job.id });
    if (answer !== undefined && again !== undefined) history.saw(again, answer, sentAt);
    else if (answer?.status === 404) history.saw(job, answer, sentAt);
    // The files of a job that is deleted meanwhile are gone.
    else if (isSure(answer) && job.removed === 'no' && job.removing === 0)
      history.blame(`job ${job.id} is not run again, with ${answer.status}: ${answer.text}`);
  };

  const remove = async (caller: ServiceCaller, job: AcceptedJob): Promise<void> => {
    if (sending.has(job.work.name)) return;
    job.removing += 1;
    // Another client may see the end while this request is on its way.
    const hadEnded = job.end !== undefined;
    const answer = await caller.call(`/jobs/${job.id}`, { method: 'DELETE' });
    if (answer?.status === 204) [job.removed, job.removedAt] = ['yes', performance.now()];
    else if (!isSure(answer) && job.removed === 'no') job.removed = 'maybe';
    else if (answer?.status === 409 && hadEnded) history.blame(`job ${job.id} has ended, and is not deleted`);
    job.removing -= 1;
  };

  const act = async (caller: ServiceCaller, user: number): Promise<void> => {
    const open = jobsOf(user, isOpen).length;
    const dice = random.between(1, 100);
    if (dice <= 30 && open * callers.length < MOST_OPEN) return await submit(caller, user);
    if (dice <= 35) return await skills.upload(caller, user);
    if (dice <= 45) return await skills.update(caller, user);
    if (dice <= 46) return await skills.remove(caller, user);
    const ended = anyOf(jobsOf(user, (job) => !isOpen(job)));
    if (dice <= 50 && ended !== undefined && open * callers.length < MOST_OPEN) return await rerun(caller, ended, user);
    if (dice <= 58 && ended !== undefined) return await remove(caller, ended);
    const one = anyOf(jobsOf(user, isOpen)) ?? ended;
    if (one === undefined) return;
    if (dice <= 70 && (one.work.endless || random.between(0, 3) === 0)) return await cancel(caller, one);
    if (dice <= 73) return await remove(caller, one);
    await look(caller, one);
  };

  /** Cancels what would not end, also jobs whose acceptance had no answer. */
  const cancelEndless = async (): Promise<void> => {
    const endless = new Set(history.orders.filter(({ work }) => work.endless).map(({ work }) => work.name));
    const [admin] = callers;
    for (const state of ['waiting', 'running']) {
      const answer = await admin?.call(`/jobs?limit=100&state=${state}`);
      for (const { id, label } of (answer?.json?.items ?? []) as { id: string; label: string }[]) {
        if (!endless.has(label)) continue;
        const known = history.jobs.get(id);
        if (known !== undefined) known.isCanceled = true;
        await admin?.call(`/jobs/${id}/cancel`, { method: 'POST' });
      }
    }
  };

  const loop = async (caller: ServiceCaller, user: number): Promise<void> => {
    while (!isStopped) {
      await act(caller, user);
      await pause(random.between(0, RETRY_MS));
    }
  };
  const loops = callers.flatMap((caller, user) => Array.from({ length: LOOPS }, () => loop(caller, user)));

  return {
    async stop() {
      isStopped = true;
      await Promise.all(loops);
      await cancelEndless();
      await Promise.all(reading);
    },
  };
}
