import type { SandboxJob } from '../../contracts/jobs/globals.ts';
import type { Language } from '../../contracts/jobs/language.ts';
import { quotedText } from '../../contracts/text/quoted-text.ts';
import type { Skill, SkillTree } from '../../contracts/skills/skill.ts';
import { SkillcellError } from '../../contracts/errors/skillcell-error.ts';
import { scriptInterpreter } from '../../languages/script-interpreter.ts';
import { listNames } from '../../skills/text/list-names.ts';

const FOLDER = 'scripts/';
/** Maximum bytes of the first line of a script. */
const FIRST_LINE_BYTES = 4_096;
const NAMED_SCRIPTS = 20;

/** A script that a job may run. */
export interface FoundScript {
  language: Language;
  script: NonNullable<SandboxJob['script']>;
}

/**
 * Finds a script among the files of a skill, by its exact path, and its interpreter.
 *
 * @param tree the regular files of the skill, as they are sent
 * @throws SkillcellError `script.not-listed` or `script.interpreter-unknown`
 */
export function findScript({ id, fields }: Pick<Skill, 'id' | 'fields'>, tree: SkillTree, path: string): FoundScript {
  const listed = new Set((fields.scripts ?? []).map((name) => name.replace(/^(?:\.\/)+/, '')));
  const scripts = [...tree.keys()].filter((name) => name.startsWith(FOLDER) || listed.has(name));
  const file = scripts.includes(path) ? tree.get(path) : undefined;
  if (file === undefined) {
    const named = listNames(scripts, NAMED_SCRIPTS, quotedText);
    const has = scripts.length === 0 ? 'the skill has no scripts' : `the scripts of the skill are ${named}`;
    throw new SkillcellError('script.not-listed', `Cannot run a script of ${id}: ${has}, got ${quotedText(path)}.`);
  }
  const found = scriptInterpreter(path, Buffer.from(file.bytes.subarray(0, FIRST_LINE_BYTES)).toString('utf8'));
  if (found === undefined) {
    throw new SkillcellError(
      'script.interpreter-unknown',
      `Cannot run a script of ${id}: neither its first line nor its extension names an available interpreter, got ${quotedText(path)}.`,
    );
  }
  const { language, interpreter } = found;
  return { language, script: { skill: id, path, interpreter } };
}
