import type Docker from 'dockerode';
import { outsideView } from '../outside-view.ts';
import { KEY_PREFIX, WORKERS_KEY } from '../../../src/sandboxes/fleet/fleet-keys.ts';
import type { Cluster, Seat } from './cluster.ts';
import { type ClientLife, type ClientWord, readHistories } from './cluster-history.ts';
import { type ClusterJob, digestsOf } from './cluster-jobs.ts';

/** How the jobs ended, by the histories of their clients. */
export interface ClusterTally {
  accepted: number;
  succeeded: number;
  /** Jobs whose sandbox was lost after a call that may have changed something. */
  lost: number;
  /** Jobs that died with their client. */
  died: number;
  restarts: number;
  calls: number;
}

/** What a judge compares. */
export type ClusterEvidence = Pick<Cluster, 'histories' | 'deadLives' | 'workers' | 'clients' | 'ask'>;

/** Most bytes of all keys in Redis at rest. */
const REST_BYTES = 8 * 1024 * 1024;
/** Keys of the engine that stay. */
const ENGINE_KEYS = /^[a-z0-9-]+\.[a-z]+\.[0-9a-f]{8}:(?:id|meta|events|stalled-check|failed|[0-9a-f]{32})$/;

/** Compares the histories of clients with the rules, when every job should have ended. */
export function judgeHistories({ histories, deadLives }: ClusterEvidence): { faults: string[]; tally: ClusterTally } {
  const tally: ClusterTally = { accepted: 0, succeeded: 0, lost: 0, died: 0, restarts: 0, calls: 0 };
  const faults = readHistories(histories).flatMap((life) => judgeLife(life, deadLives.has(life.name), tally));
  return { faults, tally };
}

function judgeLife({ name, words }: ClientLife, isDead: boolean, tally: ClusterTally): string[] {
  const faults: string[] = [];
  if (!isDead && words.at(-1)?.word !== 'done') faults.push(`client ${name} has not come to its end`);
  const jobs = words.flatMap((word) => (word.word === 'accepted' ? [word.job] : []));
  for (const job of jobs) {
    const own = words.filter((word) => 'id' in word && word.id === job.id);
    faults.push(...judgeJob(job, own, isDead, tally).map((fault) => `job ${job.id} ${fault}`));
  }
  return faults;
}

function judgeJob(job: ClusterJob, words: readonly ClientWord[], isDead: boolean, tally: ClusterTally): string[] {
  const faults: string[] = [];
  const ends = words.filter((word) => word.word === 'ended' || word.word === 'failed');
  const calls = words.filter((word) => word.word === 'called');
  const writes = calls.filter(({ tool }) => tool === 'write').length;
  tally.accepted += 1;
  tally.calls += calls.length;
  tally.restarts += words.filter(({ word }) => word === 'restarted').length;
  if (ends.length > 1) faults.push(`has ${ends.length} ends`);
  if (ends.length === 0 && isDead) tally.died += 1;
  if (ends.length === 0 && !isDead) faults.push('has no end');
  if (writes > 1) faults.push(`has run its write tool ${writes} times`);

  const runs = new Set<string>();
  let latest: string | undefined;
  for (const word of words) {
    if (word.word === 'restarted') latest = undefined;
    if (word.word !== 'called' || word.run === latest) continue;
    if (runs.has(word.run)) faults.push('had a call of an older run after its restart');
    else if (latest !== undefined) faults.push('had calls of two runs without a restart');
    latest = word.run;
    runs.add(word.run);
  }

  const [end] = ends;
  if (end?.word === 'failed') {
    tally.lost += 1;
    if (end.code !== 'sandbox.lost' || writes === 0) faults.push(`has failed by ${end.code}: ${end.about}`);
  }
  if (end?.word === 'ended') {
    tally.succeeded += 1;
    const digests = digestsOf(job);
    if (end.outcome !== 'succeeded') faults.push(`is ${end.outcome}: ${end.about}`);
    else if (end.stdout !== digests.stdout) faults.push('has other output than its program prints');
    else if (end.artifact !== digests.artifact) faults.push('has another artifact than its input');
    else if (writes !== (job.writes ? 1 : 0)) faults.push(`has succeeded with ${writes} writes`);
    const reads = calls.filter(({ tool, run }) => tool === 'read' && run === latest).length;
    if (reads !== job.reads) faults.push(`has made ${reads} reads instead of ${job.reads}`);
  }
  return faults;
}

/** Processes, control groups, folders and containers of sandboxes, of all processes that a host has had. No job runs. */
export async function hostLeftovers(seats: readonly Seat[], engine?: Docker): Promise<string[]> {
  const left = seats.map(async ({ name, temporary, owners }) => {
    const view = outsideView(temporary, engine);
    const all = await Promise.all(owners.map(async (owner) => await view.leftovers(owner)));
    return all.flat().map((each) => `${name} has left: ${each}`);
  });
  return (await Promise.all(left)).flat();
}

/** Keys in Redis that should not be there when no job runs, and too many bytes. */
export function redisLeftovers({ ask }: ClusterEvidence): string[] {
  const script = `local rows = {}
    for _, key in ipairs(redis.call('KEYS', '*')) do
      rows[#rows + 1] = redis.call('PTTL', key) .. ' ' .. redis.call('MEMORY', 'USAGE', key) .. ' ' .. key
    end
    return rows`;
  const rows = ask('--raw', 'EVAL', script, '0').split('\n').filter(Boolean);
  let bytes = 0;
  const faults = rows.flatMap((row) => {
    const [ttl, size, key = ''] = row.split(' ');
    bytes += Number(size);
    return isAtRest(key, Number(ttl)) ? [] : [`Redis has kept ${key}, which expires in ${ttl} ms`];
  });
  if (bytes > REST_BYTES) faults.push(`Redis has kept ${bytes} bytes`);
  return faults;
}

function isAtRest(key: string, ttlMs: number): boolean {
  if (key === WORKERS_KEY) return true;
  const [, rest = ''] = key.startsWith(`${KEY_PREFIX}:`) ? ['', key.slice(KEY_PREFIX.length + 1)] : [];
  return /^(?:worker|to|from):/.test(rest) ? ttlMs > 0 : ENGINE_KEYS.test(rest);
}
