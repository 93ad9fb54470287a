import { devNull } from 'node:os';
import type { JobOptions } from '../../contracts/jobs/job.ts';
import { DEFAULT_LIMITS } from '../../contracts/jobs/limits.ts';
import type { Isolation } from '../../contracts/jobs/result.ts';
import { type CommandContext, flagValue, flagValues } from './flags/command.ts';
import { consumerFromFlags } from './flags/consumer-flag.ts';
import { inputFiles } from './flags/file-flags.ts';
import { fleetOfJobs } from './flags/fleet-flags.ts';
import { checkInputFile, unreadable } from '../terminal/input-file.ts';
import { limitsFromFlags } from './flags/limit-flags.ts';
import { outputFolder } from './places/output-folder.ts';
import { readStdin } from '../terminal/read-stdin.ts';
import { quoted, usageError } from '../terminal/usage-error.ts';
import { shownPathFault } from '../../protocol/files/shown-path.ts';

const VARIABLE = /^[A-Za-z_][A-Za-z0-9_]*$/;

const MIB = 1024 * 1024;

/**
 * Reads the fields that every kind of job takes from their flags. All are checked; only this command's own standard input
 * is read.
 *
 * @param stdinTaken whether the code or the task comes from standard input
 * @throws SkillcellError `usage.invalid` or `file.unreadable`
 */
export async function jobOptions(context: CommandContext, stdinTaken: boolean): Promise<JobOptions> {
  const { arguments: given, io, interruption } = context;
  const limits = limitsFromFlags(given);
  const workspaceMib = limits.workspaceMib ?? DEFAULT_LIMITS.workspaceMib;
  const env = environmentFromFlags(flagValues(given, 'env'));
  const expect = expectedOutputs(flagValues(given, 'expect'));
  const consumer = consumerFromFlags(given);
  const folder = flagValue(given, 'output');
  const output = folder === undefined ? undefined : outputFolder(folder, io);
  // Checked before standard input is read; the runners are made later.
  fleetOfJobs(context);
  const files = inputFiles(flagValues(given, 'file'), workspaceMib, io);
  const runner = flagValue(given, 'runner') ?? 'auto';
  const isolation = flagValue(given, 'isolation') as Isolation | undefined;
  const stdin = await programInput(context, stdinTaken, workspaceMib);
  return {
    runner,
    ...(isolation === undefined ? {} : { isolation }),
    files,
    ...(stdin === undefined ? {} : { stdin }),
    args: [...flagValues(given, 'arg')],
    env,
    expect,
    limits,
    tools: [...flagValues(given, 'tool')],
    skills: { refs: [...flagValues(given, 'skill')], ...(consumer === undefined ? {} : { consumer }) },
    ...(output === undefined ? {} : { output }),
    signal: interruption.signal,
  };
}

async function programInput(
  { arguments: given, io, interruption }: CommandContext,
  taken: boolean,
  workspaceMib: number,
): Promise<JobOptions['stdin']> {
  const value = flagValue(given, 'stdin');
  // Without an input a program reads an empty one.
  if (value === undefined || value === devNull) return undefined;
  const limit = workspaceMib * MIB;
  if (value !== '-') {
    const { source, bytes } = checkInputFile('--stdin', value, io);
    if (bytes > limit) throw unreadable('--stdin', `it may have ${limit} bytes, it has ${bytes}`, value);
    return { source };
  }
  if (taken) throw usageError('--stdin', 'standard input is taken already by the code or the task', value);
  return readStdin('--stdin', limit, io, interruption);
}

/** Reads `--env K=V` flags. @throws SkillcellError `usage.invalid` */
function environmentFromFlags(values: readonly string[]): Record<string, string> {
  const environment = new Map<string, string>();
  for (const value of values) {
    const equals = value.indexOf('=');
    const name = value.slice(0, Math.max(0, equals));
    if (!VARIABLE.test(name)) {
      throw usageError('--env', 'it must be NAME=VALUE with a name of letters, digits and _', value);
    }
    if (environment.has(name))
      throw usageError('--env', `each name is allowed once, ${quoted(name)} is set already`, value);
    environment.set(name, value.slice(equals + 1));
  }
  return Object.fromEntries(environment);
}

/** Reads `--expect PATH` flags. @throws SkillcellError `usage.invalid` */
function expectedOutputs(values: readonly string[]): string[] {
  for (const value of values) {
    const fault = shownPathFault(value);
    if (fault !== undefined) {
      throw usageError(
        '--expect',
        `it must be a relative path below the output folder, without . and .. (${fault})`,
        value,
      );
    }
  }
  return [...values];
}
