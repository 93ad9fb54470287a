import type { Duplex } from 'node:stream';
import type Docker from 'dockerode';
import type { Isolation } from '../../contracts/result.ts';
import { NO_USAGE } from '../../contracts/usage.ts';
import type { Sandbox, SandboxExit } from '../runner.ts';
import { demultiplex } from './demultiplex.ts';
import { callEngine, isGone } from './engine.ts';

const COMPLAINT_BYTES = 4_096;
/** A removal may wait for the kernel to reap what was killed. */
const REMOVE_MS = 30_000;

/** Creates, attaches to and starts a container. Whatever fails on the way removes it again. */
export async function startContainer(
  engine: Docker,
  options: Docker.ContainerCreateOptions,
  isolation: Isolation,
  signal: AbortSignal,
): Promise<Sandbox> {
  const container = await callEngine('create a container', (abortSignal) =>
    engine.createContainer({ ...options, abortSignal }),
  );
  try {
    signal.throwIfAborted();
    const attached = await callEngine('attach to a container', (abortSignal) =>
      container.attach({ stream: true, stdin: true, stdout: true, stderr: true, hijack: true, abortSignal }),
    );
    signal.throwIfAborted();
    // Asked for before the start, so that no end is missed.
    const sandbox = containerSandbox(container, attached as Duplex, isolation);
    await callEngine('start a container', (abortSignal) => container.start({ abortSignal }));
    signal.throwIfAborted();
    return sandbox;
  } catch (error) {
    await remove(container);
    throw error;
  }
}

function containerSandbox(container: Docker.Container, attached: Duplex, isolation: Isolation): Sandbox {
  let complaint = '';
  const channel = demultiplex(attached, (bytes) => {
    complaint = (complaint + bytes.toString('utf8')).slice(-COMPLAINT_BYTES);
  });
  // The channel's own user hears of errors; without one yet, a container that ends at once must not end the host.
  channel.on('error', () => undefined);
  let killed = false;
  let removed: Promise<void> | undefined;
  let settle: (exit: SandboxExit) => void = () => undefined;
  const exited = new Promise<SandboxExit>((resolve) => (settle = resolve));
  // The attached stream ends with the container; the engine's last word on it is read before it is removed.
  channel.once('close', () => {
    void readExit(container, killed).then(settle);
  });
  return {
    isolation,
    runner: 'docker',
    channel,
    diagnostics: [],
    // The supervisor inside reads its own group's counters: a remote engine's are out of reach from here.
    usage: () => NO_USAGE,
    complaint: () => complaint,
    exited,
    kill() {
      killed = true;
      removed ??= (async () => {
        channel.destroy();
        await remove(container);
        settle({ cause: 'killed', oom: null, code: null });
      })();
      return removed;
    },
  };
}

async function readExit(container: Docker.Container, killed: boolean): Promise<SandboxExit> {
  if (killed) return { cause: 'killed', oom: null, code: null };
  try {
    const { State } = await callEngine('read how a container ended', (abortSignal) =>
      container.inspect({ abortSignal }),
    );
    if (State.Running) return { cause: 'lost', oom: null, code: null };
    return { cause: 'exit', oom: State.OOMKilled, code: State.ExitCode };
  } catch {
    // The engine is gone, or the container was removed by somebody else: nothing is known of its end.
    return { cause: 'lost', oom: null, code: null };
  }
}

/** Kills and removes in one call. A container that is gone, or being removed, is what was wanted. */
async function remove(container: Docker.Container): Promise<void> {
  try {
    await callEngine(
      'remove a container',
      (abortSignal) => container.remove({ force: true, v: true, abortSignal }),
      REMOVE_MS,
    );
  } catch (error) {
    if (!isGone(error)) throw error;
  }
}
