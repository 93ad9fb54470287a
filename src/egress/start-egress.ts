import { randomBytes } from 'node:crypto';
import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { SkillcellError } from '../contracts/errors/skillcell-error.ts';
import { inPackage } from '../contracts/package-root.ts';
import { withinDeadline } from '../protocol/within-deadline.ts';
import { currentOwner, ownerName } from '../durable/owner.ts';
import type { Lookup } from '../outgoing/outgoing-rules.ts';
import type { AuthorityParts } from './certificates/create-authority.ts';
import {
  SHARE_BYTES,
  TOKEN_BYTES,
  type EgressJob,
  type EgressRow,
  type EgressSettings,
  type FromWorker,
  type ToWorker,
} from './worker/worker-messages.ts';

/** Memory of the worker for its objects, in MiB. */
const HEAP_MIB = 128;
/** Milliseconds that a worker has for its own end. */
const END_MS = 1_000;
/** Time between two questions of the watch to the worker. */
const WATCH_MS = 5_000;
/** Nothing waits for the answer to a question of the watch. */
const WATCH_SYNC = 0;
/** Questions without an answer after which a worker is replaced. A busy machine delays some answers. */
const MOST_UNANSWERED = 6;

/** Settings of the network of one orchestrator. */
export type EgressOptions = Pick<EgressSettings, 'allow' | 'allowPrivate' | 'ca' | 'upstreamProxy'> & {
  lookup: Lookup | undefined;
  without?: EgressSettings['without'];
};

/** Takes the events of one job's network. */
export interface EgressEvents {
  onRow(row: EgressRow): void;
  /** The worker has failed; all connections were ended. */
  onFault(message: string): void;
}

/** The network of one job. */
export interface JobEgress {
  /** Certificate of the authority that programs must trust, in PEM. */
  authority: string;
  /** Opens a connection, which takes the bytes of one connection of a program. */
  connect(): Socket;
  /** Resolves when the events of all ended requests have arrived. */
  settled(): Promise<void>;
  /** Ends the connections of the job. Resolves when its last event has arrived. */
  close(): Promise<void>;
}

/** The network of the jobs of one orchestrator: a worker thread, started by the first job with a network. */
export interface Egress {
  /** @throws SkillcellError `options.invalid` for a setting that cannot be used */
  open(job: EgressJob, events: EgressEvents): Promise<JobEgress>;
  /** No further request of any job is made: the audit has failed. */
  refuse(): void;
  close(): Promise<void>;
}

/** A running worker. */
interface Running {
  worker: Worker;
  address: string;
}

/** A job, with all that another worker needs to go on with it. */
interface KnownJob {
  job: EgressJob;
  events: EgressEvents;
  /** The authority that its programs trust. */
  authority: AuthorityParts | undefined;
  /** Memory of its `UsedShare`. */
  used: SharedArrayBuffer;
  /** Requests under way, as they began. */
  ongoing: Map<number, EgressRow>;
  /** Why it has no network. */
  refusal?: SkillcellError;
}

