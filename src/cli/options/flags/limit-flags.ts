import {
  CODEGEN_JOB_TIMEOUT_MS,
  DEFAULT_LIMITS,
  LIMIT_CEILINGS,
  MINIMUM_PIDS,
  type JobLimits,
} from '../../../contracts/jobs/limits.ts';
import { type CommandArguments, type FlagSpecification, flagValue } from './command.ts';
import { type NumberRange, parseNumber } from './parse-number.ts';

/** Scale from the unit of a flag to the unit of its limit, and the placeholder of its value. */
const UNITS = {
  seconds: { scale: 1000, value: 'S', minimum: 0.001, fraction: true },
  KiB: { scale: 1024, value: 'KIB', minimum: 1 },
  MiB: { scale: 1024 * 1024, value: 'MIB', minimum: 1 },
  one: { scale: 1, value: 'N', minimum: 1 },
} as const;

interface LimitFlag {
  limit: keyof JobLimits;
  unit: keyof typeof UNITS;
  summary: string;
  /** Differences from the range of the unit. */
  range?: Partial<NumberRange>;
  value?: string;
  /** Replaces the default of the limit in the help text. */
  defaults?: string;
}

const OF_MEMORY = { unit: 'one', value: 'MIB', range: { unit: 'MiB' } } as const;

/** A flag for each limit of a job, except the time to approve calls: the command line has no approvals. A limit without a flag does not compile. */
const LIMIT_FLAGS = {
  timeout: { limit: 'runTimeoutMs', unit: 'seconds', summary: 'seconds that a run of the program may take' },
  'job-timeout': {
    limit: 'jobTimeoutMs',
    unit: 'seconds',
    summary: 'seconds that the whole job may take',
    defaults: `${DEFAULT_LIMITS.jobTimeoutMs / 1000}, or --timeout and 10 more; ${CODEGEN_JOB_TIMEOUT_MS / 1000} where a model writes the code`,
  },
  grace: { limit: 'graceMs', unit: 'seconds', summary: 'seconds from SIGTERM to SIGKILL for a program that is ended' },
  memory: {
    limit: 'memoryMib',
    ...OF_MEMORY,
    summary: 'memory of the program and of /dev/shm, beside its other files and the share of skillcell itself',
  },
  cpus: {
    limit: 'cpus',
    unit: 'one',
    summary: 'processors, a fraction is allowed',
    range: { unit: 'processors', minimum: 0.01, fraction: true },
  },
  pids: {
    limit: 'pids',
    unit: 'one',
    summary: `processes and threads, at least ${MINIMUM_PIDS}`,
    range: { unit: 'processes', minimum: MINIMUM_PIDS },
  },
  workspace: { limit: 'workspaceMib', ...OF_MEMORY, summary: 'size of the working folder, and of /tmp' },
  'workspace-files': {
    limit: 'workspaceInodes',
    unit: 'one',
    summary: 'files and folders that the working folder takes',
    range: { unit: 'files' },
  },
  'kept-output': { limit: 'keptOutputBytes', unit: 'KiB', summary: 'kept output of stdout, and as much of stderr' },
  'total-output': { limit: 'totalOutputBytes', unit: 'MiB', summary: 'output of both kinds after which the job ends' },
  'artifact-file': { limit: 'artifactFileBytes', unit: 'MiB', summary: 'size of one artifact' },
  'artifact-total': { limit: 'artifactTotalBytes', unit: 'MiB', summary: 'size of all artifacts together' },
  'artifact-files': {
    limit: 'artifactFiles',
    unit: 'one',
    summary: 'number of artifacts',
    range: { unit: 'files' },
  },
  'artifact-depth': {
    limit: 'artifactDepth',
    unit: 'one',
    summary: 'folders below each other that are searched for artifacts',
    range: { unit: 'folders' },
  },
  'value-size': { limit: 'valueBytes', unit: 'KiB', summary: 'size of the value that the program hands back, as JSON' },
  calls: { limit: 'calls', unit: 'one', summary: 'calls of tools, and of the model', range: { unit: 'calls' } },
  'network-connections': {
    limit: 'networkConnections',
    unit: 'one',
    summary: 'connections to the network at once; further ones wait',
    range: { unit: 'connections' },
  },
  'network-requests': {
    limit: 'networkRequests',
    unit: 'one',
    summary: 'requests to the network',
    range: { unit: 'requests' },
  },
  'network-in': { limit: 'networkBytesIn', unit: 'MiB', summary: 'size of all answers from the network together' },
  'network-out': { limit: 'networkBytesOut', unit: 'MiB', summary: 'size of all requests to the network together' },
  'model-timeout': {
    limit: 'modelTimeoutMs',
    unit: 'seconds',
    summary: 'seconds that a request to the model may take',
  },
} satisfies Record<string, LimitFlag>;

type FlagName = keyof typeof LIMIT_FLAGS;
type Flagged = (typeof LIMIT_FLAGS)[FlagName]['limit'];
const NAMES: [Exclude<keyof JobLimits, 'approvalTimeoutMs'>] extends [Flagged] ? readonly FlagName[] : never =
  Object.keys(LIMIT_FLAGS) as FlagName[];

/** The flags of limits, as help shows them. */
const SPECIFICATIONS: readonly (FlagSpecification & { name: FlagName })[] = NAMES.map((name) => {
  const { limit, unit, summary, value, defaults }: LimitFlag = LIMIT_FLAGS[name];
  const { scale, value: ofUnit } = UNITS[unit];
  return {
    name,
    value: value ?? ofUnit,
    summary: `${summary} (default: ${defaults ?? DEFAULT_LIMITS[limit] / scale})`,
  };
});

/** The flag of requests to a model, for commands that ask one. */
export const MODEL_TIMEOUT_FLAGS: readonly FlagSpecification[] = SPECIFICATIONS.filter(isOfModels);
/** The flags of the other limits. */
export const LIMIT_SPECIFICATIONS: readonly FlagSpecification[] = SPECIFICATIONS.filter((flag) => !isOfModels(flag));

function isOfModels({ name }: FlagSpecification): boolean {
  return name === 'model-timeout';
}

/** The limits that flags set. @throws SkillcellError `usage.invalid` */
export function limitsFromFlags(given: CommandArguments): Partial<JobLimits> {
  const limits: Partial<JobLimits> = {};
  for (const name of NAMES) {
    const { limit, unit, range }: LimitFlag = LIMIT_FLAGS[name];
    const text = flagValue(given, name);
    if (text === undefined) continue;
    const { scale, value: _value, ...ofUnit } = UNITS[unit];
    const most = { maximum: LIMIT_CEILINGS[limit] / scale, unit };
    const value = parseNumber(`--${name}`, text, { ...ofUnit, ...most, ...range }) * scale;
    limits[limit] = limit === 'cpus' ? value : Math.round(value);
  }
  return limits;
}
