import * as z from 'zod/mini';
import { checkOptions } from '../../../contracts/checks/check-options.ts';
import { quotedText } from '../../../contracts/text/quoted-text.ts';
import { relativePathFault } from '../../../contracts/text/relative-path.ts';
import type { SkillFile } from '../../../contracts/skills/skill.ts';
import { SkillcellError } from '../../../contracts/errors/skillcell-error.ts';
import type { Origin } from '../../../contracts/skills/store.ts';
import { skillDigest } from '../../../skills/text/digest.ts';
import { isSlug } from '../../../skills/text/slug.ts';
import { compareCodePoints } from '../../../skills/text/text.ts';
import { nestedPlace } from './nested-place.ts';
import { parseLockJson } from './parse-lock-json.ts';
import { placeFault } from './place-fault.ts';

/** The default name of the lock file. */
export const LOCK_FILE = 'skillcell.lock.json';

const SCHEMA = 'skillcell/lock@1';
/** Limit of a lock file, in bytes. */
export const LOCK_BYTES: number = 64 * 1024 * 1024;
const LOCK_CAPS = { maxBytes: LOCK_BYTES, maxValues: 4_000_000 };

/** The origin of a locked skill: a source of skills, or the package itself. */
export interface LockedOrigin extends Omit<Origin, 'type'> {
  type: Exclude<Origin['type'], 'registry'> | 'builtin';
}

/** An approval of certain bytes. */
export interface Approval {
  by: string;
  /** Digest of the reviewed skill; the approval does not cover other bytes. */
  digest: string;
}

/** One locked skill. */
export interface LockedSkill {
  /** Full id. */
  id: string;
  version: string | null;
  /** Path of its folder, relative to the folder of the lock file; null for a built-in skill. */
  place: string | null;
  origin: LockedOrigin;
  digest: string;
  /** Sorted by path in code-point order. */
  files: readonly SkillFile[];
  approval: Approval | null;
}

/** Content of a lock file. */
interface LockContent {
  schema: typeof SCHEMA;
  skills: Record<string, Omit<LockedSkill, 'id'>>;
}

/** Locked skills by their ids. */
export type SkillLock = ReadonlyMap<string, LockedSkill>;

const DIGEST = /^sha256:[0-9a-f]{64}$/;
const digest = z.string().check(z.regex(DIGEST));
const text = z.string().check(z.minLength(1), z.maxLength(4_096));
const listedFile = z.strictObject({
  path: z.string().check(z.refine((path) => relativePathFault(path) === undefined, 'must be a path below the skill')),
  digest,
  bytes: z.number().check(z.int(), z.nonnegative()),
  executable: z.boolean(),
});
/** A single check for a whole row, without details about the fault: a lock file has thousands of rows. */
const quickFile = z.custom<SkillFile>(isFile);

function lockOf(file: z.ZodMiniType<SkillFile>): z.ZodMiniType<LockContent> {
  const skill = z.strictObject({
    version: z.nullable(z.string()),
    place: z.nullable(
      z
        .string()
        .check(z.refine((path) => placeFault(path) === undefined, 'must be a folder below that of the lock file')),
    ),
    origin: z.strictObject({
      type: z.enum(['directory', 'archive', 'git', 's3', 'web', 'mcp', 'builtin']),
      source: text,
      folder: text,
      commit: z.optional(z.string().check(z.regex(/^(?:[0-9a-f]{40}|[0-9a-f]{64})$/))),
      ref: z.optional(text),
      plugin: z.optional(text),
    }),
    digest,
    files: z.array(file),
    approval: z.nullable(z.strictObject({ by: text, digest })),
  });
  const schema = z.strictObject({ schema: z.literal(SCHEMA), skills: z.record(z.string(), skill) });
  return schema as unknown as z.ZodMiniType<LockContent>;
}

/** Schema of a lock file; `parseLock` checks the remaining rules. */
export const lockSchema: z.ZodMiniType<LockContent> = lockOf(listedFile);
const quickLock = lockOf(quickFile);

