import type { ChildProcess } from 'node:child_process';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Diagnostic } from '../../contracts/errors/diagnostic.ts';
import type { Isolation } from '../../contracts/jobs/result.ts';
import type { SkillcellError } from '../../contracts/errors/skillcell-error.ts';
import { NO_USAGE, type SandboxUsage } from '../../contracts/jobs/usage.ts';
import type { Sandbox, SandboxExit } from '../runner.ts';
import type { ControlGroup } from './control-group.ts';

/** Kept bytes of the stderr of the sandbox's own programs. */
const COMPLAINT_BYTES = 4_096;
/** Time for the entry at level none to end its processes, and then itself: without a control group, nothing else can end them. */
const ENTRY_END_MS = 2_500;
/** The same with a control group. An interrupted command exits soon after a kill, and must not leave a stopped entry. */
const ENTRY_END_IN_GROUP_MS = 250;

/** The parts of a started local sandbox. */
export interface LocalSandboxParts {
  isolation: Isolation;
  child: ChildProcess;
  group: ControlGroup | null;
  diagnostics: Diagnostic[];
  /** Converts the stderr of a failed start of the isolating programs to an error. */
  startFailure?(complaint: string): SkillcellError | undefined;
  /** Removes the files of this sandbox after its last process has ended. */
  cleanUp(): Promise<void>;
}

/** Wraps the process of a local sandbox in the runner contract. Its descriptor 3 is the channel. */
export function localSandbox(parts: LocalSandboxParts): Sandbox {
  const { isolation, child, group, diagnostics, cleanUp } = parts;
  const channel = child.stdio[3] as Duplex;
  // The user of the channel handles errors. Before it attaches, the error of an early end must not crash the host.
  channel.on('error', () => undefined);
  let complaint = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    complaint = (complaint + text).slice(-COMPLAINT_BYTES);
  });
  let killed = false;
  let last = NO_USAGE;
  const usage = (): SandboxUsage => (group === null ? NO_USAGE : (last = keepKnown(last, group.usage())));

  const exited = new Promise<SandboxExit>((resolve) => {
    child.once('error', () => resolve({ cause: 'lost', oom: null, code: null }));
    child.once('exit', (code) => {
      const { oomKills } = usage();
      resolve({ cause: killed ? 'killed' : 'exit', oom: oomKills === null ? null : oomKills > 0, code });
    });
  });
  const handles = [child, channel as Socket, child.stderr as Socket | null];
  const ref = (): void => handles.forEach((handle) => handle?.ref());
  const gone = exited.then(async () => {
    channel.destroy();
    await removeGroup(group);
    await cleanUp();
  });
  // `kill` reports a failed cleanup; otherwise the sweep repeats it.
  gone.catch(() => undefined);

  return {
    isolation,
    runner: 'local',
    channel,
    diagnostics,
    usage,
    memoryBytes: () => Promise.resolve(group?.memoryBytes() ?? null),
    complaint: () => complaint,
    startFailure: () => parts.startFailure?.(complaint.trim()),
    exited,
    ref,
    unref: () => handles.forEach((handle) => handle?.unref()),
    async kill() {
      // Keep this process alive until the sandbox has ended. A socket that is closed already would keep each `ref` in a listener.
      if (!killed) ref();
      killed = true;
      if (isolation === 'none') {
        // At the end of its channel, the entry ends all processes that it started, and then itself. It must be the last: if this process is killed in
        // the meantime, only the entry can end the others. User code may have stopped it. If it does not answer, one pass over the group ends all.
        child.kill('SIGCONT');
        channel.destroy();
        const timer = setTimeout(
          () => {
            group?.kill();
            child.kill('SIGKILL');
          },
          group === null ? ENTRY_END_MS : ENTRY_END_IN_GROUP_MS,
        );
        await exited;
        clearTimeout(timer);
      } else {
        // All other processes of the sandbox end with its namespace.
        child.kill('SIGKILL');
      }
      await gone;
    },
  };
}

/** Keeps the counters that were read before the removal of the group. */
function keepKnown(before: SandboxUsage, now: SandboxUsage): SandboxUsage {
  return {
    cpuMs: now.cpuMs ?? before.cpuMs,
    maxRssBytes: now.maxRssBytes ?? before.maxRssBytes,
    oomKills: now.oomKills ?? before.oomKills,
    pidsRefused: now.pidsRefused ?? before.pidsRefused,
  };
}

/**
 * A group is busy until the kernel has reaped its last process. At level none, processes may outlive the entry; the group still
 * contains them, even with a cleared environment.
 */
async function removeGroup(group: ControlGroup | null): Promise<void> {
  for (let tries = 0; group !== null && tries < 200; tries += 1) {
    if (group.remove()) return;
    group.kill();
    await new Promise((resolve) => setTimeout(resolve, tries < 20 ? 2 : 20));
  }
}
