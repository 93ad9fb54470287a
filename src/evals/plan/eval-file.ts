import * as z from 'zod/mini';
import { checkOptions } from '../../contracts/checks/check-options.ts';
import { MAX_TASK_CHARACTERS } from '../../jobs/request/job-schema.ts';
import { JsonRefused } from '../../protocol/channel/bounded-json.ts';
import { shownPathFault } from '../../protocol/files/shown-path.ts';
import { type AssertionSpec, assertionSchema } from '../assertions/assertion-schema.ts';
import { EVAL_ACTION, evalFault } from '../eval-fault.ts';
import { parseWrittenJson } from './written-json.ts';

const FILE_BYTES = 1024 * 1024;
const MAX_EVALS = 200;
const MAX_ASSERTIONS = 100;

/** The file `evals/evals.json`, by the convention of the Agent Skills guide on evaluating skills (https://agentskills.io). */
export interface EvalFile {
  skill_name?: string;
  evals: EvalSpec[];
}

/** One eval of the file. */
export interface EvalSpec {
  id: string | number;
  name?: string;
  prompt: string;
  expected_output?: string;
  /** Paths below the folder of the skill, also with their paths in the working folder. */
  files?: (string | { path: string; destination: string })[];
  expectations?: AssertionSpec[];
  assertions?: AssertionSpec[];
}

const relativePath = z.string().check(
  z.superRefine((path, context) => {
    const fault = shownPathFault(path);
    if (fault !== undefined) context.addIssue({ code: 'custom', message: `must be a relative path: ${fault}` });
  }),
);
const filled = z.string().check(z.refine((text) => text.trim() !== '', 'must be a text that is not empty'));
// An id becomes the name of a folder.
const id = z.custom<string | number>(
  (given) => /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/.test(typeof given === 'string' ? given : wholeNumber(given)),
  'must be a whole number, or 1 to 64 letters, digits, - and _',
);
const assertions = z.optional(z.array(assertionSchema).check(z.maxLength(MAX_ASSERTIONS)));

const fileSchema = z.strictObject({
  $schema: z.optional(z.string()),
  skill_name: z.optional(z.string()),
  evals: z
    .array(
      z.strictObject({
        id,
        name: z.optional(z.string()),
        prompt: filled.check(z.maxLength(MAX_TASK_CHARACTERS)),
        expected_output: z.optional(z.string()),
        files: z.optional(
          z.array(
            z.union(
              [relativePath, z.strictObject({ path: relativePath, destination: relativePath })],
              'must be a relative path or { path, destination }',
            ),
          ),
        ),
        expectations: assertions,
        assertions,
      }),
    )
    .check(z.minLength(1), z.maxLength(MAX_EVALS)),
});

/**
 * Reads the text of `evals/evals.json`. Unknown fields and kinds of assertions are refused: an ignored one would count as passed.
 *
 * @throws SkillcellError `eval.invalid`, naming the field
 */
export function parseEvalFile(bytes: Uint8Array): EvalFile {
  const given = withProse(parseJson(bytes));
  const file = checkOptions(fileSchema, given, {
    action: EVAL_ACTION,
    whole: 'the file',
    code: 'eval.invalid',
  }) as EvalFile;
  checkIds(file.evals);
  return file;
}

function parseJson(bytes: Uint8Array): unknown {
  try {
    return parseWrittenJson(bytes, FILE_BYTES);
  } catch (error) {
    if (!(error instanceof JsonRefused)) throw error;
    throw evalFault('the file', `must hold JSON (${error.message})`, error);
  }
}

/** Turns a plain text into a prose assertion. Other forms stay for the schema to refuse. */
function withProse(file: unknown): unknown {
  const { evals } = (isRecord(file) ? file : {}) as { evals?: unknown };
  if (!Array.isArray(evals)) return file;
  const spelledOut = (list: unknown): unknown =>
    Array.isArray(list)
      ? list.map((each: unknown) => (typeof each === 'string' ? { type: 'prose', text: each } : each))
      : list;
  const fields = ['expectations', 'assertions'];
  return {
    ...(file as object),
    evals: evals.map((spec: unknown) =>
      isRecord(spec)
        ? Object.fromEntries(
            Object.entries(spec).map(([key, value]) => [key, fields.includes(key) ? spelledOut(value) : value]),
          )
        : spec,
    ),
  };
}

function isRecord(given: unknown): given is Record<string, unknown> {
  return typeof given === 'object' && given !== null && !Array.isArray(given);
}

function wholeNumber(given: unknown): string {
  return Number.isSafeInteger(given) ? String(given) : '';
}

/** Ids become names of folders, and some disks ignore the case of names. */
function checkIds(evals: readonly EvalSpec[]): void {
  const ids = evals.map((spec) => String(spec.id).toLowerCase());
  const again = ids.findIndex((each, index) => ids.indexOf(each) !== index);
  if (again >= 0) throw evalFault(`evals.${again}.id`, `must be an id that no eval before it has, got ${ids[again]}`);
}
