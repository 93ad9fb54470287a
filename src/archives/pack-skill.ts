import { buffer } from 'node:stream/consumers';
import type { SkillTree } from '../contracts/skill.ts';
import { compareCodePoints } from '../skills/text/text.ts';
import { ArchiveRefusal } from './archive-refused.ts';
import { ENTRY_CHECKS } from './entry-checks.ts';
import { isLeftOut } from './left-out.ts';

/** The same bytes give the same archive, whenever it is packed: the first moment that a ZIP archive can name. */
const NO_TIME = new Date(1980, 0, 1);

/** How a skill is packed. */
export interface PackOptions {
  /** Stores files as they are: then the archive has the same bytes everywhere, which deflate has not, whose builds differ. */
  store: boolean;
}

/**
 * Packs the files of a skill into a ZIP archive, in a folder of its name, in code-point order. What systems and tools leave beside the files
 * of people stays out.
 *
 * @throws ArchiveRefusal where no reader of ours would take the archive
 */
export async function packSkill(name: string, tree: SkillTree, { store }: PackOptions): Promise<Buffer> {
  const { ZipFile } = await import('yazl');
  const files = [...tree].filter(([path]) => !isLeftOut(path)).toSorted(([a], [b]) => compareCodePoints(a, b));
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
  const archive = new ZipFile();
  for (const [path, { bytes, executable }] of files)
    archive.addBuffer(Buffer.from(bytes), `${name}/${path}`, {
      mtime: NO_TIME,
      forceDosTimestamp: true,
      mode: executable ? 0o100_755 : 0o100_644,
      compress: !store,
    });
  archive.end();
  return await buffer(archive.outputStream);
}
