import * as z from 'zod/mini';
import { explainIssue, NO_WORDS } from '../../contracts/checks/explain-issue.ts';
import { shownPathFault } from '../../protocol/files/shown-path.ts';
import { findFencedBlocks, withoutThinking } from '../../skills/text/words/markdown-fences.ts';
import { DECISION_TAG, MOST_CHOSEN } from './decision-prompt.ts';

/** The value of an answer, or its fault, worded for the model. */
export type Read<T> = { value: T } | { fault: string };

/** The action after the choice of skills. */
export type DecidedAction = { action: 'text'; text: string } | { action: 'codegen'; task: string; outputs: string[] };

const MOST_OUTPUTS = 64;
const TASK_CHARACTERS = 100_000;
/** As UTF-8, so many characters fit into the largest value of a job. */
const TEXT_CHARACTERS = 64_000;

const choice = z.object({
  skills: z
    .array(z.string().check(z.maxLength(200)), 'must be a list of short ids')
    .check(z.maxLength(MOST_CHOSEN, `may name ${MOST_CHOSEN} skills`)),
});

const someText = (characters: number): z.ZodMiniString =>
  z.string('must be a text').check(
    z.refine((text) => text.trim() !== '', 'must not be empty'),
    z.maxLength(characters, `may have ${characters} characters`),
  );
const output = z.string('must be a path').check(
  z.superRefine((path, context) => {
    const fault = shownPathFault(path);
    if (fault !== undefined) context.addIssue({ code: 'custom', message: `must be a relative path: ${fault}` });
  }),
);
const action = z.discriminatedUnion(
  'action',
  [
    z.object({ action: z.literal('text'), text: someText(TEXT_CHARACTERS) }),
    z.object({
      action: z.literal('codegen'),
      task: someText(TASK_CHARACTERS),
      outputs: z._default(
        z.array(output, 'must be a list of paths').check(z.maxLength(MOST_OUTPUTS, `may name ${MOST_OUTPUTS} files`)),
        [],
      ),
    }),
  ],
  'must be "text" or "codegen"',
);

/** Reads the references that an answer chooses. */
export function readChoice(answer: string, cutOff: boolean): Read<string[]> {
  const read = readBlock(answer, cutOff, choice);
  return 'fault' in read ? read : { value: read.value.skills };
}

/** The job's demands on a text. */
export interface TextRules {
  /** Whether the job requires files or a value, which need a program. */
  program: boolean;
  /** The most bytes of its value, as JSON. */
  valueBytes: number;
}

/** Reads the action of an answer. If the job needs a program, a text is a fault. */
export function readAction(answer: string, cutOff: boolean, { program, valueBytes }: TextRules): Read<DecidedAction> {
  const read = readBlock<DecidedAction>(answer, cutOff, action);
  if (!('value' in read) || read.value.action !== 'text') return read;
  if (program)
    return { fault: 'The task has to leave files or a value, which a text cannot: the action is "codegen".' };
  const size = Buffer.byteLength(JSON.stringify(read.value.text));
  return size > valueBytes
    ? { fault: `Its text is too long: ${size} bytes of JSON, and ${valueBytes} are taken.` }
    : read;
}

/**
 * Reads the one block of a decision. Two blocks are a fault: a quotation from a skill, or a draft, must not decide.
 */
function readBlock<T>(answer: string, cutOff: boolean, schema: z.ZodMiniType<T>): Read<T> {
  const blocks = findFencedBlocks(withoutThinking(answer)).filter(({ tag }) => tag === DECISION_TAG);
  const [block] = blocks;
  if (cutOff && block?.closed !== true)
    return { fault: 'It was cut off at its greatest length; it has to be shorter.' };
  if (block === undefined) return { fault: `It holds no fenced code block marked ${DECISION_TAG}.` };
  if (blocks.length > 1) return { fault: `It holds ${blocks.length} blocks marked ${DECISION_TAG}, and one is taken.` };
  let given: unknown;
  try {
    given = JSON.parse(block.code);
  } catch {
    return { fault: 'Its block is no JSON.' };
  }
  const parsed = z.safeParse(schema, given, { error: () => NO_WORDS });
  if (parsed.success) return { value: parsed.data };
  const { issues } = parsed.error;
  const { reason } = explainIssue(schema, given, issues, 'it');
  return { fault: issues[0]?.path.length === 0 ? `Its JSON is not of the form above: ${reason}.` : `${reason}.` };
}
