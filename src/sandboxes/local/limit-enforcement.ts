import { type Diagnostic, diagnostic } from '../../contracts/errors/diagnostic.ts';
import type { LimitEnforcement, RunnerReport } from '../runner.ts';

/** How the local runner enforces each limit at a level, with and without control groups. */
export function limitEnforcement(level: 'none' | 'namespace', groups: boolean): RunnerReport['limits'] {
  const folder: LimitEnforcement = level === 'namespace' ? 'kernel' : 'watched';
  return {
    memory: groups ? 'kernel' : 'watched',
    cpus: groups ? 'kernel' : 'none',
    pids: groups || level === 'namespace' ? 'kernel' : 'none',
    workspace: folder,
    inodes: folder,
  };
}

const HOW: Record<Exclude<LimitEnforcement, 'kernel'>, string> = {
  watched: 'is checked several times a second, so a fast program can exceed it for a moment',
  none: 'is not enforced here',
};

/** The limits that the kernel does not enforce, as diagnostics of a result. */
export function unenforcedLimits(level: 'none' | 'namespace', groups: boolean): Diagnostic[] {
  return Object.entries(limitEnforcement(level, groups)).flatMap(([limit, how]): Diagnostic[] =>
    how === 'kernel'
      ? []
      : [diagnostic(how === 'watched' ? 'limit.watched' : 'limit.unenforced', `The limit of ${limit} ${HOW[how]}.`)],
  );
}