function isFile(value: unknown): boolean {
  if (typeof value !== 'object' || value === null || Object.keys(value).length !== 4) return false;
  const { path, digest: of, bytes, executable } = value as Partial<Record<keyof SkillFile, unknown>>;
  return (
    typeof path === 'string' &&
    relativePathFault(path) === undefined &&
    typeof of === 'string' &&
    DIGEST.test(of) &&
    Number.isSafeInteger(bytes) &&
    (bytes as number) >= 0 &&
    typeof executable === 'boolean'
  );
}

/**
 * Reads the text of a lock file.
 *
 * @param shown name of the file in messages
 * @throws SkillcellError `lock.invalid`
 */
export function parseLock(bytes: Uint8Array, shown: string): SkillLock {
  const action = `read ${quotedText(shown)}`;
  const value = parseLockJson(bytes, LOCK_CAPS, action);
  const newer = /^skillcell\/lock@(\d{1,9})$/.exec(String((value as { schema?: unknown } | null)?.schema ?? ''))?.[1];
  if (newer !== undefined && Number(newer) > 1)
    throw invalid(action, `it is of form ${newer}, and this version reads form 1`, newer, {
      hint: 'Use the version of skillcell that wrote it, or a later one.',
    });
  const quick = z.safeParse(quickLock, value);
  const { skills } = quick.success
    ? quick.data
    : checkOptions(lockSchema, value, { action, whole: 'the lock file', code: 'lock.invalid' });
  const places = new Set<string>();
  const entries = Object.entries(skills).map(([id, given]): [string, LockedSkill] => {
    const one: LockedSkill = { id, ...given };
    const fault = faultOf(one, places);
    if (fault !== undefined) throw invalid(action, fault, id);
    return [id, one];
  });
  const nested = nestedPlace(places);
  if (nested !== undefined) throw invalid(action, 'two skills have places within each other', nested);
  return new Map(entries.toSorted(([a], [b]) => compareCodePoints(a, b)));
}

function invalid(action: string, reason: string, got: string, options: { hint?: string } = {}): SkillcellError {
  return new SkillcellError('lock.invalid', `Cannot ${action}: ${reason}, got ${quotedText(got)}.`, options);
}

/** Checks that the schema cannot express. */
function faultOf({ id, place, origin, digest: of, files }: LockedSkill, places: Set<string>): string | undefined {
  const dot = id.indexOf('.');
  if (dot < 0 || !isSlug(id.slice(0, dot)) || !isSlug(id.slice(dot + 1))) return 'a key of `skills` must be a full id';
  if ((place === null) !== (origin.type === 'builtin'))
    return 'skills of the package have no place, and all others have one';
  if (place !== null && places.has(place)) return 'two skills have one place';
  if (place !== null) places.add(place);
  if (new Set(files.map(({ path }) => path)).size < files.length) return 'a file is listed twice';
  return skillDigest(files) === of ? undefined : 'the digest must be that of the files';
}

/** Writes a lock file: the same skills give the same bytes. */
export function writeLock(skills: SkillLock): string {
  const entries = [...skills.values()].map(({ id, files, ...rest }) => [
    id,
    { ...rest, files: files.toSorted((a, b) => compareCodePoints(a.path, b.path)) },
  ]);
  return `${lines(sorted({ schema: SCHEMA, skills: Object.fromEntries(entries) }), '')}\n`;
}

/** Puts each member and each file of a list on a line of its own, so that a change to one of them changes one line. */
function lines(value: unknown, indent: string): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const within = `${indent}  `;
  const isList = Array.isArray(value);
  const rows = isList
    ? value.map((item) => within + JSON.stringify(item))
    : Object.entries(value).map(([key, member]) => `${within}${JSON.stringify(key)}: ${lines(member, within)}`);
  const [open, close] = isList ? '[]' : '{}';
  return rows.length === 0 ? `${open}${close}` : `${open}\n${rows.join(',\n')}\n${indent}${close}`;
}

/** A copy with the keys of its objects in code-point order. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value).toSorted(([a], [b]) => compareCodePoints(a, b));
  return Object.fromEntries(members.map(([key, member]) => [key, sorted(member)]));
}
