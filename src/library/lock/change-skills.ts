import { chmodSync, existsSync, lstatSync, mkdirSync, readFileSync, renameSync, rmSync, type Stats } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import * as z from 'zod/mini';
import { checkOptions } from '../../contracts/checks/check-options.ts';
import type { SkillTree } from '../../contracts/skills/skill.ts';
import { SkillcellError } from '../../contracts/errors/skillcell-error.ts';
import { quotedText } from '../../contracts/text/quoted-text.ts';
import { syncFolder, writeAside } from '../../durable/durable-file.ts';
import { removeTree } from '../../durable/remove-tree.ts';
import { writeTree } from '../../durable/write-tree.ts';
import { type LockedSkill, type SkillLock, writeLock } from './format/lock-format.ts';
import { type LockPlaces, lockPlaces } from './format/lock-places.ts';
import { nestedPlace } from './format/nested-place.ts';
import { placeFault } from './format/place-fault.ts';
import { readLock } from './format/read-lock.ts';
import { type ExclusiveOptions, withExclusive } from './with-exclusive.ts';

/** A change to one skill. */
export interface SkillChange {
  id: string;
  /** Its new lock entry; null removes the entry. */
  entry: LockedSkill | null;
  /** The new content of its folder: null removes the folder, undefined keeps it. */
  folder?: { place: string; tree: SkillTree | null } | undefined;
}

interface Move {
  place: string;
  /** Whether there is a new folder, or only an old one to remove. */
  isNew: boolean;
}

const journalSchema = z.strictObject({
  lock: z.string(),
  moves: z.array(
    z.strictObject({
      place: z.string().check(z.refine((path) => placeFault(path) === undefined)),
      isNew: z.boolean(),
    }),
  ),
});

/**
 * Changes skills and their lock file atomically: after a kill at any point, and a call of {@link recoverSkills}, readers find the whole change or
 * nothing of it. Processes that change the same lock file take turns.
 *
 * @param path of the lock file
 * @param plan gets the present lock, while no other process changes it
 * @returns the result of `plan`
 * @throws SkillcellError `lock.invalid`, `lock.mismatch`, `store.conflict`
 */
export async function changeSkills<Result>(
  path: string,
  plan: (lock: SkillLock, places: LockPlaces) => Promise<{ changes: readonly SkillChange[]; result: Result }>,
  options: ExclusiveOptions = {},
): Promise<Result> {
  const places = lockPlaces(path);
  return await withExclusive(
    places.busy,
    async () => {
      finish(places);
      const lock = readLock(places.file) ?? new Map<string, LockedSkill>();
      const { changes, result } = await plan(lock, places);
      if (changes.length > 0) commit(places, lock, changes);
      return result;
    },
    options,
  );
}

/**
 * Completes or discards an interrupted change. Readers of a lock file, or of skills beside one, call this first.
 *
 * @throws SkillcellError `store.conflict` where another process is changing the skills and does not end
 */
export async function recoverSkills(path: string, options: ExclusiveOptions = {}): Promise<void> {
  if (!existsSync(dirname(path))) return;
  const places = lockPlaces(path);
  if (existsSync(places.staging) || existsSync(places.busy))
    await withExclusive(places.busy, () => finish(places), options);
}

function commit(places: LockPlaces, lock: SkillLock, changes: readonly SkillChange[]): void {
  const { staging, folders, journal } = places;
  const next = new Map(lock);
  for (const { id, entry } of changes) {
    if (entry === null) next.delete(id);
    else next.set(id, entry);
  }
  refuseNested(next);
  const moved = changes.flatMap(({ folder }) => (folder === undefined ? [] : [folder]));
  for (const { place } of moved) refuseLinks(places.folder, place);
  mkdirSync(staging, { mode: 0o700 });
  try {
    mkdirSync(folders, { mode: 0o700 });
    for (const [index, { tree }] of moved.entries())
      if (tree !== null) writeTree(folders, `new-${index}`, tree, 'plain');
    const moves = moved.map(({ place, tree }): Move => ({ place, isNew: tree !== null }));
    renameSync(writeAside(staging, JSON.stringify({ lock: writeLock(next), moves })), journal);
    syncFolder(staging);
  } catch (error) {
    removeTree(staging);
    throw error;
  }
  finish(places);
}

/** Without a journal, nothing was changed yet: the change is discarded. With a journal, the change is completed. */
function finish(places: LockPlaces): void {
  const { file, folder, staging, folders, journal } = places;
  const stats = lstatSync(staging, { throwIfNoEntry: false });
  if (stats === undefined) return;
  if (existsSync(journal)) {
    refuseForeign(stats, staging);
    const { lock, moves } = readJournal(journal);
    for (const [index, { place, isNew }] of moves.entries()) move(folder, place, folders, index, isNew);
    const aside = writeAside(staging, lock);
    chmodSync(aside, modeOf(file));
    renameSync(aside, file);
    syncFolder(folder);
    rmSync(journal);
  }
  removeTree(staging);
}

function move(root: string, place: string, folders: string, index: number, isNew: boolean): void {
  const [target, next, old] = [join(root, place), join(folders, `new-${index}`), join(folders, `old-${index}`)];
  if (isNew && !existsSync(next)) return;
  refuseLinks(root, place);
  if (isNew) mkdirSync(dirname(target), { recursive: true });
  if (lstatSync(target, { throwIfNoEntry: false }) !== undefined && !existsSync(old)) renameSync(target, old);
  if (isNew) renameSync(next, target);
  if (existsSync(dirname(target))) syncFolder(dirname(target));
}

/** A lock file with nested places could not be read any more. */
function refuseNested(lock: SkillLock): void {
  const nested = nestedPlace(new Set([...lock.values()].flatMap(({ place }) => place ?? [])));
  if (nested === undefined) return;
  const message = `Cannot write skills: one skill would be inside the folder of another, got ${nested}.`;
  throw new SkillcellError('lock.mismatch', message, { hint: 'Name another folder by --into.' });
}

/** A link on the path would redirect the write to another folder. */
function refuseLinks(root: string, place: string): void {
  const parts = place.split('/');
  for (const length of parts.keys()) {
    const path = parts.slice(0, length + 1).join('/');
    const stats = lstatSync(join(root, path), { throwIfNoEntry: false });
    if (stats === undefined) return;
    if (!stats.isDirectory())
      throw new SkillcellError(
        'lock.mismatch',
        `Cannot write skills: a file or a link is in place of the folder ${quotedText(path)}.`,
        {
          hint: 'Move it away, or name another folder by --into.',
        },
      );
  }
}

/** A journal that came with a repository could move any folders. */
function refuseForeign(stats: Stats, staging: string): void {
  if (stats.isDirectory() && stats.uid === process.getuid?.() && (stats.mode & 0o077) === 0) return;
  const message = `Cannot complete the change of skills in ${quotedText(basename(staging))}: this user did not begin it here.`;
  throw new SkillcellError('lock.invalid', message, { hint: 'Inspect it, then remove it.' });
}

function readJournal(path: string): { lock: string; moves: Move[] } {
  const value: unknown = JSON.parse(readFileSync(path, 'utf8'));
  return checkOptions(journalSchema, value, { action: `read ${path}`, whole: 'the journal', code: 'lock.invalid' });
}

/** The file belongs into a repository; its owner may change its mode. */
function modeOf(file: string): number {
  return (lstatSync(file, { throwIfNoEntry: false })?.mode ?? 0o644) & 0o777;
}
