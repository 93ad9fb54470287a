import { DEFAULT_CONSUMER } from '../../contracts/jobs/job.ts';
import type { Skill } from '../../contracts/skills/skill.ts';
import { SkillcellError } from '../../contracts/errors/skillcell-error.ts';
import { requireLoadable } from '../../jobs/request/requested-skills.ts';
import { SkillsSubsystem } from '../../skills/load-subsystem.ts';
import { skillDigest } from '../../skills/text/digest.ts';

/** The folder of the evals and of the expected results. */
const EVAL_FOLDER = 'evals/';

/** The consumer of the skill. */
export interface EvalConsumer {
  consumer?: string | undefined;
  includeInternal?: boolean | undefined;
}

/** A skill, and the library for the jobs of its eval. */
export interface EvalSkills {
  skill: Skill;
  /** Holds the skill and its imports, without their evals. */
  library: SkillsSubsystem;
  /** The consumer that may load the skill. */
  consumer: string;
  /** The consumer that may load no skill. */
  without: string;
  /** The block that stands in each prompt of a run with the skill, and in no other. */
  block: { text: string; sha256: string };
}

/**
 * Finds a skill, and limits the library to the skills that the jobs of its eval may know. A model can ask for any skill that its consumer may load, so
 * a run without the skill needs a consumer that may load none. A program can read all files of its skills, so none of them holds the expected results.
 *
 * @throws SkillcellError `skills.reference-unknown` or `skills.reference-denied`; `eval.invalid` for a skill without instructions
 */
export function evalSkills(all: SkillsSubsystem, ref: string, options: EvalConsumer): EvalSkills {
  const { consumer = DEFAULT_CONSUMER, includeInternal } = options;
  const who = { consumer, includeInternal };
  const { skills, rows } = all.importSkillset([ref], who);
  requireLoadable(rows, consumer, []);
  const skill = skills.find(({ id }) => id === rows[0]?.id);
  if (skill === undefined)
    throw new SkillcellError('internal.fault', `Cannot evaluate the skill ${JSON.stringify(ref)}: it is gone.`);
  const without = `${consumer.slice(0, 100)}:without`;
  const library = new SkillsSubsystem({
    skills: all.skills.filter((each) => skills.includes(each)).map(withoutEvals),
    diagnostics: [],
    agentsConfig: { ...all.agentsConfig, [without]: { disabled: ['*'] } },
    overrides: [...all.overrides],
    customNamespaces: [...all.customNamespaces],
    customSkillsRoot: all.customSkillsRoot,
    bundleRoot: all.bundleRoot,
    trees: new Map(skills.map(({ id }) => [id, shownTree(all.skillTree(id))])),
  });
  const block = library.buildSkillsInstructionBlock({ ...who, refs: [skill.id] });
  if (!library.loadSkill(skill.id, who).text) {
    const message = `Cannot evaluate the skill ${skill.id}: it has no instructions that a prompt could hold.`;
    throw new SkillcellError('eval.invalid', message, {
      hint: 'Write instructions below the frontmatter of its SKILL.md.',
    });
  }
  return { skill, library, consumer, without, block };
}

function withoutEvals(skill: Skill): Skill {
  const files = skill.files.filter(({ path }) => !path.startsWith(EVAL_FOLDER));
  return files.length === skill.files.length ? skill : { ...skill, files, digest: skillDigest(files) };
}

function shownTree<File>(tree: Map<string, File>): Map<string, File> {
  return new Map([...tree].filter(([path]) => !path.startsWith(EVAL_FOLDER)));
}
