import * as z from 'zod/mini';
import { checkOptions } from '../../contracts/checks/check-options.ts';
import { SkillcellError } from '../../contracts/errors/skillcell-error.ts';
import { JsonRefused } from '../../protocol/channel/bounded-json.ts';
import { printablePath } from '../../protocol/files/shown-path.ts';
import type { ConsumerOptions, SkillsSubsystem } from '../../skills/subsystem.ts';
import { parseWrittenJson } from '../plan/written-json.ts';

/** The most bytes of a file of queries. */
export const TRIGGER_FILE_BYTES: number = 1024 * 1024;

/** A query, and whether it should bring in the skill: an entry of the file that skill-creator calls a trigger eval set. */
export interface TriggerQuery {
  query: string;
  should_trigger: boolean;
}

/** A query as it was judged. */
export interface JudgedQuery {
  query: string;
  shouldTrigger: boolean;
  triggered: boolean;
  /** The triggers that it hit. */
  hits: string[];
  /** Why the skill stayed out although it matched. */
  leftOut?: string;
}

/** How well the triggers of a skill choose. */
export interface TriggerReport {
  truePositives: number;
  falsePositives: number;
  falseNegatives: number;
  trueNegatives: number;
  /** The part of the queries that brought the skill in and should; null if none brought it in. */
  precision: number | null;
  /** The part of the queries that should bring the skill in and did; null if none should. */
  recall: number | null;
  queries: JudgedQuery[];
}

const schema = z
  .array(
    z.strictObject({
      query: z.string().check(z.refine((text) => text.trim() !== '', 'must be a text that is not empty')),
      should_trigger: z.boolean(),
    }),
  )
  .check(z.minLength(1), z.maxLength(10_000));

/**
 * Reads a file of queries.
 *
 * @param file its name, for the message
 * @throws SkillcellError `eval.invalid`, naming the field
 */
export function parseTriggerQueries(bytes: Uint8Array, file: string): TriggerQuery[] {
  const name = printablePath(file);
  const action = `judge the triggers of the skill by ${name}`;
  const hint = `Correct the named field of ${name}; docs/evals.md has the form.`;
  let given: unknown;
  try {
    given = parseWrittenJson(bytes, TRIGGER_FILE_BYTES);
  } catch (cause) {
    if (!(cause instanceof JsonRefused)) throw cause;
    const message = `Cannot ${action}: the file must hold JSON (${cause.message}).`;
    throw new SkillcellError('eval.invalid', message, { cause, hint });
  }
  return checkOptions(schema, given, { action, whole: 'the file', code: 'eval.invalid', hint });
}

/**
 * Judges the triggers of a skill among all others, as a job with `match` would choose: no model is asked.
 *
 * @param id full id of the skill
 */
export function judgeTriggers(
  skills: SkillsSubsystem,
  id: string,
  queries: readonly TriggerQuery[],
  who: ConsumerOptions = {},
): TriggerReport {
  const judged = queries.map(({ query, should_trigger: shouldTrigger }): JudgedQuery => {
    const { matches, leftOut } = skills.match(query, who);
    const match = matches.find((each) => each.id === id);
    const reason = leftOut.find((each) => each.id === id)?.reason;
    return {
      query,
      shouldTrigger,
      triggered: match !== undefined,
      hits: match?.hits ?? [],
      ...(reason === undefined ? {} : { leftOut: reason }),
    };
  });
  const count = (should: boolean, did: boolean): number =>
    judged.filter(({ shouldTrigger, triggered }) => shouldTrigger === should && triggered === did).length;
  const [truePositives, falsePositives] = [count(true, true), count(false, true)];
  const [falseNegatives, trueNegatives] = [count(true, false), count(false, false)];
  return {
    truePositives,
    falsePositives,
    falseNegatives,
    trueNegatives,
    precision: part(truePositives, falsePositives),
    recall: part(truePositives, falseNegatives),
    queries: judged,
  };
}

function part(right: number, wrong: number): number | null {
  return right + wrong === 0 ? null : right / (right + wrong);
}
