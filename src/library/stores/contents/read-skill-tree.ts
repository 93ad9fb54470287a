import type { SkillTree } from '../../../contracts/skills/skill.ts';
import type { SkillHead, StoreItem } from '../../../contracts/skills/store.ts';
import { TOOLS_FILE } from '../../../skills/load/read-skill-parts.ts';
import { TEXT_FILE_LIMIT } from '../../../skills/text/decode-text.ts';
import { joined } from './file-tree.ts';
import type { FoundSkill } from './source-contents.ts';
import type { SourceFiles } from './source-files.ts';

/** Reads every file of a skill. @throws Error of the source */
export async function readSkillTree(files: SourceFiles, { folder, files: listed }: FoundSkill): Promise<SkillTree> {
  const contents = await Promise.all(listed.map(({ path, bytes }) => files.read(joined(folder, path), bytes)));
  return new Map(
    listed.map(({ path, executable }, index) => [path, { bytes: contents[index] ?? new Uint8Array(), executable }]),
  );
}

/** Reads the files that define a skill. @throws Error of the source */
export async function readSkillHead(files: SourceFiles, skill: FoundSkill, item: StoreItem): Promise<SkillHead> {
  const { folder, files: listed, skillFile } = skill;
  // The loader rejects a text over this limit, so it is not fetched.
  const read = async (name: string): Promise<Uint8Array> =>
    (listed.find(({ path }) => path === name)?.bytes ?? 0) > TEXT_FILE_LIMIT
      ? new Uint8Array()
      : await files.read(joined(folder, name), TEXT_FILE_LIMIT);
  const head: SkillHead = {
    item,
    names: listed.map(({ path, bytes }) => ({ path, bytes })),
    skillFile: { path: skillFile, bytes: await read(skillFile) },
  };
  const hasTools = listed.some(({ path }) => path === TOOLS_FILE);
  return hasTools ? { ...head, tools: await read(TOOLS_FILE) } : head;
}
