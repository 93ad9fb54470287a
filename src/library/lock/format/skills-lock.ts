import { createHash } from 'node:crypto';
import * as z from 'zod/mini';
import { checkOptions } from '../../../contracts/checks/check-options.ts';
import type { SkillTree } from '../../../contracts/skills/skill.ts';
import { parseLockJson } from './parse-lock-json.ts';
import { readLockBytes } from './read-lock-bytes.ts';

/** The project lock file of Vercel's `skills` command line. */
export const SKILLS_LOCK_FILE = 'skills-lock.json';

const CAPS = { maxBytes: 16 * 1024 * 1024 };

/** One skill of such a file. Unknown fields of later versions are ignored. */
export interface SkillsLockEntry {
  name: string;
  source: string;
  ref?: string | undefined;
  sourceType: string;
  computedHash: string;
}

const entry = z.object({
  source: z.string().check(z.minLength(1), z.maxLength(4_096)),
  ref: z.optional(z.string()),
  sourceType: z.string(),
  computedHash: z.string().check(z.regex(/^[0-9a-f]{64}$/)),
});
const schema = z.object({ version: z.literal(1), skills: z.record(z.string(), entry) });

/**
 * Reads `skills-lock.json`, form 1.
 *
 * @returns undefined where there is no such file
 * @throws SkillcellError `lock.invalid`
 */
export function readSkillsLock(path: string): SkillsLockEntry[] | undefined {
  const action = `read ${SKILLS_LOCK_FILE}`;
  const bytes = readLockBytes(path, CAPS.maxBytes);
  if (bytes === undefined) return undefined;
  const value = parseLockJson(bytes, CAPS, action);
  const { skills } = checkOptions(schema, value, { action, whole: 'the file', code: 'lock.invalid' });
  return Object.entries(skills).map(([name, rest]) => ({ name, ...rest }));
}

/** The name of the folder into which Vercel's tool installs a skill. */
export function installedName(name: string): string {
  const plain = name
    .toLowerCase()
    .replace(/[^a-z0-9._]+/g, '-')
    .replace(/^[.-]+/, '');
  let end = plain.length;
  while (end > 0 && '.-'.includes(plain.charAt(end - 1))) end -= 1;
  return plain.slice(0, Math.min(end, 255)) || 'unnamed-skill';
}

/** The hash of a skill in such a file: sha256 over each path with its bytes, without modes. */
export function computedHash(tree: SkillTree): string {
  // Vercel's tool sorts names by locale, not by code points.
  const names = new Intl.Collator('en');
  const hash = createHash('sha256');
  for (const [path, { bytes }] of [...tree].toSorted(([a], [b]) => names.compare(a, b)))
    hash.update(path).update(bytes);
  return hash.digest('hex');
}
