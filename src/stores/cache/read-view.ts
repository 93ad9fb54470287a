import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { SkillTree } from '../../contracts/skill.ts';
import type { SkillView } from '../../contracts/store.ts';

/** The files of a kept skill. @throws the system's error, for one that is no longer kept */
export function readView({ files, folder }: SkillView): SkillTree {
  return new Map(files.map(({ path, executable }) => [path, { bytes: readFileSync(join(folder, path)), executable }]));
}
