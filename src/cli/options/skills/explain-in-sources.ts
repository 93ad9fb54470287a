import { explainSkill, type SkillExplanation } from '../../../authoring/explain-skill.ts';
import type { Diagnostic } from '../../../contracts/errors/diagnostic.ts';
import type { Skill } from '../../../contracts/skills/skill.ts';
import { besideSkill } from '../../../library/snapshot/beside-skill.ts';
import { provenanceBy } from '../../../library/lock/provenance.ts';
import { readLock } from '../../../library/lock/format/read-lock.ts';
import { loadUnchecked, type SkillsSubsystem } from '../../../skills/load-subsystem.ts';
import type { ConsumerOptions } from '../../../skills/subsystem-contract.ts';
import type { CliIo } from '../../terminal/cli-io.ts';
import {
  admitOf,
  checkListed,
  readOptions,
  readsFolders,
  type SkillOptions,
  type SkillSources,
} from './load-skills.ts';
import { inPlace, openSources } from './load-sources.ts';

/** The reference to a skill, its consumer, and the lock file. */
export interface ExplainRequest {
  ref: string;
  who: ConsumerOptions;
  lockFile: string;
}

/** The explanation of a skill, and the skills around it. */
export interface ExplainedSkill {
  explanation: SkillExplanation;
  subsystem: SkillsSubsystem;
}

/**
 * Explains a skill of the sources that flags name, with the other skills of its id in all places.
 *
 * @throws SkillcellError as `loadSkills`; `lock.invalid`
 */
export async function explainInSources(
  sources: SkillSources,
  request: ExplainRequest,
  io: CliIo,
): Promise<ExplainedSkill> {
  const options = readOptions(sources, io);
  const explained = readsFolders(sources)
    ? await explainOfLibrary(options, sources, request, io)
    : explainOfRoots(options, request, await admitOf(sources));
  checkListed(options.descriptor, explained.subsystem, sources.descriptor);
  return explained;
}

async function explainOfLibrary(
  options: SkillOptions,
  { names, frozen }: SkillSources,
  { ref, who, lockFile }: ExplainRequest,
  io: CliIo,
): Promise<ExplainedSkill> {
  await using library = await openSources({ ...options, lockFile, frozen: frozen !== undefined }, names, io);
  return { explanation: await library.explain(ref, who), subsystem: await inPlace(library, [ref]) };
}

/** Roots keep one skill for each id; the `admit` check sees the others too. */
function explainOfRoots(
  options: SkillOptions,
  { ref, who, lockFile }: ExplainRequest,
  admit: Awaited<ReturnType<typeof admitOf>>,
): ExplainedSkill {
  const all: Skill[] = [];
  const refused = new Map<Skill, Diagnostic>();
  const subsystem = loadUnchecked({
    ...options,
    admit: (skill) => {
      all.push(skill);
      const refusal = admit?.(skill);
      if (refusal !== undefined) refused.set(skill, refusal);
      return refusal;
    },
  });
  const byLock = provenanceBy(readLock(lockFile));
  const explanation = explainSkill(subsystem, ref, who, (taken) => ({
    ...byLock(taken),
    others: besideSkill(taken, all, refused).map((other) => ({
      ...other,
      origin: { type: 'directory', source: other.skill.rootPath, folder: other.skill.dir },
    })),
  }));
  return { explanation, subsystem };
}
