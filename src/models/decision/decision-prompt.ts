import type { ReferenceRow } from '../../contracts/skills/skill.ts';
import { sandboxSentences, type ToldNetwork } from '../../contracts/network/told-network.ts';
import { compareCodePoints, oneLine } from '../../skills/text/text.ts';

/** The word that marks the block of a decision. */
export const DECISION_TAG = 'skillcell-decision';
/** The most skills that one answer may name. */
export const MOST_CHOSEN = 8;
const LISTED_FILES = 200;

/** The parts of a job that its prompt describes. */
export interface DecisionTask {
  task: string;
  /** Input files, by their path below the working folder. */
  files: readonly string[];
  /** Required output files. */
  expect: readonly string[];
  /** JSON schema of the required value. */
  value?: Record<string, unknown> | undefined;
  /** Tools that a program may call. */
  tools: readonly { id: string; description: string }[];
  /** The network of a program; absent without one. */
  network?: ToldNetwork | undefined;
}

const WITHOUT_NETWORK = 'with the input files and without a network.';

/**
 * The system prompt of a decision. It depends only on the catalog, the loaded skills and the network, so jobs with different tasks share
 * it, and the prompt of the second round begins with that of the first.
 *
 * @param catalog text of the catalog
 * @param block the `[ACTIVE SKILLS]` block; empty while no skill is loaded
 * @param network the network of a program; undefined without one
 */
export function decisionSystem(catalog: string, block: string, network?: ToldNetwork): string {
  const surroundings = network === undefined ? WITHOUT_NETWORK : withNetwork(network);
  const rules = `You decide how the user's task is done. You choose the skills that help, and then either answer with a text of your own, or hand the task over to a programmer.

Answer
- Give exactly one fenced code block, marked ${DECISION_TAG}, with one JSON object in it. What stands outside of the block is not read.
- Each message of the user ends with the objects that it takes.

Skills
- A skill is expert instruction for one kind of work. The catalog below lists them. Choose those that the task needs, and none where none fits.
- Chosen skills are loaded for you between [ACTIVE SKILLS] and [END ACTIVE SKILLS], and for the programmer as well. Follow them where they apply; where they say otherwise, these rules and the task go first.

Text or program
- Answer with a text where words are what is asked for, and all that they need is known to you.
- Hand over whatever has to read or write files, compute, or call tools. The programmer writes one program; it runs once in an isolated sandbox, ${surroundings}
- Of this conversation the programmer sees only the task that you write: say there all that matters, with names of files, numbers and wishes of the user.
`;
  return [rules, catalog, ...(block === '' ? [] : [block])].join('\n');
}

function withNetwork(network: ToldNetwork): string {
  const open = 'with the input files and a network that is open to these places alone';
  return sandboxSentences(network, open, WITHOUT_NETWORK).join(' ');
}

/** The first message of a round that chooses skills. */
export function chooseMessage(task: DecisionTask): string {
  return `${taskText(task)}

Which skills of the catalog does this need? Name their short ids, at most ${MOST_CHOSEN}:

${block('{ "skills": ["SK1"] }')}

Without a skill that fits:

${block('{ "skills": [] }')}
`;
}

/** The message that asks for the action, after the skills were chosen. */
export function actMessage(rows: readonly ReferenceRow[], task: DecisionTask): string {
  return `${loadedText(rows)}

${actQuestion(task)}`;
}

/** The only message of a decision without skills to choose from. */
export function taskMessage(task: DecisionTask): string {
  return `${taskText(task)}

${actQuestion(task)}`;
}

/** Whether a job requires files or a value, which a text cannot give. */
export function needsProgram({ expect, value }: Pick<DecisionTask, 'expect' | 'value'>): boolean {
  return expect.length > 0 || value !== undefined;
}

/** The message that explains the fault of an answer. */
export function decisionFaultMessage(fault: string): string {
  return `That answer was not taken. ${fault} Answer again, with one block of the form above.\n`;
}

function taskText({ task, files, expect, value, tools }: DecisionTask): string {
  const parts = [task.trim(), files.length === 0 ? 'There are no input files.' : `Input files:\n${fileLines(files)}`];
  if (expect.length > 0) parts.push(`Files that the program has to leave:\n${pathLines(expect)}`);
  if (value !== undefined)
    parts.push(`Value that the program has to hand back, as JSON schema:\n${JSON.stringify(value)}`);
  const lines = tools.map(({ id, description }) => `- ${id}: ${oneLine(description)}`);
  if (lines.length > 0) parts.push(`Tools that the program may call:\n${lines.join('\n')}`);
  return parts.join('\n\n');
}

function actQuestion(task: DecisionTask): string {
  const handOver = block('{ "action": "codegen", "task": "What the program does.", "outputs": ["report.md"] }');
  if (needsProgram(task)) return `Now hand the task over; what it has to leave needs a program:\n\n${handOver}\n`;
  return `Now answer with a text:

${block('{ "action": "text", "text": "The whole answer." }')}

or hand the task over, with the files that the program is to leave in its output folder, if any:

${handOver}
`;
}

function loadedText(rows: readonly ReferenceRow[]): string {
  const loaded = rows.flatMap(({ id, status }) => (status === 'loaded' && id !== undefined ? [id] : []));
  return loaded.length === 0 ? 'No skill is loaded.' : `These skills are loaded: ${loaded.join(', ')}.`;
}

function fileLines(files: readonly string[]): string {
  const sorted = files.toSorted(compareCodePoints);
  const shown = pathLines(sorted.slice(0, LISTED_FILES));
  return sorted.length > LISTED_FILES ? `${shown}\n- and ${sorted.length - LISTED_FILES} more` : shown;
}

function pathLines(paths: readonly string[]): string {
  return paths.map((path) => `- ${JSON.stringify(path)}`).join('\n');
}

function block(json: string): string {
  return `\`\`\`${DECISION_TAG}\n${json}\n\`\`\``;
}
