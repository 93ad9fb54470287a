import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type Docker from 'dockerode';
import type { Isolation } from '../../contracts/jobs/result.ts';
import { withinDeadline } from '../../protocol/within-deadline.ts';
import type { Sandbox, SandboxExit } from '../runner.ts';
import { demultiplex } from './engine/demultiplex.ts';
import { removeContainer } from './container-removal.ts';
import { callEngine } from './engine/engine.ts';

/** The fields of the engine's statistics that matter here: `inactive_file` in version 2 of control groups, else the other. */
interface MemoryStatistics {
  memory_stats?: { usage?: number; stats?: { inactive_file?: number; total_inactive_file?: number } };
}

const COMPLAINT_BYTES = 4_096;
/** How long a failed start waits for its removal: the engine may be what failed. The removal itself goes on. */
const FAILED_REMOVE_MS = 1_000;
/** How long a container may live on after its channel: the supervisor ends with it, and everything with the supervisor. */
const STOP_MS = 5_000;

/**
 * Creates, attaches to and starts a container. Whatever fails on the way removes it again.
 *
 * @param remove kills and removes it; keeps in mind what it could not remove
 */
export async function startContainer(
  engine: Docker,
  options: Docker.ContainerCreateOptions,
  isolation: Isolation,
  signal: AbortSignal,
  remove: (container: Docker.Container) => Promise<void> = removeContainer,
): Promise<Sandbox> {
  // By name, which is known before the engine has said that there is one.
  const container = engine.getContainer(options.name ?? '');
  try {
    const { name, ...body } = options;
    // The client puts all of the options into the address as well, where proxies and engines have a limit.
    const request = { _query: { name }, _body: body } as Docker.ContainerCreateOptions;
    await callEngine('create a container', (abortSignal) => engine.createContainer({ ...request, abortSignal }));
    signal.throwIfAborted();
    const attached = await callEngine('attach to a container', (abortSignal) =>
      container.attach({ stream: true, stdin: true, stdout: true, stderr: true, hijack: true, abortSignal }),
    );
    signal.throwIfAborted();
    // Asked for before the start, so that no end is missed.
    const sandbox = containerSandbox(container, attached as Duplex, isolation, () => remove(container));
    await callEngine('start a container', (abortSignal) => container.start({ abortSignal }));
    signal.throwIfAborted();
    return sandbox;
  } catch (error) {
    // An engine that does not answer keeps what it made until it does.
    await withinDeadline(remove(container), { limitMs: FAILED_REMOVE_MS, overdue: () => undefined }).catch(
      () => undefined,
    );
    throw error;
  }
}

function containerSandbox(
  container: Docker.Container,
  attached: Duplex,
  isolation: Isolation,
  remove: () => Promise<void>,
): Sandbox {
  let complaint = '';
  const channel = demultiplex(attached, (bytes) => {
    complaint = (complaint + bytes.toString('utf8')).slice(-COMPLAINT_BYTES);
  });
  // The channel's own user hears of errors; without one yet, a container that ends at once must not end the host.
  channel.on('error', () => undefined);
  let killed = false;
  let removed: Promise<void> | undefined;
  const { promise: exited, resolve: settle } = Promise.withResolvers<SandboxExit>();
  const removeOnce = (): Promise<void> => (removed ??= remove());
  // The container ends with its channel, or the channel with it; the engine's last word is read before it is removed.
  channel.once('close', () => {
    void readExit(container, () => killed).then((exit) => {
      settle(exit);
      // Whoever kills it, or the sweep, tries again.
      removeOnce().catch(() => (removed = undefined));
    });
  });
  return {
    isolation,
    runner: 'docker',
    channel,
    diagnostics: [],
    // No usage: the supervisor inside reads its own group's counters; a remote engine's are out of reach from here.
    memoryBytes: () => containerMemory(container),
    complaint: () => complaint,
    exited,
    ref: () => (attached as Partial<Socket>).ref?.(),
    unref: () => (attached as Partial<Socket>).unref?.(),
    async kill() {
      killed = true;
      channel.destroy();
      await removeOnce();
      settle({ cause: 'killed', oom: null, code: null });
    },
  };
}

async function readExit(container: Docker.Container, killed: () => boolean): Promise<SandboxExit> {
  if (killed()) return { cause: 'killed', oom: null, code: null };
  try {
    await callEngine('wait for the end of a container', (abortSignal) => container.wait({ abortSignal }), STOP_MS);
    const { State } = await callEngine('read how a container ended', (abortSignal) =>
      container.inspect({ abortSignal }),
    );
    return { cause: 'exit', oom: State.OOMKilled, code: State.ExitCode };
  } catch {
    // It lives on, the engine is gone, or somebody removed it: its own end is not known, ours may be the reason.
    return { cause: killed() ? 'killed' : 'lost', oom: null, code: null };
  }
}

/** The memory that a container holds now, counted as the engine's own command line does. Null when it has ended. */
async function containerMemory(container: Docker.Container): Promise<number | null> {
  try {
    const { memory_stats: memory } = (await callEngine('read the memory of a container', (abortSignal) =>
      // Once, without the second that a rate of the processor's time would take; its types do not know that word.
      container.stats({ stream: false, 'one-shot': true, abortSignal } as { stream: false }),
    )) as unknown as MemoryStatistics;
    if (memory?.usage === undefined) return null;
    const { inactive_file, total_inactive_file } = memory.stats ?? {};
    return Math.max(0, memory.usage - (total_inactive_file ?? inactive_file ?? 0));
  } catch {
    // It ended meanwhile, or the engine does not answer: the number is then unknown.
    return null;
  }
}
