import { addressFault } from '../../../sandboxes/fleet/fleet-address.ts';
import { FLEET_NAME } from '../../../sandboxes/fleet/fleet-keys.ts';
import { decodeInput, readSecretFile } from '../../terminal/input-file.ts';
import { usageError } from '../../terminal/usage-error.ts';
import { type CommandContext, flagValue } from './command.ts';

const FILE_FLAG = '--fleet-file';
const VARIABLE = 'SKILLCELL_FLEET';
const ADDRESS_BYTES = 4_096;
const NOT_ONE = { rule: 'must be one line with one address', got: 'more', needsTls: false };

/** Address of a fleet. */
export interface FleetPlace {
  /** It may hold a password. */
  url: string;
  plain: boolean;
}

/** The fleet of jobs, and the queue of its workers. */
export interface FleetOfJobs extends FleetPlace {
  queue: string;
}

/**
 * The fleet that a command needs, by `--fleet-file` or the variable SKILLCELL_FLEET.
 *
 * @throws SkillcellError `usage.invalid` or `file.unreadable`
 */
export function fleetFromFlags(context: CommandContext): FleetPlace {
  const place = namedFleet(context);
  if (place !== undefined) return place;
  throw usageError(FILE_FLAG, 'the command needs the address of a fleet: name a file with it', '');
}

/**
 * The fleet that jobs may use; undefined if none is named, or another runner is.
 *
 * @throws SkillcellError `usage.invalid` or `file.unreadable`
 */
export function fleetOfJobs(context: CommandContext): FleetOfJobs | undefined {
  const { arguments: given } = context;
  const runner = flagValue(given, 'runner') ?? 'auto';
  // A service has its own fleet.
  const mayUse = (runner === 'auto' || runner === 'fleet') && !given.flags.has('server');
  const place = mayUse ? namedFleet(context) : undefined;
  if (place !== undefined) return { ...place, queue: nameFromFlag(context, 'queue') ?? 'default' };
  if (runner === 'fleet') throw usageError('--runner', `a fleet needs its address: add ${FILE_FLAG} FILE`, runner);
  const needless = ['fleet-file', 'queue', 'plain'].find((name) => given.flags.has(name));
  if (needless === undefined) return undefined;
  const needed = mayUse ? `with ${FILE_FLAG} FILE` : 'where --runner is fleet or auto';
  throw usageError(`--${needless}`, `it works only ${needed}`, flagValue(given, needless) ?? '');
}

/** Reads the name of a queue or a worker. @throws SkillcellError `usage.invalid` */
export function nameFromFlag({ arguments: given }: CommandContext, flag: string): string | undefined {
  const name = flagValue(given, flag);
  return name === undefined ? undefined : checkFleetName(`--${flag}`, name);
}

/** @throws SkillcellError `usage.invalid` */
export function checkFleetName(about: string, name: string): string {
  if (FLEET_NAME.test(name)) return name;
  throw usageError(about, 'it must be 1 to 32 of a-z, 0-9 and -', name);
}

function namedFleet({ arguments: given, io }: CommandContext): FleetPlace | undefined {
  const file = flagValue(given, 'fleet-file');
  const variable = io.env[VARIABLE] ?? '';
  if (file === undefined && variable === '') return undefined;
  const about = file === undefined ? VARIABLE : FILE_FLAG;
  const text = file === undefined ? variable : decodeInput(about, readSecretFile(about, file, ADDRESS_BYTES, io), file);
  const url = text.trim();
  const plain = given.flags.has('plain');
  const fault = /\s/.test(url) ? NOT_ONE : addressFault(url, plain);
  if (fault === undefined) return { url, plain };
  const advice = 'Without TLS others could read and change the bytes of sandboxes; --plain allows it.';
  throw usageError(about, `it ${fault.rule}`, fault.got, fault.needsTls ? advice : undefined);
}
