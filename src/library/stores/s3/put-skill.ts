import { setTimeout as pause } from 'node:timers/promises';
import { quotedText } from '../../../contracts/text/quoted-text.ts';
import type { SkillTree } from '../../../contracts/skills/skill.ts';
import { SkillcellError } from '../../../contracts/errors/skillcell-error.ts';
import { isSkillFileName } from '../../../skills/load/files/skill-file-name.ts';
import { SKILL_BYTES } from '../../../skills/load/read-manifest.ts';
import { digestOf } from '../../../skills/text/digest.ts';
import { faultyPaths } from '../../../skills/text/file-path.ts';
import { ROOT_DEPTH } from '../../../skills/load/find-skill-folders.ts';
import { checkedKey } from './key-fault.ts';
import {
  isReserved,
  newPublication,
  PUBLICATION_FILE,
  type Publication,
  type PublishedFile,
  stagedPath,
  stageOf,
  writePublication,
} from './publication.ts';
import type { S3Access } from './s3-access.ts';
import { unavailable } from './s3-failure.ts';
import type { SkillState } from './skill-state.ts';

/** The folder of a skill in a bucket, as a writer needs it. */
export interface SkillFolder {
  access: S3Access;
  /** With a separator at its end. */
  key: string;
  /** Below the prefix. */
  path: string;
  state(path: string, signal?: AbortSignal): Promise<SkillState>;
  /** Time that a publisher has to put files at their places before another writer does it; for tests. @default 30 s */
  takeOverMs?: number | undefined;
}

interface Write {
  ifRevision: string | null;
  signal?: AbortSignal | undefined;
}

/** Time in which a publisher puts files at their places. Other writers wait at least as long. */
const SETTLE_MS = 20_000;
/** Time that other writers wait for it, from their first look; longer than {@link SETTLE_MS}. */
const WAIT_MS = 30_000;
const LOOK_MS = 200;
/** Attempts to finish the write of another publisher before an error. */
const SETTLES = 3;
/** Staged files of a dead writer are removed after this time. */
const LEFT_OVER_MS = 24 * 60 * 60 * 1_000;

/**
 * Publishes a skill: see docs/decisions/2026-11-25-a-skill-in-a-bucket-is-published-by-one-object.md.
 *
 * @returns the revision
 */
export async function putSkill(folder: SkillFolder, tree: SkillTree, { ifRevision, signal }: Write): Promise<string> {
  checkTree(folder, tree);
  const before = await expectedState(folder, ifRevision, signal);
  const { access, key } = folder;
  // Before any staging: only a conditional write decides between two publications.
  await access.requireConditions(`${key}${PUBLICATION_FILE}`, signal);
  const publication = newPublication('staged', []);
  const stagedKey = (path: string): string => `${key}${stagedPath(publication.write, path)}`;
  const unstage = async (): Promise<void> => {
    await Promise.all([...tree.keys()].map((path) => access.remove(stagedKey(path))));
  };
  const writes = [...tree].map(async ([path, { bytes, executable }]): Promise<PublishedFile> => {
    const etag = await access.write(stagedKey(path), bytes, 'any', signal);
    return { path, digest: digestOf(bytes), bytes: bytes.length, executable, etag: etag ?? '' };
  });
  try {
    publication.files = await Promise.all(writes);
    await publish(folder, publication, before, signal);
  } catch (error) {
    // A write that is still in progress would come after its removal.
    await Promise.allSettled(writes);
    // A later write removes the rest; the first error is the one to report.
    await unstage().catch(() => undefined);
    throw error;
  }
  await settle(folder, publication, before, signal);
  return publication.write;
}

/** Unpublishes a skill, then removes its files. */
export async function deleteSkill(folder: SkillFolder, { ifRevision, signal }: Write): Promise<void> {
  const before = await expectedState(folder, ifRevision, signal);
  const files = [...before.plain].map(([path, { etag, bytes }]): PublishedFile => {
    return { path, etag, bytes, executable: false, digest: NO_DIGEST };
  });
  const publication = newPublication('deleted', files);
  await publish(folder, publication, before, signal);
  // Some services ignore conditions of removals; an object that stays is no longer a file of a skill.
  for (const { key } of [...before.plain.values(), ...before.staged]) await folder.access.remove(key, signal);
}

const NO_DIGEST = `sha256:${'0'.repeat(64)}`;

