import { type Diagnostic, diagnostic } from '../../contracts/errors/diagnostic.ts';
import type { LimitEnforcement, RunnerReport } from '../runner.ts';

/** How the local runner holds each limit at a level, with and without control groups of its own. */
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
  watched: 'is looked at several times a second, so that a fast program can pass it for a moment',
  none: 'is not held here',
};

/** The limits that the kernel does not hold, as diagnostics of a result. */
export function unenforcedLimits(level: 'none' | 'namespace', groups: boolean): Diagnostic[] {
  return Object.entries(limitEnforcement(level, groups)).flatMap(([limit, how]): Diagnostic[] =>
    how === 'kernel'
      ? []
      : [diagnostic(how === 'watched' ? 'limit.watched' : 'limit.unenforced', `The limit of ${limit} ${HOW[how]}.`)],
  );
}
