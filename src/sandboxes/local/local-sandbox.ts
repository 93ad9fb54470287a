import type { ChildProcess } from 'node:child_process';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Diagnostic } from '../../contracts/errors/diagnostic.ts';
import type { Isolation } from '../../contracts/jobs/result.ts';
import type { SkillcellError } from '../../contracts/errors/skillcell-error.ts';
import { NO_USAGE, type SandboxUsage } from '../../contracts/jobs/usage.ts';
import type { Sandbox, SandboxExit } from '../runner.ts';
import type { ControlGroup } from './control-group.ts';

/** Bytes kept of what the sandbox's own programs complain about. */
const COMPLAINT_BYTES = 4_096;

/** The parts of a started local sandbox. */
export interface LocalSandboxParts {
  isolation: Isolation;
  child: ChildProcess;
  group: ControlGroup | null;
  diagnostics: Diagnostic[];
  /** What it means that the programs which were to isolate it said this and ended. */
  startFailure?(complaint: string): SkillcellError | undefined;
  /** Removes what only this sandbox used, after its last process has ended. */
  cleanUp(): Promise<void>;
}

/** Puts the process that holds a local sandbox behind the runner contract. Its descriptor 3 is the channel. */
export function localSandbox(parts: LocalSandboxParts): Sandbox {
  const { isolation, child, group, diagnostics, cleanUp } = parts;
  const channel = child.stdio[3] as Duplex;
  // The channel's own user hears of errors; without one yet, a sandbox that ends at once must not end the host.
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
  // A failure to clean up is reported by `kill`, and left to the sweep otherwise.
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
      killed = true;
      // Its end is awaited, also by a process that has nothing else left to do.
      ref();
      // The group knows all of them, but for the first process in the moment before it enters.
      if (isolation === 'none' && group !== null) group.kill();
      if (isolation === 'none' && group === null) {
        // The entry ends what it started when its channel does; it is killed only when it does not.
        channel.destroy();
        const timer = setTimeout(() => child.kill('SIGKILL'), 2_500);
        await exited;
        clearTimeout(timer);
      } else child.kill('SIGKILL');
      await gone;
    },
  };
}

/** Numbers that were read before the group was removed stay known. */
function keepKnown(before: SandboxUsage, now: SandboxUsage): SandboxUsage {
  return {
    cpuMs: now.cpuMs ?? before.cpuMs,
    maxRssBytes: now.maxRssBytes ?? before.maxRssBytes,
    oomKills: now.oomKills ?? before.oomKills,
    pidsRefused: now.pidsRefused ?? before.pidsRefused,
  };
}

/**
 * A group is busy until the kernel has reaped its last process. At level none some may live on, which neither an ended
 * entry nor a cleared environment keeps the group from knowing.
 */
async function removeGroup(group: ControlGroup | null): Promise<void> {
  for (let tries = 0; group !== null && tries < 200; tries += 1) {
    if (group.remove()) return;
    group.kill();
    await new Promise((resolve) => setTimeout(resolve, tries < 20 ? 2 : 20));
  }
}
