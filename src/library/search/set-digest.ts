import { createHash } from 'node:crypto';
import type { Skill } from '../../contracts/skill.ts';
import { FIELD_WEIGHTS } from './searched-fields.ts';

/** Changes whenever an index of the same skills would hold something else. */
const FORMAT = 1;

const digests = new WeakMap<readonly Skill[], string>();

/** Names the index of a set of skills: equal skills, equal index. What a word is depends on the Unicode data of Node as well. The list does not change. */
export function setDigest(skills: readonly Skill[]): string {
  const known = digests.get(skills);
  if (known !== undefined) return known;
  const { icu = '', unicode = '' } = process.versions;
  const hash = createHash('sha256').update(JSON.stringify([FORMAT, icu, unicode, FIELD_WEIGHTS]));
  for (const { id, digest } of skills) hash.update(`\n${id}\0${digest}`);
  const set = hash.digest('hex');
  digests.set(skills, set);
  return set;
}