function checkTree({ path, key }: SkillFolder, tree: SkillTree): void {
  const refuse = (reason: string, got: string): never => {
    throw new SkillcellError('store.key-invalid', `Cannot write the skill: ${reason}, got ${quotedText(got)}.`);
  };
  if (path.split('/').length > ROOT_DEPTH) refuse(`its path may have at most ${ROOT_DEPTH} names`, path);
  if (path.split('/').some(isReserved)) refuse('the name is reserved for writes in progress', path);
  for (const each of tree.keys()) {
    checkedKey(each, 'write the skill');
    checkedKey(`${key}${each}`, 'write the skill');
    if (isReserved(each)) refuse('the name is reserved for writes in progress', each);
    if (each.normalize('NFC') !== each) refuse('a name is not in the Unicode form NFC', each);
  }
  const [faulty] = faultyPaths([...tree.keys()]);
  if (faulty !== undefined) refuse('a file has the name of a folder', faulty);
  const bytes = [...tree.values()].reduce((sum, file) => sum + file.bytes.length, 0);
  if (bytes > SKILL_BYTES)
    throw new SkillcellError(
      'skills.too-large',
      `Cannot write the skill: its files may have ${SKILL_BYTES} bytes together, got ${bytes}.`,
    );
  if (![...tree.keys()].some(isSkillFileName))
    throw new SkillcellError('skills.invalid', `Cannot write the skill ${quotedText(path)}: it has no SKILL.md.`);
}

/** The skill in the revision that the caller expects, with all files at their places. */
async function expectedState(
  folder: SkillFolder,
  ifRevision: string | null,
  signal?: AbortSignal,
): Promise<SkillState> {
  const deadline = performance.now() + (folder.takeOverMs ?? WAIT_MS);
  for (let settled = 0; settled < SETTLES;) {
    const state = await folder.state(folder.path, signal);
    if (state.revision !== ifRevision) throw conflict(folder, state.revision);
    if (ifRevision === null && isInUse(state)) throw conflict(folder, null);
    const { publication } = state;
    if (publication?.value.state !== 'staged') return state;
    if (performance.now() > deadline) {
      settled += 1;
      await settle(folder, publication.value, state, signal);
    } else await pause(LOOK_MS, undefined, { ...(signal === undefined ? {} : { signal }) });
  }
  throw unavailable('write a skill', folder.access.address, 'the last write cannot be finished');
}

/** Whether files without a skill are there: they would become part of the new one. */
function isInUse({ plain, publication }: SkillState): boolean {
  return plain.size > 0 && publication?.value.state !== 'deleted';
}

function conflict({ path }: SkillFolder, revision: string | null): SkillcellError {
  const present =
    revision === null
      ? 'there is no skill, but other files are there or being written'
      : `its present revision is ${revision}`;
  return new SkillcellError('store.conflict', `Cannot write the skill ${quotedText(path)}: ${present}.`);
}

/** Writes the publication in place of the expected one: of concurrent writers, one succeeds. */
async function publish(
  folder: SkillFolder,
  publication: Publication,
  before: SkillState,
  signal?: AbortSignal,
): Promise<void> {
  const key = `${folder.key}${PUBLICATION_FILE}`;
  const expected = { etag: before.publication?.etag ?? null };
  const etag = await folder.access.write(key, writePublication(publication), expected, signal);
  if (etag !== undefined) return;
  // The write may have succeeded all the same: services under load report failures of completed writes.
  const present = await folder.state(folder.path, signal);
  if (present.publication?.value.write !== publication.write) throw conflict(folder, present.revision);
}

/**
 * Puts the files of a publication at their places, for readers without knowledge of publications, and marks it as settled. If time runs out or the
 * service fails, the publication stays valid, and the next writer continues.
 */
async function settle(
  folder: SkillFolder,
  staged: Publication,
  before: SkillState,
  outer?: AbortSignal,
): Promise<void> {
  const { access, key } = folder;
  const time = AbortSignal.timeout(SETTLE_MS);
  const signal = outer === undefined ? time : AbortSignal.any([outer, time]);
  try {
    const state = await folder.state(folder.path, signal);
    if (state.publication?.value.write !== staged.write || state.publication.value.state !== 'staged') return;
    const paths = new Set(staged.files.map(({ path }) => path));
    for (const [path, object] of state.plain) if (!paths.has(path)) await access.remove(object.key, signal);
    const copy = async (file: PublishedFile): Promise<PublishedFile> => {
      return {
        ...file,
        etag: await access.copy(`${key}${stagedPath(staged.write, file.path)}`, `${key}${file.path}`, signal),
      };
    };
    const others = await Promise.all(staged.files.filter(({ path }) => !isSkillFileName(path)).map(copy));
    // SKILL.md comes last: other readers take a folder for a skill as soon as it has one.
    const last = await Promise.all(staged.files.filter(({ path }) => isSkillFileName(path)).map(copy));
    const settled: Publication = { ...staged, state: 'settled', files: [...others, ...last] };
    await access.write(
      `${key}${PUBLICATION_FILE}`,
      writePublication(settled),
      { etag: state.publication.etag },
      signal,
    );
    const old = Date.now() - LEFT_OVER_MS;
    const isOurs = (object: { key: string; changedAt: number }): boolean =>
      object.key.startsWith(`${key}${stageOf(staged.write)}`) || object.changedAt < old;
    for (const object of [...state.staged, ...before.staged])
      if (isOurs(object)) await access.remove(object.key, signal);
  } catch (error) {
    outer?.throwIfAborted();
    // The skill is published all the same, and readers use its stage.
    if (time.aborted || SkillcellError.isInstance(error)) return;
    throw error;
  }
}
