import type { Duplex } from 'node:stream';
import { finished } from 'node:stream/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { reasonOf } from '../contracts/errors/reason-of.ts';
import { SkillcellError } from '../contracts/errors/skillcell-error.ts';
import { DEFAULT_LIMITS } from '../contracts/jobs/limits.ts';
import type { Isolation } from '../contracts/jobs/result.ts';
import { createChannel } from '../protocol/channel/channel.ts';
import { PROTOCOL_VERSION, type SandboxMessage } from '../protocol/messages/messages.ts';
import type { SandboxSupply } from '../jobs/supply/sandbox-supply.ts';
import { findLanguage } from '../languages/languages.ts';
import type { Demand } from '../sandboxes/fleet/demand.ts';
import { ENTRY_KIND } from '../sandboxes/fleet/link/entry.ts';
import type { Lease, LeaseTable } from '../sandboxes/fleet/link/lease-table.ts';
import {
  type EndedSandbox,
  LOST,
  type OpenedSandbox,
  type SandboxCounters,
} from '../sandboxes/fleet/opened-sandbox.ts';
import type { Sandbox, SandboxExit } from '../sandboxes/runner.ts';
import type { HostHealth } from './host-health.ts';

/** After its end, a sandbox is told to its client for so long. */
const TELL_MS = 60_000;
const COMPLAINT_CHARACTERS = 4_000;
/** A worker that leaves waits so long for clients that read slowly. */
const LEAVE_MS = 5_000;

/** One lease that a worker serves. */
export interface ServedLease {
  /** Resolves when its sandbox is gone. Never rejects. */
  readonly ended: Promise<void>;
  /** Ends the sandbox, and tells its client that the worker leaves. */
  leave(): Promise<void>;
}

/** Options of {@link serveLease}. */
export interface ServeOptions {
  table: LeaseTable;
  supply: SandboxSupply;
  host: HostHealth;
  /** Name of the worker's runner. */
  runner: string;
  isolation: Isolation;
  most: { memoryMib: number | undefined; cpus: number | undefined };
  signal: AbortSignal;
}

/** Serves a demand: takes a sandbox, and carries bytes between it and its client until one of them ends. */
export function serveLease(demand: Demand, options: ServeOptions): ServedLease {
  const { table, supply, host, signal } = options;
  const over = new AbortController();
  let sandbox: Sandbox | undefined;
  let isLeaving = false;
  let told = Promise.resolve();

  const stop = (reason: string): void => {
    over.abort(new Error(reason));
    void sandbox?.kill(reason).catch(() => undefined);
  };
  const lease = table.open(
    { id: demand.lease, client: demand.client, peer: demand.client, leaseMs: demand.leaseMs },
    {
      onControl: () => undefined,
      onKill: stop,
      onLost(reason) {
        // Its client reads nothing more.
        lease.channel.destroy();
        stop(reason);
      },
      onAsk: () => void tellCounters(sandbox, lease),
    },
  );
  lease.control(ENTRY_KIND.taken);

  const serve = async (): Promise<void> => {
    refuseTooMuch(demand, options);
    const { language, limits } = demand;
    if (findLanguage(language) === undefined)
      throw new SkillcellError('runtime.missing', `Cannot start a sandbox: no ${language} here.`);
    const { runner, isolation } = options;
    const wish = { runner, isolation, language, limits: { ...DEFAULT_LIMITS, ...limits } };
    const canceled = AbortSignal.any([signal, over.signal]);
    const taken = await supply.take(wish, canceled).catch(async (error: unknown) => {
      if (!canceled.aborted) await host.check();
      throw canceled.aborted || host.isHealthy ? error : ofUnhealthyHost(error);
    });
    sandbox = taken.session.sandbox;
    const raw = taken.session.release();
    const opened: OpenedSandbox = {
      isolation: sandbox.isolation,
      warm: taken.warm,
      diagnostics: sandbox.diagnostics.map(({ code, severity, message }) => ({ code, severity, message })),
    };
    lease.control(ENTRY_KIND.opened, json(opened));
    const carried = carry(raw, lease.channel);
    if (over.signal.aborted) await sandbox.kill(String(over.signal.reason));
    const exit = await sandbox.exited;
    // Its client may rely on it that nothing is left here.
    await sandbox.kill('its job is over');
    const usage = (await sandbox.usage?.()) ?? null;
    told = tellEnd(lease, { exit, carried, usage, complaint: sandbox.complaint(), leaving: isLeaving });
  };
  const ended = serve().catch((error: unknown) => {
    if (isLeaving) lease.control(ENTRY_KIND.exit, json({ ...LOST, complaint: '', leaving: true, usage: null }));
    else lease.control(ENTRY_KIND.refused, json(refusal(error)));
    void forgetLater(lease);
  });
  return {
    ended,
    async leave() {
      isLeaving = true;
      stop('its worker leaves');
      await ended;
      await Promise.race([told, pause(LEAVE_MS, undefined, { ref: false })]);
    },
  };
}

