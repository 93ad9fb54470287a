import { setTimeout as pause } from 'node:timers/promises';
import type { Isolation } from '../../contracts/jobs/result.ts';
import type { SandboxUsage } from '../../contracts/jobs/usage.ts';
import { SkillcellError } from '../../contracts/errors/skillcell-error.ts';
import { withinDeadline } from '../../protocol/within-deadline.ts';
import { HostLeaves } from '../host-leaves.ts';
import type { Sandbox, SandboxExit } from '../runner.ts';
import { ENTRY_KIND, type EntryKind } from './link/entry.ts';
import type { Lease, LeaseCalls } from './link/lease-table.ts';
import {
  LOST,
  type OpenedSandbox,
  readCounters,
  readEnded,
  readOpened,
  readRefused,
  type SandboxCounters,
} from './opened-sandbox.ts';

/** Tries to get the counters of a sandbox, and the pause between two. */
const ASKS = 4;
const ASK_MS = 500;

/** A sandbox on a worker, as its client follows it. */
export interface FollowedSandbox {
  readonly calls: LeaseCalls;
  /** Aborts when a worker has taken the demand, or the lease is over. */
  readonly taken: AbortSignal;
  /** Whether a worker has refused it because its host starts no sandbox. */
  readonly isHostUnhealthy: boolean;
  /** Resolves with the sandbox when it is ready. @throws SkillcellError of its start, or `sandbox.lost` */
  readonly opened: Promise<OpenedSandbox>;
  sandbox(
    lease: Lease,
    opened: OpenedSandbox,
    about: Pick<Sandbox, 'runner'> & { leaseMs: number; hold(): () => void },
  ): Sandbox;
}

/** Follows one lease of a client, who has asked for a level. */
export function followSandbox(lease: () => Lease, level: Isolation): FollowedSandbox {
  const taken = new AbortController();
  const opened = Promise.withResolvers<OpenedSandbox>();
  const exited = Promise.withResolvers<SandboxExit>();
  opened.promise.catch(() => undefined);
  let complaint = '';
  let loss: SkillcellError | undefined;
  let isHostUnhealthy = false;
  let last: SandboxCounters | undefined;
  let counted: PromiseWithResolvers<SandboxCounters> | undefined;

  const lost = (reason: string, isAnnounced = false): void => {
    const { channel, peer } = lease();
    // A worker that goes on with it hears that it is gone.
    lease().forget();
    complaint = peer === undefined ? reason : `worker ${peer}: ${reason}`;
    taken.abort();
    // An error of the connection, not of the protocol of the sandbox.
    const about = { syscall: 'read', code: 'ECONNRESET' };
    const cause = Object.assign(isAnnounced ? new HostLeaves(complaint) : new Error(complaint), about);
    loss = lostBy(complaint, cause);
    opened.reject(loss);
    exited.resolve(isAnnounced ? { ...LOST, isAnnounced } : LOST);
    channel.destroy(cause);
  };
  const ended = (bytes: Buffer): void => {
    const exit = readEnded(bytes);
    lease().forget();
    if (exit === undefined) return lost('it told an end of no known form');
    if (exit.leaving) return lost('it left the fleet', true);
    complaint = exit.complaint;
    last = { usage: exit.usage, memoryBytes: null };
    if (exit.cause === 'lost') loss = lostBy(`worker ${lease().peer}: ${complaint || 'it lost the sandbox'}`);
    opened.reject(
      loss ?? new SkillcellError('sandbox.start-failed', `Cannot start a sandbox: ${complaint || 'it ended'}.`),
    );
    exited.resolve({ cause: exit.cause, oom: exit.oom, code: exit.code });
  };
  const controls = new Map<EntryKind, (bytes: Buffer, worker: string) => void>([
    [ENTRY_KIND.taken, () => taken.abort()],
    [
      ENTRY_KIND.opened,
      (bytes) => {
        const read = readOpened(bytes);
        if (read === undefined) lost('it opened a sandbox of no known form');
        else if (read.isolation !== level) lost(`it opened a sandbox of level ${read.isolation}, not ${level}`);
        else opened.resolve(read);
      },
    ],
    [
      ENTRY_KIND.refused,
      (bytes, worker) => {
        lease().forget();
        taken.abort();
        const refusal = readRefused(bytes, worker);
        isHostUnhealthy = refusal.code === 'runner.unavailable';
        opened.reject(refusal);
      },
    ],
    [ENTRY_KIND.exit, ended],
  ]);
  const counters = async (): Promise<SandboxCounters> => {
    counted ??= Promise.withResolvers<SandboxCounters>();
    for (let ask = 0; ask < ASKS && last === undefined; ask += 1) {
      lease().tell(ENTRY_KIND.ask);
      const answer = await Promise.race([counted.promise, exited.promise, pause(ASK_MS, undefined, { ref: false })]);
      if (answer !== undefined && 'usage' in answer) return answer;
    }
    return last ?? { usage: null, memoryBytes: null };
  };

  return {
    taken: taken.signal,
    get isHostUnhealthy() {
      return isHostUnhealthy;
    },
    opened: opened.promise,
    calls: {
      onControl: (kind, bytes, worker) => controls.get(kind)?.(bytes, worker),
      onCounters(bytes) {
        const read = readCounters(bytes);
        if (read === undefined) return;
        counted?.resolve(read);
        counted = undefined;
      },
      onLost: lost,
    },
    sandbox(own, { isolation, warm, diagnostics }, { runner, leaseMs, hold }) {
      let release: (() => void) | undefined = hold();
      const leave = (): void => {
        release?.();
        release = undefined;
      };
      void exited.promise.then(leave);
      // Its worker ends it in that time by itself.
      const end = (): Promise<SandboxExit> =>
        withinDeadline(exited.promise, {
          limitMs: 2 * leaseMs,
          overdue: () => (lost('its worker did not say that it has ended'), LOST),
        });
      // A worker that lies may speak of a sandbox that has no bytes any more.
      own.channel.once('close', () => void end());
      // Without counters of its worker, those count that the sandbox tells itself.
      const usage = async (): Promise<SandboxUsage | undefined> => (await counters()).usage ?? undefined;
      return {
        ...{ isolation, runner, warm, diagnostics, usage },
        worker: own.peer ?? '',
        channel: own.channel,
        exited: exited.promise,
        complaint: () => complaint,
        startFailure: () => loss,
        memoryBytes: async () => (await counters()).memoryBytes,
        async kill(reason) {
          // First, so that the sandbox does not end by itself for want of its channel.
          own.kill(reason);
          own.channel.destroy();
          await end();
        },
        unref: leave,
        ref: () => void (release ??= hold()),
      };
    },
  };
}

function lostBy(reason: string, cause?: Error): SkillcellError {
  return new SkillcellError('sandbox.lost', `Cannot go on with the sandbox: ${reason.replace(/\.$/, '')}.`, { cause });
}
