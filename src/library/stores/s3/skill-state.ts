import { createHash } from 'node:crypto';
import type { Diagnostic } from '../../../contracts/errors/diagnostic.ts';
import { libraryDiagnostic } from '../../../contracts/errors/library-diagnostic.ts';
import { skillFileNames } from '../../../skills/load/files/skill-file-name.ts';
import { compareCodePoints } from '../../../skills/text/text.ts';
import {
  isReserved,
  PUBLICATION_BYTES,
  PUBLICATION_FILE,
  type Publication,
  readPublication,
  stagedPath,
} from './publication.ts';
import type { ListedObject } from './s3-access.ts';

/** A file of a skill, and the object that holds it now. */
export interface StateFile {
  path: string;
  key: string;
  etag: string;
  bytes: number;
  executable: boolean;
  /** Absent where its writer gave none. */
  digest?: string;
}

/** A skill in a bucket at one moment. */
export interface SkillState {
  /** Null where there is no skill. */
  revision: string | null;
  files: StateFile[];
  /** SKILL.md, or another spelling of it. */
  skillFile: StateFile | undefined;
  publication: { etag: string; value: Publication } | undefined;
  /** Objects at the places of files. */
  plain: ReadonlyMap<string, ListedObject>;
  /** Objects below the stage. */
  staged: readonly ListedObject[];
  diagnostics: Diagnostic[];
}

/** Input of {@link skillState}. */
export interface StateSource {
  /** Key of the folder, with a separator at its end. */
  folder: string;
  /** Objects by their paths below the folder. */
  objects: ReadonlyMap<string, ListedObject>;
  /** Bytes of an object; undefined where it has changed. */
  read(object: ListedObject): Promise<Uint8Array | undefined>;
  /** The present object of a key. */
  look(key: string): Promise<ListedObject | undefined>;
}

/**
 * Reads the state of a skill from a list. Without a publication, or after a write by another tool, the files are the objects at their places.
 *
 * @returns undefined where the skill was written during the listing: list again
 */
export async function skillState({ folder, objects, read, look }: StateSource): Promise<SkillState | undefined> {
  const plain = new Map([...objects].filter(([path]) => !isReserved(path)));
  const staged = [...objects]
    .filter(([path]) => isReserved(path) && path !== PUBLICATION_FILE)
    .map(([, object]) => object);
  const listed = objects.get(PUBLICATION_FILE);
  const diagnostics: Diagnostic[] = [];
  const stateOf = (files: StateFile[], publication: SkillState['publication'], write?: string): SkillState => {
    const sorted = files.toSorted((a, b) => compareCodePoints(a.path, b.path));
    const skillFile = skillFileIn(sorted);
    const revision = skillFile === undefined ? null : (write ?? revisionOf(sorted));
    return { revision, files: sorted, skillFile, publication, plain, staged, diagnostics };
  };

  if (listed === undefined) {
    // Staged files without a publication: it may have been published since, with half of its files at their places.
    if (staged.length > 0 && (await look(`${folder}${PUBLICATION_FILE}`)) !== undefined) return undefined;
    return stateOf(plainFiles(plain), undefined);
  }
  const bytes = listed.bytes > PUBLICATION_BYTES ? new Uint8Array() : await read(listed);
  if (bytes === undefined) return undefined;
  const value = readPublication(bytes);
  if (value === undefined) {
    const message = `${PUBLICATION_FILE} is not a publication of skillcell; the skill is read without it.`;
    diagnostics.push(libraryDiagnostic('s3.publication', message, { path: `${folder}${PUBLICATION_FILE}` }));
    return stateOf(plainFiles(plain), undefined);
  }
  const publication = { etag: listed.etag, value };
  if (value.state === 'staged') {
    const files = value.files.map((file) => ({ ...file, key: `${folder}${stagedPath(value.write, file.path)}` }));
    return stateOf(files, publication, value.write);
  }
  const known = new Map(value.files.map((file) => [file.path, file]));
  if (value.state === 'deleted') {
    const others = [...plain].filter(([path, object]) => known.get(path)?.etag !== object.etag);
    if (others.length === 0) return stateOf([], publication);
    if (await isMoved(folder, listed, look)) return undefined;
    return stateOf(plainFiles(new Map(others)), publication);
  }
  const isAsPublished =
    plain.size === known.size && [...plain].every(([path, object]) => known.get(path)?.etag === object.etag);
  if (!isAsPublished && (await isMoved(folder, listed, look))) return undefined;
  const files = [...plain].map(([path, { key, etag, bytes: size }]): StateFile => {
    const file = known.get(path);
    if (file?.etag !== etag) return { path, key, etag, bytes: size, executable: false };
    return { path, key, etag, bytes: size, executable: file.executable, digest: file.digest };
  });
  return stateOf(files, publication, isAsPublished ? value.write : undefined);
}

/** Whether a publication was written since the listing. */
async function isMoved(folder: string, listed: ListedObject, look: StateSource['look']): Promise<boolean> {
  return (await look(`${folder}${PUBLICATION_FILE}`))?.etag !== listed.etag;
}

function plainFiles(plain: ReadonlyMap<string, ListedObject>): StateFile[] {
  return [...plain].map(([path, { key, etag, bytes }]) => ({ path, key, etag, bytes, executable: false }));
}

function skillFileIn(files: readonly StateFile[]): StateFile | undefined {
  const [name] = skillFileNames(files.map(({ path }) => path));
  return files.find(({ path }) => path === name);
}

function revisionOf(files: readonly StateFile[]): string {
  const hash = createHash('sha256');
  for (const { path, etag, bytes, executable } of files)
    hash.update(`${path}\0${etag}\0${bytes}\0${executable ? 'x' : '-'}\n`);
  return hash.digest('hex');
}