/** Carries bytes both ways. Resolves when all bytes of the sandbox are on their way to the client. */
async function carry(raw: Duplex, channel: Duplex): Promise<void> {
  // The client of this lease sees a sandbox that has just become ready.
  const first = createChannel(channel, { onMessage: () => undefined, onClose: () => undefined });
  first.send({ type: 'ready', protocol: PROTOCOL_VERSION } satisfies SandboxMessage);
  first.release();
  channel.on('error', () => raw.destroy());
  raw.on('error', () => channel.end());
  raw.once('close', () => channel.end());
  channel.pipe(raw);
  raw.pipe(channel);
  await finished(channel, { readable: false }).catch(() => undefined);
}

interface TheEnd extends Pick<EndedSandbox, 'complaint' | 'leaving' | 'usage'> {
  exit: SandboxExit;
  carried: Promise<void>;
}

async function tellEnd(lease: Lease, { exit, carried, complaint, leaving, usage }: TheEnd): Promise<void> {
  // The end comes after the last byte, unless its client reads nothing more.
  await Promise.race([carried, pause(TELL_MS, undefined, { ref: false })]);
  const ended: EndedSandbox = { ...exit, complaint: complaint.slice(-COMPLAINT_CHARACTERS), leaving, usage };
  lease.control(ENTRY_KIND.exit, json(ended));
  void forgetLater(lease);
}

/** Keeps what was said until the client has it. */
async function forgetLater(lease: Lease): Promise<void> {
  const from = performance.now();
  while (!lease.isSettled && performance.now() - from < TELL_MS) await pause(1_000, undefined, { ref: false });
  lease.forget();
}

async function tellCounters(sandbox: Sandbox | undefined, lease: Lease): Promise<void> {
  const usage = (await sandbox?.usage?.()) ?? null;
  const memoryBytes = (await sandbox?.memoryBytes().catch(() => null)) ?? null;
  lease.tell(ENTRY_KIND.counters, json({ usage, memoryBytes } satisfies SandboxCounters));
}

/** @throws SkillcellError `runner.isolation-unmet`, so that the client may try elsewhere */
function refuseTooMuch({ limits }: Demand, { most }: ServeOptions): void {
  for (const [name, value] of Object.entries(most)) {
    const asked = limits[name as keyof typeof most];
    if (value === undefined || asked <= value) continue;
    const message = `Cannot start a sandbox: this worker gives at most ${name} ${value}, got ${asked}`;
    throw new SkillcellError('runner.isolation-unmet', message);
  }
}

/** The error of a start that is no fault of its demand: its client tries another worker. */
function ofUnhealthyHost(cause: unknown): SkillcellError {
  const message = `Cannot start a sandbox: this host starts none at present: ${reasonOf(cause)}.`;
  return new SkillcellError('runner.unavailable', message, { cause });
}

function refusal(error: unknown): { code: string; message: string } {
  const { code } = SkillcellError.isInstance(error) ? error : { code: 'sandbox.start-failed' };
  return { code, message: (error instanceof Error ? error.message : String(error)).slice(0, 1_000) };
}

function json(value: object): Buffer {
  return Buffer.from(JSON.stringify(value));
}
