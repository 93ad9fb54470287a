import type { SkillTree } from '../../contracts/skill.ts';
import type { SkillHead, StoreItem } from '../../contracts/store.ts';
import { TOOLS_FILE } from '../../skills/load/read-skill-parts.ts';
import { skillFileNames } from '../../skills/load/skill-file-name.ts';
import { compareCodePoints } from '../../skills/text/text.ts';

/** The head of a skill whose files are all there; undefined where none of them is its SKILL.md. */
export function headOfTree(item: StoreItem, tree: SkillTree): SkillHead | undefined {
  const [name] = skillFileNames([...tree.keys()].filter((path) => !path.includes('/')));
  const skillFile = name === undefined ? undefined : tree.get(name);
  if (name === undefined || skillFile === undefined) return undefined;
  const tools = tree.get(TOOLS_FILE)?.bytes;
  return {
    item,
    names: [...tree]
      .map(([path, { bytes }]) => ({ path, bytes: bytes.length }))
      .toSorted((a, b) => compareCodePoints(a.path, b.path)),
    skillFile: { path: name, bytes: skillFile.bytes },
    ...(tools === undefined ? {} : { tools }),
  };
}
