import { ARCHIVE_LIMITS } from '../../../archives/checks/archive-limits.ts';
import { archiveRefused } from '../../../archives/checks/archive-refused.ts';
import { onlySkill, openArchive } from '../../../archives/open-archive.ts';
import type { Diagnostic } from '../../../contracts/errors/diagnostic.ts';
import type { SkillTree } from '../../../contracts/skills/skill.ts';
import { SkillcellError } from '../../../contracts/errors/skillcell-error.ts';
import { quotedText } from '../../../contracts/text/quoted-text.ts';
import { badStatus } from '../../../outgoing/bad-status.ts';
import type { OutgoingRequest } from '../../../outgoing/checked-fetch.ts';
import { fetchBytes } from '../../../outgoing/fetch-bytes.ts';
import { SKILL_FILE } from '../../../skills/load/files/skill-file-name.ts';
import { TEXT_FILE_LIMIT } from '../../../skills/text/decode-text.ts';
import { digestOf } from '../../../skills/text/digest.ts';
import type { WebEntry } from './web-entry.ts';

/** Fetched files of a skill. */
export interface FetchedTree {
  tree: SkillTree;
  /** Diagnostics about files that an archive leaves out. */
  diagnostics: Diagnostic[];
}

/**
 * Fetches the files of a skill, and checks the bytes against the listed digest.
 *
 * @throws SkillcellError `store.changed` for bytes with another digest, `archive.refused`, `store.unavailable`, `source.refused`
 */
export async function fetchTree(entry: WebEntry, request: OutgoingRequest): Promise<FetchedTree> {
  const { name, type, url, digest } = entry;
  if (type === 'files') return { tree: await fetchFiles(entry, request), diagnostics: [] };
  const isArchive = type === 'archive';
  const maxBytes = isArchive ? ARCHIVE_LIMITS.packedBytes : TEXT_FILE_LIMIT;
  // Some servers label a .tar.gz as content-encoded; the digest is that of the archive as sent.
  const bytes = await fetchFile(url, { ...request, maxBytes, asItArrives: isArchive });
  if (digestOf(bytes) !== digest)
    throw new SkillcellError(
      'store.changed',
      `Cannot read the skill ${quotedText(name)}: its bytes have another digest than is listed.`,
    );
  if (!isArchive) return { tree: new Map([[SKILL_FILE, { bytes, executable: false }]]), diagnostics: [] };
  const { signal } = request;
  try {
    const opened = await openArchive(bytes, signal === undefined ? {} : { signal });
    return { tree: onlySkill(opened).tree, diagnostics: opened.diagnostics };
  } catch (error) {
    throw archiveRefused(error, name);
  }
}

async function fetchFiles({ url, paths = [] }: WebEntry, request: OutgoingRequest): Promise<SkillTree> {
  const tree: SkillTree = new Map();
  // Each file is limited to the bytes that are left, so that the rest is never negative.
  let left = ARCHIVE_LIMITS.unpackedBytes;
  for (const path of paths) {
    const target = new URL(path.split('/').map(encodeURIComponent).join('/'), url).href;
    const bytes = await fetchFile(target, { ...request, maxBytes: left });
    left -= bytes.length;
    tree.set(path, { bytes, executable: false });
  }
  return tree;
}

async function fetchFile(url: string, request: OutgoingRequest): Promise<Buffer> {
  const found = await fetchBytes(url, request);
  if (found.bytes === undefined) throw badStatus(found);
  return found.bytes;
}
