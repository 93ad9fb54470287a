import type { Redis } from 'ioredis';
import { EventEmitter, once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { SkillcellError } from '../../../contracts/errors/skillcell-error.ts';
import type { FleetAddress } from '../fleet-address.ts';
import { fleetError } from '../fleet-error.ts';
import { type LinkEntry, packEntry, readEntry } from './entry.ts';

/** Time that a read waits in Redis for entries. */
const BLOCK_MS = 1_000;
/** Most entries of a stream that are read at once, each at most 64 KiB. */
const READ_ENTRIES = 64;
/** Without an answer for so long, a connection counts as cut, and is opened anew. */
const SILENCE_MS = 5_000;
const PING_MS = 2_500;
/** A stream expires so long after its last write. */
const EXPIRE_MS = 3_600_000;
/** An expiry is renewed at most so often. */
const RENEW_MS = 60_000;
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
  /** Called when both connections are there, again. */
  onUp(): void;
  /** Called with each reason why there is no connection. */
  onTrouble(error: SkillcellError): void;
}

/** The connections of one process to the Redis of a fleet. */
export interface FleetLink {
  /** For single commands. They fail at once while there is no connection. */
  readonly redis: Redis;
  readonly isUp: boolean;
  /** Time since which there is a connection, by `performance.now()`. */
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
  let heardAt = 0;
  let upSince = 0;
  let wasUp = false;
  let trouble: SkillcellError | undefined;
  let isHeld = false;
  const renewed = new Map<string, number>();
  /** Emits `change` when a connection comes or fails. */
  const state = new EventEmitter().setMaxListeners(0);

  const open = (enableAutoPipelining: boolean): Redis => {
    const redis = new Redis(address.url, {
      lazyConnect: true,
      enableOfflineQueue: false,
      autoResendUnfulfilledCommands: false,
      enableAutoPipelining,
      maxRetriesPerRequest: null,
      connectTimeout: SILENCE_MS,
      retryStrategy: (tries) => (closing.signal.aborted ? null : Math.min(tries * 50, 1_000)),
    });
    redis.on('error', (error: Error) => failed(error));
    redis.on('close', () => (wasUp = false));
    redis.on('ready', () => {
      if (!isHeld) streamOf(redis)?.unref();
    });
    return redis;
  };
  const failed = (error: unknown): void => {
    if (closing.signal.aborted) return;
    trouble = fleetError('reach the fleet', address.shown, error);
    onTrouble(trouble);
    state.emit('change');
  };
  const [redis, reader] = [open(true), open(false)];
  const isUp = (): boolean =>
    redis.status === 'ready' && reader.status === 'ready' && performance.now() - heardAt < SILENCE_MS;
  const becomeUp = (): void => {
    heardAt = performance.now();
    if (wasUp || !isUp()) return;
    [wasUp, upSince, trouble] = [true, heardAt, undefined];
    state.emit('change');
    options.onUp();
  };

  /** Reads what is there, from the first entry on: entries that were taken are gone. */
  const readOnce = async (keys: readonly string[]): Promise<void> => {
    const watch = setTimeout(() => reader.disconnect(true), BLOCK_MS + SILENCE_MS);
    if (!isHeld) watch.unref();
    try {
      const read = ['COUNT', READ_ENTRIES, 'BLOCK', BLOCK_MS, 'STREAMS', ...keys, ...keys.map(() => '0')];
      const reply = (await reader.callBuffer('XREAD', ...read.map(String))) as [Buffer, [Buffer, Buffer[]][]][] | null;
      becomeUp();
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
    while (!closing.signal.aborted) {
      try {
        if (reader.status === 'wait') await reader.connect();
        const keys = options.streams();
        if (keys.length > 0) await readOnce(keys);
        else {
          await reader.ping();
          becomeUp();
          await woken();
        }
      } catch (error) {
        if (closing.signal.aborted) return;
        failed(error);
        await pause(BLOCK_MS / 4, undefined, { signal: closing.signal, ref: isHeld }).catch(() => undefined);
      }
    }
  };
  /** Waits until there may be a stream to read. */
  const woken = async (): Promise<void> => {
    const late = new AbortController();
    const timer = setTimeout(() => late.abort(), BLOCK_MS);
    if (!isHeld) timer.unref();
    await once(state, 'wake', { signal: AbortSignal.any([late.signal, closing.signal]) }).catch(() => undefined);
    clearTimeout(timer);
  };
  const ping = async (): Promise<void> => {
    const watch = setTimeout(() => redis.disconnect(true), SILENCE_MS);
    try {
      await redis.ping();
    } catch {
      // The connection is opened anew.
    } finally {
      clearTimeout(watch);
    }
  };
  const pinging = setInterval(() => {
    if (redis.status === 'ready') void ping();
  }, PING_MS).unref();

  const begin = async (): Promise<void> => {
    try {
      await redis.connect();
      const version = /^redis_version:(\S+)/m.exec(await redis.info('server'))?.[1] ?? '?';
      if (!(Number.parseInt(version, 10) >= LEAST_VERSION)) throw tooOld(address, version);
    } catch (error) {
      failed(error);
      if (SkillcellError.isInstance(error)) return;
    }
  };
  void begin();
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
      if (redis.status !== 'ready') return;
      redis.xadd(stream, '*', 'e', packEntry(entry)).catch(failed);
      const now = performance.now();
      if (now - (renewed.get(stream) ?? -RENEW_MS) < RENEW_MS) return;
      renewed.set(stream, now);
      redis.pexpire(stream, EXPIRE_MS).catch(failed);
    },
    hold(held) {
      isHeld = held;
      for (const each of [redis, reader]) streamOf(each)?.[held ? 'ref' : 'unref']();
    },
    async close() {
      closing.abort();
      clearInterval(pinging);
      // What was written goes out first.
      await Promise.race([redis.quit().catch(() => undefined), pause(SILENCE_MS, undefined, { ref: false })]);
      redis.disconnect();
      reader.disconnect();
    },
  };
}

/** The first id after an id of a stream. */
function after(id: string): string {
  const [time, count] = id.split('-');
  return `${time}-${BigInt(count ?? 0) + 1n}`;
}

function streamOf(redis: Redis): { ref(): void; unref(): void } | undefined {
  return (redis as unknown as { stream?: { ref(): void; unref(): void } }).stream;
}

function tooOld({ shown }: FleetAddress, version: string): SkillcellError {
  return new SkillcellError(
    'fleet.refused',
    `Cannot reach the fleet: Redis at ${shown} must be version ${LEAST_VERSION} or newer, got ${version}.`,
  );
}
