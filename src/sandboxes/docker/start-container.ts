import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type Docker from 'dockerode';
import type { Isolation } from '../../contracts/jobs/result.ts';
import { withinDeadline } from '../../protocol/within-deadline.ts';
import type { Sandbox, SandboxExit } from '../runner.ts';
import { demultiplex } from './engine/demultiplex.ts';
import { removeContainer } from './container-removal.ts';
import { callEngine } from './engine/engine.ts';

/** The used fields of the engine's statistics: `inactive_file` in control groups version 2, `total_inactive_file` in version 1. */
interface MemoryStatistics {
  memory_stats?: { usage?: number; stats?: { inactive_file?: number; total_inactive_file?: number } };
}

const COMPLAINT_BYTES = 4_096;
/** How long a failed start waits for its removal, because the engine itself may have failed. The removal continues. */
const FAILED_REMOVE_MS = 1_000;
/** How long a container may outlive its channel: the supervisor ends with the channel, and the container with the supervisor. */
const STOP_MS = 5_000;

/**
 * Creates a container, attaches to it and starts it. Any failure removes it again.
 *
 * @param remove kills and removes the container; remembers a failed removal
 */
export async function startContainer(
  engine: Docker,
  options: Docker.ContainerCreateOptions,
  isolation: Isolation,
  signal: AbortSignal,
  remove: (container: Docker.Container) => Promise<void> = removeContainer,
): Promise<Sandbox> {
  // By name, which is known before the engine confirms the creation.
  const container = engine.getContainer(options.name ?? '');
  try {
    const { name, ...body } = options;
    // By default, the client also puts all options into the URL, whose length proxies and engines limit.
    const request = { _query: { name }, _body: body } as Docker.ContainerCreateOptions;
    await callEngine('create a container', (abortSignal) => engine.createContainer({ ...request, abortSignal }));
    signal.throwIfAborted();
    const attached = await callEngine('attach to a container', (abortSignal) =>
      container.attach({ stream: true, stdin: true, stdout: true, stderr: true, hijack: true, abortSignal }),
    );
    signal.throwIfAborted();
    // Created before the start, so that it does not miss the end.
    const sandbox = containerSandbox(container, attached as Duplex, isolation, () => remove(container));
    await callEngine('start a container', (abortSignal) => container.start({ abortSignal }));
    signal.throwIfAborted();
    return sandbox;
  } catch (error) {
    // If the engine does not answer, the container stays until the removal succeeds.
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
  // The user of the channel handles errors. Before it attaches, the error of an early end must not crash the host.
  channel.on('error', () => undefined);
  let killed = false;
  let removed: Promise<void> | undefined;
  const { promise: exited, resolve: settle } = Promise.withResolvers<SandboxExit>();
  const removeOnce = (): Promise<void> => (removed ??= remove());
  // Container and channel end together. The exit status is read before the removal.
  channel.once('close', () => {
    void readExit(container, () => killed).then((exit) => {
      settle(exit);
      // `kill` or the sweep tries again.
      removeOnce().catch(() => (removed = undefined));
    });
  });
  return {
    isolation,
    runner: 'docker',
    channel,
    diagnostics: [],
    // No `usage`: the supervisor inside reads its own counters, because those of a remote engine cannot be read from here.
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
    // It is still alive, was removed, or the engine does not answer: its end is unknown, unless it was killed.
    return { cause: killed() ? 'killed' : 'lost', oom: null, code: null };
  }
}

/** The current memory of a container, counted like `docker stats`. Null after its end. */
async function containerMemory(container: Docker.Container): Promise<number | null> {
  try {
    const { memory_stats: memory } = (await callEngine('read the memory of a container', (abortSignal) =>
      // One-shot skips the second for the CPU rate; the types lack the option.
      container.stats({ stream: false, 'one-shot': true, abortSignal } as { stream: false }),
    )) as unknown as MemoryStatistics;
    if (memory?.usage === undefined) return null;
    const { inactive_file, total_inactive_file } = memory.stats ?? {};
    return Math.max(0, memory.usage - (total_inactive_file ?? inactive_file ?? 0));
  } catch {
    // The container has ended, or the engine does not answer.
    return null;
  }
}