/** Creates the network; nothing is started yet. */
export function startEgress(options: EgressOptions): Egress {
  const jobs = new Map<string, KnownJob>();
  /** Answers that the worker owes, by their key. All come when it fails. */
  const owed = new Map<string, () => void>();
  let starting: Promise<Running> | undefined;
  let current: Running | undefined;
  let isRefused = false;
  let isClosed = false;
  let lastSync = WATCH_SYNC;

  const tell = (message: ToWorker): void => current?.worker.postMessage(message, []);
  const answered = async (key: string, message: ToWorker): Promise<void> => {
    if (current === undefined) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    owed.set(key, resolve);
    tell(message);
    await promise;
  };
  const settle = (key: string): void => {
    owed.get(key)?.();
    owed.delete(key);
  };
  const fault = (message: string): void => jobs.forEach(({ events }) => events.onFault(message));

  const take = (message: FromWorker): void => {
    if (message.type === 'begun') jobs.get(message.token)?.ongoing.set(message.id, message.row);
    else if (message.type === 'row') {
      const known = jobs.get(message.token);
      known?.ongoing.delete(message.id);
      known?.events.onRow(message.row);
    } else if (message.type === 'admitted') {
      const known = jobs.get(message.token);
      if (known !== undefined) known.authority = message.authority;
      settle(`admitted ${message.token}`);
    } else if (message.type === 'refused') {
      const known = jobs.get(message.token);
      if (known !== undefined) known.refusal = new SkillcellError(message.code, message.message);
      settle(`admitted ${message.token}`);
    } else if (message.type === 'ended') settle(`ended ${message.token}`);
    else if (message.type === 'synced') settle(`synced ${message.id}`);
    else if (message.type === 'lookup') void look(message.id, message.host);
    else if (message.type === 'fault') fault(message.message);
  };
  const look = async (id: number, host: string): Promise<void> => {
    try {
      tell({ type: 'looked', id, addresses: (await options.lookup?.(host)) ?? [] });
    } catch (error) {
      tell({ type: 'looked', id, error: (error as NodeJS.ErrnoException | undefined)?.code ?? 'EAI_FAIL' });
    }
  };

  /** Records the requests that were under way in a worker that has ended. */
  const recordLost = (): void => {
    for (const { ongoing, events } of jobs.values()) {
      for (const row of ongoing.values()) events.onRow({ ...row, ms: Date.now() - Date.parse(row.at) });
      ongoing.clear();
    }
  };
  /** Ends a worker that no longer answers. */
  const watch = (worker: Worker): NodeJS.Timeout => {
    let unanswered = 0;
    worker.on('message', () => (unanswered = 0));
    return setInterval(() => {
      if (unanswered === MOST_UNANSWERED) {
        fault('the worker of the network does not answer');
        void worker.terminate();
      } else if (jobs.size > 0) worker.postMessage({ type: 'sync', id: WATCH_SYNC } satisfies ToWorker, []);
      unanswered = jobs.size > 0 ? unanswered + 1 : 0;
    }, WATCH_MS).unref();
  };

  const start = async (): Promise<Running> => {
    const folder = await realpath(await mkdtemp(join(tmpdir(), `skillcell-${ownerName(currentOwner())}-egress-`)));
    const address = join(folder, 'socket');
    const { allow, allowPrivate, ca, upstreamProxy, lookup, without = [] } = options;
    const settings = { address, allow, allowPrivate, ca, upstreamProxy, hasLookup: lookup !== undefined, without };
    const worker = new Worker(workerFile(), {
      workerData: settings satisfies EgressSettings,
      resourceLimits: { maxOldGenerationSizeMb: HEAP_MIB },
      // No variable and no flag of this process changes its work.
      env: {},
      execArgv: [],
    });
    worker.unref();
    const watching = watch(worker);
    const ready = Promise.withResolvers<Running>();
    ready.promise.catch(() => undefined);
    worker.on('message', (message: FromWorker) => {
      if (message.type !== 'ready') return take(message);
      ready.resolve({ worker, address });
    });
    worker.on('error', (error: Error) => {
      ready.reject(error);
      if (!isClosed) fault(`${error.name}: ${error.message}`);
    });
    worker.on('exit', () => {
      ready.reject(new Error('the worker of the network has ended'));
      clearInterval(watching);
      current = undefined;
      starting = undefined;
      recordLost();
      for (const key of owed.keys()) settle(key);
      void rm(folder, { recursive: true, force: true });
      if (!isClosed && jobs.size > 0) void restart();
    });
    current = await ready.promise;
    if (isRefused) tell({ type: 'refuse' });
    return current;
  };
  const running = (): Promise<Running> => {
    if (isClosed) throw new SkillcellError('orchestrator.closed', 'Cannot open a network: the orchestrator is closed.');
    return (starting ??= start());
  };
  /** Starts another worker for the jobs of one that has failed. Its authority is the same. */
  const restart = async (): Promise<void> => {
    try {
      await running();
      for (const [token, { job, authority, used }] of jobs) tell({ type: 'job', token, job, authority, used });
    } catch (error) {
      fault(`${(error as Error).name}: ${(error as Error).message}`);
    }
  };

  return {
    async open(job, events) {
      const token = randomBytes(TOKEN_BYTES).toString('hex');
      const begun = await running();
      // The installation of its packages and its program have one share.
      const other = [...jobs.values()].find((each) => each.job.jobId === job.jobId);
      const used = other?.used ?? new SharedArrayBuffer(SHARE_BYTES);
      const known: KnownJob = { job, events, authority: undefined, used, ongoing: new Map() };
      jobs.set(token, known);
      await answered(`admitted ${token}`, { type: 'job', token, job, authority: undefined, used });
      const { authority } = known;
      if (authority === undefined) {
        jobs.delete(token);
        throw known.refusal ?? new SkillcellError('internal.fault', 'Cannot open a network: its worker has ended.');
      }
      return {
        authority: authority.pem,
        connect() {
          const socket = connect({ path: current?.address ?? begun.address, allowHalfOpen: true });
          socket.write(Buffer.from(token, 'hex'));
          return socket;
        },
        async settled() {
          lastSync += 1;
          await answered(`synced ${lastSync}`, { type: 'sync', id: lastSync });
        },
        async close() {
          await answered(`ended ${token}`, { type: 'end', token });
          jobs.delete(token);
        },
      };
    },
    refuse() {
      isRefused = true;
      tell({ type: 'refuse' });
    },
    async close() {
      isClosed = true;
      const begun = await starting?.catch(() => undefined);
      if (begun !== undefined) await endWorker(begun.worker);
    },
  };
}

/** Lets a worker end by itself, so that it is not broken off amid its work. */
async function endWorker(worker: Worker): Promise<void> {
  // An error of the worker comes before its end, and has its own listener.
  const ended = new Promise((resolve) => worker.once('exit', resolve));
  worker.ref();
  worker.postMessage({ type: 'close' } satisfies ToWorker, []);
  await withinDeadline<unknown>(ended, { limitMs: END_MS, overdue: () => worker.terminate() });
}

function workerFile(): URL | string {
  return import.meta.url.endsWith('.ts')
    ? new URL('./worker/egress-worker.ts', import.meta.url)
    : inPackage('dist/egress/worker/egress-worker.js');
}
