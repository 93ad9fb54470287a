import { join } from 'node:path';
import type { SkillHead, SkillView, StoreItem } from '../../../contracts/skills/store.ts';
import { SKILL_BYTES } from '../../../skills/load/read-manifest.ts';
import { readRegularFile } from '../../../skills/load/files/read-regular-file.ts';
import { TOOLS_FILE } from '../../../skills/load/read-skill-parts.ts';
import { skillFileNames } from '../../../skills/load/files/skill-file-name.ts';
import { TEXT_FILE_LIMIT } from '../../../skills/text/decode-text.ts';

/** The head of a skill whose files are all cached; undefined where none of them is its SKILL.md. */
export function headOfView(item: StoreItem, { files, folder }: SkillView): SkillHead | undefined {
  const names = files.map(({ path, bytes }) => ({ path, bytes }));
  const [skillFile] = skillFileNames(names.map(({ path }) => path));
  if (skillFile === undefined) return undefined;
  const textOf = (name: string): Uint8Array =>
    readRegularFile(join(folder, name), { keep: TEXT_FILE_LIMIT, limit: SKILL_BYTES }).content ?? Buffer.alloc(0);
  const head: SkillHead = { item, names, skillFile: { path: skillFile, bytes: textOf(skillFile) } };
  return names.some(({ path }) => path === TOOLS_FILE) ? { ...head, tools: textOf(TOOLS_FILE) } : head;
}
