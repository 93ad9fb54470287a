import { buffer } from 'node:stream/consumers';
import type { SkillTree } from '../contracts/skills/skill.ts';
import { compareCodePoints } from '../skills/text/text.ts';
import { ARCHIVE_LIMITS } from './checks/archive-limits.ts';
import { ArchiveRefusal } from './checks/archive-refused.ts';
import { ENTRY_CHECKS } from './checks/entry-checks.ts';
import { isLeftOut } from './checks/left-out.ts';

/** A fixed time, so that the same files always give the same archive: the earliest time of a ZIP archive. */
const NO_TIME = new Date(1980, 0, 1);

/** Options of {@link packSkill}. */
export interface PackOptions {
  /** Stores files without compression. The archive then has the same bytes everywhere; builds of deflate differ. */
  store: boolean;
  /** True for a path of a further file that does not belong to the skill, such as an archive of it. */
  isOwn?: (path: string) => boolean;
}

/** A packed skill. */
export interface PackedSkill {
  archive: Buffer;
  /** The packed files. */
  tree: SkillTree;
  /** Paths of the files that were left out. */
  leftOut: string[];
}

/**
 * Packs the files of a skill into a ZIP archive, in a folder with the name of the skill, in code-point order.
 *
 * @throws ArchiveRefusal if {@link openArchive} would refuse the archive
 */
export async function packSkill(
  name: string,
  tree: SkillTree,
  { store, isOwn = () => false }: PackOptions,
): Promise<PackedSkill> {
  const sorted = [...tree].toSorted(([a], [b]) => compareCodePoints(a, b));
  const isLeft = (path: string): boolean => isLeftOut(path) || isOwn(path);
  const files = sorted.filter(([path]) => !isLeft(path));
  const listed = files.map(([path, { bytes, executable }]) => ({
    name: `${name}/${path}`,
    kind: 'file' as const,
    bytes: bytes.length,
    executable,
  }));
  for (const [check, faultOf] of ENTRY_CHECKS) {
    const fault = faultOf(listed);
    if (fault !== undefined) throw new ArchiveRefusal(`zip.${check}`, fault);
  }
  const archive = await zipOf(name, files, store);
  const { packedBytes } = ARCHIVE_LIMITS;
  if (archive.length > packedBytes)
    throw new ArchiveRefusal('archive.size', `it would have more than ${packedBytes} bytes, ${archive.length}`);
  const leftOut = sorted.filter(([path]) => isLeft(path)).map(([path]) => path);
  return { archive, tree: new Map(files), leftOut };
}

async function zipOf(name: string, files: readonly [string, SkillFileBytes][], store: boolean): Promise<Buffer> {
  const { ZipFile } = await import('yazl');
  const archive = new ZipFile();
  for (const [path, { bytes, executable }] of files)
    archive.addBuffer(asBuffer(bytes), `${name}/${path}`, {
      mtime: NO_TIME,
      forceDosTimestamp: true,
      mode: executable ? 0o100_755 : 0o100_644,
      compress: !store,
    });
  archive.end();
  return await buffer(archive.outputStream);
}

type SkillFileBytes = SkillTree extends Map<string, infer File> ? File : never;

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
