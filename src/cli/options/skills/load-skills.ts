import { statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { FullDescriptor, SkillsDescriptor } from '../../../contracts/skills/descriptor.ts';
import type { Diagnostic } from '../../../contracts/errors/diagnostic.ts';
import type { Skill } from '../../../contracts/skills/skill.ts';
import { SkillcellError } from '../../../contracts/errors/skillcell-error.ts';
import { JsonRefused, parseBoundedJson } from '../../../protocol/channel/bounded-json.ts';
import { loadUnchecked, type SkillsSubsystem, type SkillsSubsystemOptions } from '../../../skills/load-subsystem.ts';
import type { SkillLibrary } from '../../../library/snapshot/skill-library.ts';
import type { SourceName } from '../../../library/trust/source-folders.ts';
import type { CliIo } from '../../terminal/cli-io.ts';
import { readInputFile } from '../../terminal/input-file.ts';
import { quoted } from '../../terminal/usage-error.ts';
import { BUILTIN_FOLDER } from './builtin-folder.ts';

const DESCRIPTOR_BYTES = 16 * 1024 * 1024;

/** The sources of a command's skills. */
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
 * Loads the skills that flags name: the built-in root, the folders of the user and the project, and the additions of the bundle's descriptor.
 *
 * @throws SkillcellError `skills.root-missing`, `skills.descriptor-invalid`, `skills.digest-mismatch` or `file.unreadable`
 */
export async function loadSkills(sources: SkillSources, io: CliIo): Promise<SkillsSubsystem> {
  const options = readOptions(sources, io);
  const subsystem = await load(options, sources, io);
  checkListed(options.descriptor, subsystem, sources.descriptor);
  return subsystem;
}

/**
 * Loads the same skills for a long-lived command, as a library that follows changes. A descriptor that lists its skills by digest pins them, so
 * there is nothing to follow. Without a cache, nothing could keep the skills of a submitted job.
 *
 * @throws SkillcellError as `loadSkills`, and `store.unavailable`
 */
export async function followSkills(sources: SkillSources, io: CliIo): Promise<SkillLibrary | SkillsSubsystem> {
  const options = readOptions(sources, io);
  const { hasCache, openSources } = await import('./load-sources.ts');
  if (listedSkills(options.descriptor) !== undefined || !hasCache(io)) return await loadSkills(sources, io);
  return await openSources({ ...options, ...lockOf(sources) }, sources.names, io);
}

/** Reads and checks the flags. */
export function readOptions(sources: SkillSources, io: CliIo): SkillOptions {
  const builtinRoot = sources.names.has('builtin') ? builtinSkills(sources, io) : undefined;
  const path = sources.descriptor;
  if (path === undefined) return { builtinRoot };
  const descriptor = readJsonFile('--descriptor', path, io) as SkillsDescriptor;
  return { builtinRoot, descriptor, bundleRoot: dirname(resolve(io.cwd(), path)) };
}

/** Options to load skills with. */
export type SkillOptions = Pick<SkillsSubsystemOptions, 'builtinRoot' | 'descriptor' | 'bundleRoot'>;

function lockOf({ frozen }: SkillSources): { lockFile: string | undefined; frozen: boolean } {
  return { lockFile: frozen, frozen: frozen !== undefined };
}

async function load(options: SkillOptions, sources: SkillSources, io: CliIo): Promise<SkillsSubsystem> {
  const { names, refs } = sources;
  if (!readsFolders(sources)) {
    const admit = await admitOf(sources);
    return loadUnchecked({ ...options, admit });
  }
  const { loadSources } = await import('./load-sources.ts');
  return await loadSources({ ...options, ...lockOf(sources) }, { names, refs }, io);
}

/** Whether folders of the user or the project are read, which needs a library. */
export function readsFolders({ names }: SkillSources): boolean {
  return names.has('user') || names.has('project');
}

/** The check of `--frozen`; undefined without the flag, when no code of locks is loaded. @throws SkillcellError `lock.invalid` */
export async function admitOf({
  frozen,
}: SkillSources): Promise<((skill: Skill) => Diagnostic | undefined) | undefined> {
  if (frozen === undefined) return undefined;
  const { openFrozen } = await import('../../../library/lock/open-frozen.ts');
  return (await openFrozen(frozen)).admit;
}

/** Reads a JSON file with caps. @throws SkillcellError `file.unreadable` or `skills.descriptor-invalid` */
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
    // Missing or unreachable; the caller reports it.
    return false;
  }
}

/** The skills that a descriptor lists by digest; undefined if it lists none. */
function listedSkills(descriptor: SkillsDescriptor | undefined): FullDescriptor['skills'] {
  return descriptor !== undefined && 'skills' in descriptor ? descriptor.skills : undefined;
}

/** A descriptor that lists its skills by digest pins exactly those. @throws SkillcellError `skills.digest-mismatch` */
export function checkListed(
  descriptor: SkillsDescriptor | undefined,
  subsystem: SkillsSubsystem,
  path: string | undefined,
): void {
  const listed = listedSkills(descriptor);
  if (listed === undefined) return;
  const loaded = new Map(subsystem.skills.map(({ id, digest }) => [id, digest]));
  for (const [id, { digest }] of Object.entries(listed)) {
    if (loaded.get(id) === digest) continue;
    const fault = loaded.has(id) ? 'has other bytes than those listed' : 'is listed, but missing';
    const message = `Cannot load skills: ${id} ${fault} in ${quoted(path ?? '')}.`;
    throw new SkillcellError('skills.digest-mismatch', message);
  }
}
