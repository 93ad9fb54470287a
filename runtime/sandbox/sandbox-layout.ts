import { dirname, join } from 'node:path';
import { DEFAULT_LIMITS } from '../../src/contracts/jobs/limits.ts';

/** The entry's start parameters and the paths of its folders. The names are the same at every level. */
export interface SandboxLayout {
  level: 'none' | 'namespace' | 'container';
  /** Working folder and HOME of user code. */
  workspace: string;
  /** The folder for outputs of user code. */
  output: string;
  /** The job's skills, read-only for user code. */
  skills: string;
  /** A folder with at most one file: programs without the `skillcell` module leave their value there. */
  value: string;
  /** Temporary folder of user code. */
  temporary: string;
  /** User code's /dev/shm as the entry sees it; undefined if it is the machine's. */
  sharedMemory: string | undefined;
  /** The runtime bundle. */
  runtime: string;
  /** The marker of a job's processes at level none; it begins with the owner's name. */
  marker: string;
  /** The memory that a program may hold, in MiB; the interpreter gets it at its start. */
  memoryMib: number;
  /** Folder with the counters of the sandbox's control group; undefined if it has none. A container finds its own. */
  memoryGroup: string | undefined;
  /** Whether the entry has to watch the size of the workspace, because it is not a file system of its own. */
  watchWorkspace: boolean;
}

const SHARED_MEMORY: Partial<Record<string, string>> = { namespace: '/inner/shm', container: '/dev/shm' };

/** Reads the layout from the entry's arguments, each `--name=value`. They contain no data of the job. */
export function readLayout(args: readonly string[]): SandboxLayout {
  const options = new Map<string, string>();
  for (const argument of args) {
    const match = /^--([a-z-]+)=(.*)$/s.exec(argument);
    if (match?.[1] !== undefined && match[2] !== undefined) options.set(match[1], match[2]);
  }
  const level = options.get('level');
  if (level !== 'none' && level !== 'namespace' && level !== 'container') {
    throw new Error('Cannot start the entry: --level is missing.');
  }
  const root = options.get('root') ?? '/';
  const workspace = join(root, 'workspace');
  return {
    level,
    workspace,
    output: join(workspace, 'out'),
    skills: join(root, 'skills'),
    value: join(root, 'value'),
    temporary: options.get('temporary') ?? join(root, 'tmp'),
    sharedMemory: SHARED_MEMORY[level],
    runtime: dirname(__filename),
    marker: options.get('marker') ?? '',
    memoryMib: Number(options.get('memory-mib') ?? DEFAULT_LIMITS.memoryMib),
    memoryGroup: options.get('memory-group') || undefined,
    watchWorkspace: level === 'none',
  };
}
