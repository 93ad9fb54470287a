import { quotedText } from '../../contracts/text/quoted-text.ts';
import type { InputFile } from '../../contracts/jobs/job.ts';
import { programFileName, type Language } from '../../contracts/jobs/language.ts';
import type { Skill, SkillTree } from '../../contracts/skills/skill.ts';
import { findLanguage } from '../../languages/languages.ts';
import { destinationFault } from '../../jobs/request/check-destinations.ts';
import type { Assertion } from '../assertions/assertion.ts';
import { compileAssertion, type CompileProgram } from '../assertions/compile-assertion.ts';
import { EVAL_FILE, evalFault } from '../eval-fault.ts';
import { type EvalSpec, parseEvalFile } from './eval-file.ts';

/** One eval, ready to be run. */
export interface PlannedEval {
  id: string;
  prompt: string;
  expectedOutput: string | undefined;
  /** Files for the working folder. */
  files: InputFile[];
  assertions: Assertion[];
}

/** The evals of a skill, ready to be run. */
export interface EvalPlan {
  evals: PlannedEval[];
  notes: string[];
}

/**
 * Reads the evals of a skill. Everything is checked before anything runs.
 *
 * @param tree the skill's files
 * @param language language of the programs
 * @throws SkillcellError `eval.invalid`, naming the field
 */
export async function readEvalPlan(
  skill: Skill,
  tree: SkillTree,
  language: Language,
  compileProgram: CompileProgram,
): Promise<EvalPlan> {
  const bytes = tree.get(EVAL_FILE)?.bytes;
  if (bytes === undefined) throw evalFault(`the skill ${skill.id}`, 'has no such file');
  const { skill_name: name, evals: specs } = parseEvalFile(bytes);
  const definition = findLanguage(language);
  // The job refuses an unknown language, before a model is asked.
  const program = definition === undefined ? undefined : programFileName(definition);
  const evals: PlannedEval[] = [];
  for (const [index, spec] of specs.entries()) {
    evals.push({
      id: String(spec.id),
      prompt: spec.prompt,
      expectedOutput: spec.expected_output,
      files: inputFiles(spec, `evals.${index}.files`, tree, program),
      assertions: await compileAll(spec, `evals.${index}`, compileProgram),
    });
  }
  const names = [skill.skillId, skill.id, skill.name, skill.fields.name];
  const isSame = name === undefined || names.includes(name);
  return {
    evals,
    notes: isSame ? [] : [`${EVAL_FILE} names the skill ${quotedText(name)}, but this is ${skill.id}.`],
  };
}

async function compileAll(spec: EvalSpec, field: string, compileProgram: CompileProgram): Promise<Assertion[]> {
  const made: Assertion[] = [];
  for (const list of ['expectations', 'assertions'] as const) {
    for (const [index, assertion] of (spec[list] ?? []).entries())
      made.push(await compileAssertion(assertion, `${field}.${list}.${index}`, compileProgram));
  }
  return made;
}

function inputFiles(
  { files = [] }: EvalSpec,
  field: string,
  tree: SkillTree,
  program: string | undefined,
): InputFile[] {
  const inputs = files.map((given, index) => {
    const { path, destination } = typeof given === 'string' ? { path: given, destination: placeOf(given) } : given;
    const file = tree.get(path);
    if (file === undefined)
      throw evalFault(
        `${field}.${index}`,
        `must be a file of the skill, by its path below the skill's folder, got ${quotedText(path)}`,
      );
    return { destination, ...file };
  });
  const fault = destinationFault(
    inputs.map(({ destination }) => destination),
    { program, fillsOutput: false },
  );
  if (fault !== undefined) throw evalFault(field, `cannot lie in one working folder: ${fault}`);
  return inputs;
}

/** A file below the folder of evals keeps the rest of its path in the working folder. */
function placeOf(path: string): string {
  return path.replace(/^evals\/(?:files\/)?/, '');
}
