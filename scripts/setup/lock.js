import {
  mkdirSync,
  readFileSync,
  readdirSync,
  readlinkSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const POLL_MS = 200;
const HEARTBEAT_MS = 5_000;
/** An owner that cannot be looked up (another machine or container) counts as gone if its file is this old. */
const SILENT_MS = 60_000;

/**
 * Runs one set-up at a time in a checkout.
 *
 * The lock is the file with the highest number. A waiter takes the lock over by exclusive creation of the next number, which
 * only one of several waiters can do. The highest file is never deleted, so that no number is used twice.
 *
 * @template T
 * @param {string} folder
 * @param {(owner: string) => void} onWait called once if another process holds the lock
 * @param {() => Promise<T>} run
 * @returns {Promise<T>}
 */
export async function withLock(folder, onWait, run) {
  const path = await acquire(folder, onWait);
  const heartbeat = setInterval(() => utimesSync(path, new Date(), new Date()), HEARTBEAT_MS);
  heartbeat.unref();
  try {
    return await run();
  } finally {
    clearInterval(heartbeat);
    writeFileSync(path, JSON.stringify({ released: true }));
  }
}

/**
 * @param {string} folder
 * @param {(owner: string) => void} onWait
 */
async function acquire(folder, onWait) {
  mkdirSync(folder, { recursive: true });
  for (let waited = false; ;) {
    const highest = highestNumber(folder);
    if (highest > 0 && isHeld(join(folder, String(highest)))) {
      if (!waited) onWait(ownerName(join(folder, String(highest))));
      waited = true;
      await sleep(POLL_MS);
      continue;
    }
    const path = join(folder, String(highest + 1));
    if (!createExclusively(path)) continue;
    // Another process may have continued past a number that was removed meanwhile.
    if (highestNumber(folder) > highest + 1) {
      rmSync(path);
      continue;
    }
    for (const number of numbers(folder)) if (number <= highest) rmSync(join(folder, String(number)), { force: true });
    return path;
  }
}

/** @param {string} path */
function createExclusively(path) {
  try {
    writeFileSync(path, JSON.stringify(self()), { flag: 'wx' });
    return true;
  } catch (error) {
    if (/** @type {NodeJS.ErrnoException} */ (error).code === 'EEXIST') return false;
    throw error;
  }
}

/** @param {string} path */
function isHeld(path) {
  const owner = readOwner(path);
  if (owner === 'gone') return false;
  const quietMs = Date.now() - (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0);
  // Between creation and the first byte the file names no owner.
  if (owner === 'unwritten') return quietMs < HEARTBEAT_MS;
  if (owner.released) return false;
  const here = self();
  if (owner.space !== here.space) return quietMs < SILENT_MS;
  return startTime(owner.pid) === owner.start;
}

/** @param {string} path */
function readOwner(path) {
  let text;
  try {
    text = readFileSync(path, 'utf8');
  } catch {
    // The owner of a higher number has removed it.
    return 'gone';
  }
  try {
    return JSON.parse(text);
  } catch {
    return 'unwritten';
  }
}

/** @param {string} path */
function ownerName(path) {
  const owner = readOwner(path);
  return owner.space === self().space ? `process ${owner.pid}` : 'another process';
}

/** The identity of this process: process ids are unique only within one PID namespace of one machine. */
function self() {
  let namespace = hostname();
  try {
    namespace = `${readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()} ${readlinkSync('/proc/self/ns/pid')}`;
  } catch {
    // Not Linux: the host name identifies the machine.
  }
  return { pid: process.pid, start: startTime(process.pid), space: namespace, released: false };
}

/**
 * The start time of a process, '' if it is unknown, or undefined if there is no such process.
 *
 * @param {number} pid
 */
function startTime(pid) {
  try {
    process.kill(pid, 0);
  } catch (error) {
    if (/** @type {NodeJS.ErrnoException} */ (error).code === 'ESRCH') return undefined;
  }
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19];
  } catch {
    // Not Linux: only the process id is available.
    return '';
  }
}

/** @param {string} folder */
function numbers(folder) {
  return readdirSync(folder).map(Number).filter(Number.isInteger);
}

/** @param {string} folder */
function highestNumber(folder) {
  return Math.max(0, ...numbers(folder));
}
