import type { SkillTree, SkillTrees } from '../../contracts/skills/skill.ts';
import type { ByteWriter } from '../../protocol/channel/channel.ts';
import { writeTar, type TarFile } from '../../protocol/files/tar.ts';

/** Total bytes of archives kept for later jobs. */
const KEPT_BYTES = 16 * 1024 * 1024;
/** Two blocks of zeros end an archive. */
const ARCHIVE_END = Buffer.alloc(1024);

interface KeptArchive {
  tree: SkillTree;
  bytes: Buffer;
}

/** Archives of the skills of earlier jobs, by full id; the oldest is evicted first. */
const kept = new Map<string, KeptArchive>();
let keptBytes = 0;

/** Sends skill trees as one tar stream of `<full id>/<path>`. A skill of an earlier job is not packed again. */
export async function sendSkills(trees: SkillTrees, writer: ByteWriter): Promise<void> {
  for (const [id, tree] of trees) {
    const known = kept.get(id);
    await writer.write(known !== undefined && isSame(known.tree, tree) ? known.bytes : await packSkill(id, tree));
  }
  await writer.write(ARCHIVE_END);
  writer.end();
}

async function packSkill(id: string, tree: SkillTree): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  await writeTar(filesOf(id, tree), { write: async (chunk) => void chunks.push(chunk), end: () => undefined });
  const archive = Buffer.concat(chunks);
  const bytes = archive.subarray(0, archive.length - ARCHIVE_END.length);
  keep(id, { tree: new Map(tree), bytes });
  return bytes;
}

function keep(id: string, archive: KeptArchive): void {
  forget(id);
  if (archive.bytes.length > KEPT_BYTES) return;
  kept.set(id, archive);
  keptBytes += archive.bytes.length;
  for (const oldest of kept.keys()) {
    if (keptBytes <= KEPT_BYTES) return;
    forget(oldest);
  }
}

function forget(id: string): void {
  keptBytes -= kept.get(id)?.bytes.length ?? 0;
  kept.delete(id);
}

/** Whether both trees share the same buffers. Equal bytes do not count: a skill that was read again is packed again. */
function isSame(one: SkillTree, other: SkillTree): boolean {
  if (one.size !== other.size) return false;
  for (const [path, { bytes, executable }] of one) {
    const file = other.get(path);
    if (file?.bytes !== bytes || file.executable !== executable) return false;
  }
  return true;
}

function* filesOf(id: string, tree: SkillTree): Generator<TarFile> {
  for (const [path, { bytes, executable }] of tree) yield { path: `${id}/${path}`, bytes, executable };
}
