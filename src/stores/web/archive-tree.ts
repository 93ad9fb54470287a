import { ArchiveRefusal } from '../../archives/archive-refused.ts';
import { readTar } from '../../archives/read-tar.ts';
import { readZip } from '../../archives/read-zip.ts';
import type { SkillTree } from '../../contracts/skill.ts';
import { SKILL_FILE } from '../../skills/load/skill-file-name.ts';

/** The files of the one skill of an archive. @throws ArchiveRefusal */
export async function archiveTree(bytes: Uint8Array, signal: AbortSignal | undefined): Promise<SkillTree> {
  const isGzip = bytes[0] === 0x1f && bytes[1] === 0x8b;
  const { tree } = isGzip ? await readTar(bytes, { signal }) : await readZip(bytes, { signal });
  if (tree.has(SKILL_FILE)) return tree;
  const folders = new Set([...tree.keys()].map((path) => path.slice(0, path.indexOf('/') + 1)));
  const [folder = ''] = folders;
  if (folders.size !== 1 || !tree.has(`${folder}${SKILL_FILE}`))
    throw new ArchiveRefusal('zip.format', 'it holds no SKILL.md');
  return new Map([...tree].map(([path, file]) => [path.slice(folder.length), file]));
}
