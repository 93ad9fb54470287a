import type { Redis } from 'ioredis';
import { EventEmitter, once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { SkillcellError } from '../../../contracts/errors/skillcell-error.ts';
import type { FleetAddress } from '../fleet-address.ts';
import { fleetError, isCut } from '../fleet-error.ts';
import {
  cutConnection,
  keepChecked,
  leaveConnection,
  onArrival,
  pingConnection,
  SILENCE_MS,
} from './connection-life.ts';
import { ENTRY_BYTES, type LinkEntry, packEntry, readEntry } from './entry.ts';

/** Time that a read waits in Redis for entries. */
const BLOCK_MS = 1_000;
/** Pause between two signs of life of a connection that has no stream to read. */
const IDLE_MS = 2_000;
/** Pause before a read that failed is tried again. */
const RETRY_MS = 250;
/** Most entries of a stream that are read at once. */
const READ_ENTRIES = 64;
/** Most bytes of an answer for each stream. */
const ANSWER_BYTES: number = READ_ENTRIES * (ENTRY_BYTES + 256);
/** Most bytes of entries that wait for Redis; further ones are lost, and sent again later. */
const UNSENT_BYTES: number = 64 * 1024 * 1024;
/** A read that takes longer shows that Redis, or the way to it, stood still. */
const STALL_MS: number = BLOCK_MS + 500;
const PING_MS = 2_500;
/** A stream expires so long after its last write. */
const EXPIRE_MS = 3_600_000;
/** Pause between two renewals of the expiry of a stream. */
const RENEW_MS = 250;
/** Pause between two reports of trouble with the connection. */
const TELL_MS = 60_000;
const LEAST_VERSION = 7;

/** Options of {@link openFleetLink}. */
export interface FleetLinkOptions {
  address: FleetAddress;
  /** Keys of the streams to read, at present. */
  streams(): readonly string[];
  take(stream: string, entry: LinkEntry): void;
  /** Most bytes that a stream may hold in Redis, by what its windows allow. */
  mostBytes(stream: string): number;
  /** Called when a stream holds more than that, or bytes that are no entry. It is deleted. */
  onFault(stream: string, reason: string): void;
  /** Called when both connections are there again, or answer again. */
  onUp(): void;
  /** Called with the reason why there is no connection, once a minute at most. */
  onTrouble(error: SkillcellError): void;
}

/** The connections of one process to the Redis of a fleet. */
export interface FleetLink {
  /** For single commands. They fail at once while there is no connection. */
  readonly redis: Redis;
  readonly isUp: boolean;
  /** Time since which there is a connection that answers, by `performance.now()`. */
  readonly upSince: number;
  /** Resolves when there is a connection. @throws SkillcellError `fleet.refused`, or `fleet.unavailable` after the patience */
  connected(options: { signal: AbortSignal; patienceMs: number }): Promise<void>;
  /** There may be a first stream to read. */
  wake(): void;
  /** Appends an entry to a stream. What cannot be sent is lost. */
  write(stream: string, entry: LinkEntry): void;
  /** Lets this process end although there are connections, or not. */
  hold(isHeld: boolean): void;
  close(): Promise<void>;
}

/** Opens the connections, and reads the streams until the link is closed. */
export async function openFleetLink(options: FleetLinkOptions): Promise<FleetLink> {
  const { address, onTrouble } = options;
  const { Redis } = await import('ioredis');
  const closing = new AbortController();
  let toldAt = Number.NEGATIVE_INFINITY;
  let heardAt = 0;
  let upSince = 0;
  let wasUp = false;
  let trouble: SkillcellError | undefined;
  let unsentBytes = 0;
  /** The last answer was too long, so the connection was cut here, and is no trouble of the way. */
  let isOverlong = false;
  /** Streams whose expiry was renewed a moment ago, and whether they were written since. */
  const renewed = new Map<string, boolean>();
  /** Emits `change` when a connection comes or fails. */
  const state = new EventEmitter().setMaxListeners(0);
  /** Connections and timers let the process end; this timer keeps it. */
  const holding = setInterval(() => undefined, 2 ** 30).unref();

  /** Without `enableAutoPipelining`: the pipelines made a tool call take half as long again. */
  const open = (): Redis => {
    const redis = new Redis(address.url, {
      lazyConnect: true,
      disableClientInfo: true,
      enableOfflineQueue: false,
      autoResendUnfulfilledCommands: false,
      // Commands of a connection that was cut fail at once.
      maxRetriesPerRequest: 0,
      connectTimeout: SILENCE_MS,
      retryStrategy: (tries) => (closing.signal.aborted ? null : Math.min(tries * 50, 1_000)),
    });
    redis.on('error', (error: Error) => failed(error));
    redis.on('close', () => {
      if (redis !== reader || !isOverlong) wasUp = false;
    });
    leaveConnection(redis);
    return redis;
  };
  const failed = (error: unknown): void => {
    if (closing.signal.aborted) return;
    // The reason of a cut says more than that it was cut.
    if (trouble === undefined || !isCut(error)) trouble = fleetError('reach the fleet', address.shown, error);
    const now = performance.now();
    if (now - toldAt >= TELL_MS) {
      toldAt = now;
      onTrouble(trouble);
    }
    state.emit('change');
  };
  const [redis, reader] = [open(), open()];
  // The reader may be there already, and rest.
  redis.on('ready', () => void state.emit('wake'));
  const isUp = (): boolean =>
    redis.status === 'ready' && reader.status === 'ready' && performance.now() - heardAt < SILENCE_MS;
  const becomeUp = (pauseMs: number): void => {
    const now = performance.now();
    const hasStood = now - heardAt > pauseMs + STALL_MS;
    heardAt = now;
    if (!isUp() || (wasUp && !hasStood)) return;
    [wasUp, upSince, trouble] = [true, now, undefined];
    state.emit('change');
    options.onUp();
  };

  /** Redis may have been emptied before any write, so the last of many writes renews as well. */
  const renew = (stream: string): void => {
    if (renewed.has(stream)) return void renewed.set(stream, true);
    // The first write after a cut renews.
    if (redis.status !== 'ready') return;
    renewed.set(stream, false);
    redis.pexpire(stream, EXPIRE_MS).catch(failed);
    setTimeout(() => renewAgain(stream), RENEW_MS).unref();
  };
  const renewAgain = (stream: string): void => {
    const isWritten = renewed.get(stream) === true;
    renewed.delete(stream);
    if (isWritten) renew(stream);
  };

  let answerBytes = 0;
  let mostAnswer = Number.POSITIVE_INFINITY;
  onArrival(reader, (piece) => {
    answerBytes += piece.length;
    if (answerBytes <= mostAnswer) return;
    isOverlong = true;
    cutConnection(reader);
  });
  /** Reads what is there, from the first entry on: entries that were taken are gone. */
  const read = async (keys: readonly string[]): Promise<void> => {
    const watch = setTimeout(() => cutConnection(reader), BLOCK_MS + SILENCE_MS).unref();
    [answerBytes, mostAnswer, isOverlong] = [0, keys.length * ANSWER_BYTES, false];
    try {
      const args = ['COUNT', READ_ENTRIES, 'BLOCK', BLOCK_MS, 'STREAMS', ...keys, ...keys.map(() => '0')];
      const reply = (await reader.callBuffer('XREAD', ...args.map(String))) as [Buffer, [Buffer, Buffer[]][]][] | null;
      becomeUp(0);
      for (const [key, entries] of reply ?? []) await takeAll(key.toString(), entries);
    } finally {
      clearTimeout(watch);
    }
  };
  const takeAll = async (key: string, entries: [Buffer, Buffer[]][]): Promise<void> => {
    const last = entries.at(-1)?.[0].toString();
    if (last === undefined) return;
    // On the same connection, so before the next read, which begins at the first entry.
    reader.xtrim(key, 'MINID', after(last)).catch(failed);
    for (const [, [, packed]] of entries) {
      const entry = packed === undefined ? undefined : readEntry(packed);
      if (entry === undefined) return await drop(key, 'it holds bytes that are no entry');
      options.take(key, entry);
    }
    if (entries.length < READ_ENTRIES) return;
    const bytes = Number((await reader.call('MEMORY', 'USAGE', key)) ?? 0);
    if (bytes > options.mostBytes(key)) await drop(key, `it holds ${bytes} bytes, more than its windows allow`);
  };
  const drop = async (key: string, reason: string): Promise<void> => {
    await reader.del(key);
    options.onFault(key, reason);
  };
  const readOn = async (): Promise<void> => {
    /** Streams that are read alone, as one of them has given too long an answer. */
    const suspects: string[] = [];
    let overlong: string | undefined;
    let version = '';
    while (!closing.signal.aborted) {
      let keys: readonly string[] = [];
      try {
        if (reader.status === 'wait') await reader.connect();
        version ||= /^redis_version:(\S+)/m.exec(await reader.info('server'))?.[1] ?? '?';
        if (!(Number.parseInt(version, 10) >= LEAST_VERSION)) return failed(tooOld(address, version));
        if (overlong !== undefined) await drop(overlong, 'it holds an entry that is too long');
        overlong = undefined;
        const suspect = suspects.shift();
        keys = suspect === undefined ? options.streams() : [suspect];
        if (keys.length > 0) await read(keys);
        else await rest();
      } catch (error) {
        if (closing.signal.aborted) return;
        if (!isOverlong) failed(error);
        else if (keys.length === 1) overlong = keys[0];
        else suspects.push(...keys);
        await pause(RETRY_MS, undefined, { signal: closing.signal, ref: false }).catch(() => undefined);
      }
    }
  };
  /** Waits until there may be a stream to read. */
  const rest = async (): Promise<void> => {
    const late = new AbortController();
    // Listen first: a lease that is opened meanwhile is not missed.
    const woken = once(state, 'wake', { signal: AbortSignal.any([late.signal, closing.signal]) }).catch(
      () => undefined,
    );
    const timer = setTimeout(() => late.abort(), IDLE_MS).unref();
    try {
      await pingConnection(reader);
      becomeUp(IDLE_MS);
      await woken;
    } finally {
      clearTimeout(timer);
      late.abort();
    }
  };
  const endPings = keepChecked(redis, PING_MS);

  // It is opened anew until the link is closed, and tells its errors by events.
  redis.connect().catch(() => undefined);
  void readOn();

  return {
    redis,
    get isUp() {
      return isUp();
    },
    get upSince() {
      return upSince;
    },
    async connected({ signal, patienceMs }) {
      const patience = AbortSignal.any([signal, AbortSignal.timeout(patienceMs)]);
      while (!isUp()) {
        if (trouble?.code === 'fleet.refused') throw trouble;
        try {
          await once(state, 'change', { signal: patience });
        } catch {
          signal.throwIfAborted();
          throw trouble ?? fleetError('reach the fleet', address.shown, new Error('it does not answer'));
        }
      }
    },
    wake: () => void state.emit('wake'),
    write(stream, entry) {
      const packed = packEntry(entry);
      if (redis.status !== 'ready' || unsentBytes + packed.length > UNSENT_BYTES) return;
      unsentBytes += packed.length;
      const sent = redis.xadd(stream, '*', 'e', packed).catch(failed);
      void sent.then(() => (unsentBytes -= packed.length));
      renew(stream);
    },
    hold(isHeld) {
      if (isHeld) holding.ref();
      else holding.unref();
    },
    async close() {
      closing.abort();
      for (const stream of [...renewed.keys()]) renewAgain(stream);
      endPings();
      // What was written goes out first.
      await pingConnection(redis).catch(() => undefined);
      redis.disconnect();
      reader.disconnect();
      clearInterval(holding);
    },
  };
}

/** The first id after an id of a stream. */
function after(id: string): string {
  const [time, count] = id.split('-');
  return `${time}-${BigInt(count ?? 0) + 1n}`;
}

function tooOld({ shown }: FleetAddress, version: string): SkillcellError {
  return new SkillcellError(
    'fleet.refused',
    `Cannot reach the fleet: Redis at ${shown} must be version ${LEAST_VERSION} or newer, got ${version}.`,
  );
}
