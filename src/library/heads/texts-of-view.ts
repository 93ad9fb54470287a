import type { SkillView } from '../../contracts/skills/store.ts';
import { SkillcellError } from '../../contracts/errors/skillcell-error.ts';
import { readManifest } from '../../skills/load/read-manifest.ts';
import type { HeadTexts } from './head-record.ts';

/** The texts of a complete skill. @throws SkillcellError `store.unavailable` */
export function textsOfView({ folder, digest }: SkillView): HeadTexts {
  const read = readManifest(folder);
  if (read.files !== undefined) return read.texts;
  throw new SkillcellError('store.unavailable', `Cannot read the skill: its copy in the cache is gone, got ${digest}.`);
}
