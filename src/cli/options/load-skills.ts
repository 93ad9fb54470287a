import { statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { SkillsDescriptor } from '../../contracts/descriptor.ts';
import { SkillcellError } from '../../contracts/skillcell-error.ts';
import { JsonRefused, parseBoundedJson } from '../../protocol/bounded-json.ts';
import '../../skills/match-on-host.ts';
import { loadUnchecked, type SkillsSubsystem, type SkillsSubsystemOptions } from '../../skills/load-subsystem.ts';
import type { SourceName } from '../../library/trust/source-folders.ts';
import type { CliIo } from '../terminal/cli-io.ts';
import { readInputFile } from '../terminal/input-file.ts';
import { quoted } from '../terminal/usage-error.ts';
import { BUILTIN_FOLDER } from './builtin-folder.ts';

const DESCRIPTOR_BYTES = 16 * 1024 * 1024;

/** Where a command's skills come from. */
export interface SkillSources {
  /** Value and name of the flag for the built-in root. */
  root: string | undefined;
  rootFlag: '--root' | '--skills-root';
  /** Value of `--descriptor`. */
  descriptor: string | undefined;
  /** Value of `--sources`. */
  names: ReadonlySet<SourceName>;
  /** The lock file of `--frozen`; undefined without the flag. */
  frozen: string | undefined;
  /** References whose ranges decide on versions. */
  refs: readonly string[];
}

/**
 * Loads the skills that flags name: the built-in root, what the user and the project have, and what the bundle's descriptor adds.
 *
 * @throws SkillcellError `skills.root-missing`, `skills.descriptor-invalid`, `skills.digest-mismatch` or `file.unreadable`
 */
export async function loadSkills(sources: SkillSources, io: CliIo): Promise<SkillsSubsystem> {
  const builtinRoot = sources.names.has('builtin') ? builtinSkills(sources, io) : undefined;
  const path = sources.descriptor;
  if (path === undefined) return await load({ builtinRoot }, sources, io);
  const descriptor = readJsonFile('--descriptor', path, io) as SkillsDescriptor;
  const subsystem = await load({ builtinRoot, descriptor, bundleRoot: dirname(resolve(io.cwd(), path)) }, sources, io);
  checkListed(descriptor, subsystem, path);
  return subsystem;
}

async function load(
  options: Pick<SkillsSubsystemOptions, 'builtinRoot' | 'descriptor' | 'bundleRoot'>,
  { names, frozen, refs }: SkillSources,
  io: CliIo,
): Promise<SkillsSubsystem> {
  if (!names.has('user') && !names.has('project')) {
    if (frozen === undefined) return loadUnchecked(options);
    const { openFrozen } = await import('../../library/lock/open-frozen.ts');
    return loadUnchecked({ ...options, admit: (await openFrozen(frozen)).admit });
  }
  const { loadSources } = await import('./load-sources.ts');
  return await loadSources({ ...options, lockFile: frozen, frozen: frozen !== undefined }, { names, refs }, io);
}

/** Reads a file of JSON with caps. @throws SkillcellError `file.unreadable` or `skills.descriptor-invalid` */
export function readJsonFile(flag: string, path: string, io: CliIo): unknown {
  const bytes = readInputFile(flag, path, DESCRIPTOR_BYTES, io);
  try {
    return parseBoundedJson(bytes, { maxBytes: DESCRIPTOR_BYTES, maxValues: 1_000_000 });
  } catch (cause) {
    if (!(cause instanceof JsonRefused)) throw cause;
    const message = `Cannot use ${flag}: it must hold JSON (${cause.message}), got ${quoted(path)}.`;
    throw new SkillcellError('skills.descriptor-invalid', message, { cause });
  }
}

function builtinSkills({ root, rootFlag }: SkillSources, io: CliIo): string {
  if (root === undefined) return BUILTIN_FOLDER;
  const path = resolve(io.cwd(), root);
  if (root !== '' && isFolder(path)) return path;
  throw new SkillcellError(
    'skills.root-missing',
    `Cannot load skills: ${rootFlag} must be a folder, got ${quoted(root)}.`,
  );
}

function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    // Missing or out of reach; the caller reports it.
    return false;
  }
}

/** A descriptor that lists its skills by digest means those and no others. */
function checkListed(descriptor: SkillsDescriptor, subsystem: SkillsSubsystem, path: string): void {
  if (!('skills' in descriptor) || descriptor.skills === undefined) return;
  const loaded = new Map(subsystem.skills.map(({ id, digest }) => [id, digest]));
  for (const [id, { digest }] of Object.entries(descriptor.skills)) {
    if (loaded.get(id) === digest) continue;
    const what = loaded.has(id) ? 'has other bytes than those' : 'is not there that is';
    throw new SkillcellError(
      'skills.digest-mismatch',
      `Cannot load skills: ${id} ${what} listed, got ${quoted(path)}.`,
    );
  }
}
