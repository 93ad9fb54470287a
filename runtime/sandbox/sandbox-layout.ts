import { dirname, join } from 'node:path';
import { DEFAULT_LIMITS } from '../../src/contracts/jobs/limits.ts';

/** How the entry was started, and where its folders are. The same names at every level. */
export interface SandboxLayout {
  level: 'none' | 'namespace' | 'container';
  /** Working folder and HOME of user code. */
  workspace: string;
  /** Where user code leaves its outputs. */
  output: string;
  /** The job's skills, read-only for user code. */
  skills: string;
  /** A folder of one file: where programs without the `skillcell` module leave their value. */
  value: string;
  /** Temporary folder of user code. */
  temporary: string;
  /** User code's /dev/shm as the entry sees it; undefined where it is the machine's. */
  sharedMemory: string | undefined;
  /** The runtime bundle. */
  runtime: string;
  /** What marks a job's processes at level none; it begins with the owner's name. */
  marker: string;
  /** The memory that a program may hold, in MiB: its interpreter is started with it. */
  memoryMib: number;
  /** Folder with the counters of the sandbox's control group; undefined where it has none. A container finds its own. */
  memoryGroup: string | undefined;
  /** Whether the entry has to watch the size of the workspace, since it is no file system of its own. */
  watchWorkspace: boolean;
}

const SHARED_MEMORY: Partial<Record<string, string>> = { namespace: '/inner/shm', container: '/dev/shm' };

/** Reads the layout from the entry's arguments: `--name=value` each. They say nothing about the job. */
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
