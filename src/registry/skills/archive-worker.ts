/** A thread that reads archives: unpacking, hashing and scanning 10 MiB take seconds, and memory for all of its files. */
import { createHash } from 'node:crypto';
import { parentPort } from 'node:worker_threads';
import { archiveRefused } from '../../archives/checks/archive-refused.ts';
import { onlySkill, openArchive } from '../../archives/open-archive.ts';
import { readArchiveFile } from '../../archives/read-archive-file.ts';
import { skillName } from '../../archives/skill-name.ts';
import { SkillcellError } from '../../contracts/errors/skillcell-error.ts';
import { quotedText } from '../../contracts/text/quoted-text.ts';
import { openTreeCache } from '../../library/stores/cache/tree-cache.ts';
import { scanTree } from '../../scan/scan-tree.ts';
import type { ArchiveAnswer, ArchiveWork, CheckedSkill } from './archive-work.ts';
import { describeSkill } from './describe-skill.ts';

// A fault of ours rejects, which ends this thread with an error.
parentPort?.on('message', (work: ArchiveWork) => void answer(work).then((end) => parentPort?.postMessage(end, [])));

async function answer(work: ArchiveWork): Promise<ArchiveAnswer> {
  try {
    return { skill: await read(work) };
  } catch (error) {
    const known = archiveRefused(error, quotedText(work.file));
    if (!SkillcellError.isInstance(known)) throw known;
    return { error: known.toJSON() };
  }
}

async function read(work: ArchiveWork): Promise<CheckedSkill | undefined> {
  const { bytes } = 'path' in work ? await readArchiveFile(work.path) : work;
  const opened = await openArchive(bytes);
  const { folder, tree } = onlySkill(opened);
  if (work.type === 'keep') {
    const cache = openTreeCache(work.cacheFolder, { maxBytes: work.cacheBytes });
    cache.keep(tree);
    cache.close();
    return undefined;
  }
  const { name = skillName(folder, work.file), isPublic } = work;
  const skill = describeSkill(tree, { name, isPublic });
  const { findings, unscanned } = scanTree(tree);
  return {
    ...skill,
    diagnostics: [...opened.diagnostics, ...skill.diagnostics],
    findings,
    unscanned,
    fileSize: bytes.length,
    fileHash: createHash('sha256').update(bytes).digest('hex'),
  };
}
