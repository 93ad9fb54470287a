import { LIMIT_CEILINGS, MINIMUM_PIDS, type JobLimits } from '../../contracts/limits.ts';
import { type CommandArguments, flagValue } from './command.ts';
import { type NumberRange, parseNumber } from './parse-number.ts';

const SECOND_MS = 1000;

interface LimitFlag extends NumberRange {
  flag: string;
  limit: keyof JobLimits;
  /** What one unit of the flag is in units of the limit. */
  scale: number;
}

const { runTimeoutMs, memoryMib, cpus, pids, workspaceMib } = LIMIT_CEILINGS;

const LIMIT_FLAGS: readonly LimitFlag[] = [
  {
    flag: 'timeout',
    limit: 'runTimeoutMs',
    scale: SECOND_MS,
    minimum: 1 / SECOND_MS,
    maximum: runTimeoutMs / SECOND_MS,
    fraction: true,
    unit: 'seconds',
  },
  { flag: 'memory', limit: 'memoryMib', scale: 1, minimum: 1, maximum: memoryMib, unit: 'MiB' },
  { flag: 'cpus', limit: 'cpus', scale: 1, minimum: 0.01, maximum: cpus, fraction: true, unit: 'processors' },
  { flag: 'pids', limit: 'pids', scale: 1, minimum: MINIMUM_PIDS, maximum: pids, unit: 'processes' },
  { flag: 'workspace', limit: 'workspaceMib', scale: 1, minimum: 1, maximum: workspaceMib, unit: 'MiB' },
];

/** The limits that flags set. @throws SkillcellError `usage.invalid` */
export function limitsFromFlags(given: CommandArguments): Partial<JobLimits> {
  const limits: Partial<JobLimits> = {};
  for (const { flag, limit, scale, ...range } of LIMIT_FLAGS) {
    const text = flagValue(given, flag);
    if (text === undefined) continue;
    const value = parseNumber(`--${flag}`, text, range) * scale;
    limits[limit] = limit === 'cpus' ? value : Math.round(value);
  }
  return limits;
}
