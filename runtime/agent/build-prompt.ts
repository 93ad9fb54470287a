import { REQUEST_TAG } from './read-request.ts';
import type { ToolDeclarations, ToolDescription } from '../../src/contracts/jobs/globals.ts';
import { fillGuideRules, type LanguageDefinition } from '../../src/contracts/jobs/language.ts';
import type { InstalledPackage } from '../../src/contracts/network/job-packages.ts';
import { installSentence, networkSentences, type ToldNetwork } from '../../src/contracts/network/told-network.ts';
import type { InstalledPackages } from '../languages/installed-packages.ts';
import { compareCodePoints, oneLine } from '../../src/skills/text/text.ts';

/** Parts of a prompt. */
export interface PromptInput {
  /** The `[ACTIVE SKILLS]` block; empty without skills. */
  instructionBlock: string;
  task: string;
  /** Text about skills that are not in the block: a count, or one line each; absent if there are none. */
  otherSkills?: string | undefined;
  language: LanguageDefinition;
  /** Installed packages of the language; absent if unknown. */
  installed?: InstalledPackages | undefined;
  /** Packages that were installed for this job. */
  packages?: readonly InstalledPackage[];
  /** Input files, by their path below the working folder. */
  files: readonly { path: string; bytes: number }[];
  /** Declared outputs, relative to the output folder. */
  expect: readonly string[];
  tools: readonly ToolDescription[];
  /** How often the model may ask for more instead of giving a program. */
  requests?: number | undefined;
  /** The tools as declarations in the language; they replace the rows of `tools`. */
  declarations?: ToolDeclarations | undefined;
  /** JSON schema of the value that the program must return. */
  value?: Record<string, unknown> | undefined;
  /** The network of the program; absent without one. */
  network?: ToldNetwork | undefined;
}

/** The two texts at the start of a conversation. */
export interface Prompt {
  system: string;
  user: string;
}

const REQUEST_RULE = `- Where you cannot write it well without knowing more, give instead one block marked ${REQUEST_TAG}: JSON with any of \`{"skills": ["public.example"], "files": [{"skill": "public.example", "path": "references/table.md"}], "tools": ["crm.find"]}\`. The answer brings instructions, texts and declarations; a few times only.`;

/** Input files that the prompt lists by name. */
const LISTED_FILES = 200;

/** About 600 tokens: some hundred packages. */
const LISTED_PACKAGE_CHARACTERS = 2_000;

/**
 * Builds the prompt of a codegen job. The same input gives the same bytes on every machine: the prompt holds no path, date, locale or isolation
 * level, and of the sandbox only facts that programs see. The `[ACTIVE SKILLS]` block is inserted byte for byte.
 *
 * @param input task, skills, files, outputs and tools
 * @returns system prompt and first message
 */
export function buildPrompt(input: PromptInput): Prompt {
  return { system: systemPrompt(input), user: userPrompt(input) };
}

function systemPrompt({
  instructionBlock,
  language,
  installed,
  packages,
  tools,
  requests = 0,
  network,
}: PromptInput): string {
  const { guide } = language;
  const own = ownPackages(packages);
  const tag = language.codeTags[0]?.[0] ?? language.name;
  const sections = [
    [
      `You are an expert programmer. You write one complete ${tag} program that does the user's task.`,
      'It is started once, as you wrote it, in an isolated sandbox: no terminal, no questions, no second step by hand.',
    ],
    [
      'Answer',
      `- Give exactly one fenced code block, marked ${tag}, with the whole program in it. No second program, no example of use, no commands to run.`,
      '- Never shorten: no "…", no "rest as before". A corrected program is given whole again.',
      '- If a line of the program begins with three backticks, fence the block with four.',
      '- A further file of the program goes into a block of its own, with its path behind the tag: `file=lib/name`.',
      ...(requests > 0 ? [REQUEST_RULE] : []),
    ],
    [
      'Program',
      ...languageRules(language, installed, own.length > 0).map((rule) => `- ${rule}`),
      ...own,
      '- Read input files by the relative paths that the user lists. Let the program find out what is in them (header, delimiter, units, missing values) instead of assuming it, and stream what is large: time and memory are limited.',
      `- Write every output below the folder that ${guide.outputFolder} names, under exactly the names asked for. The folder exists; make subfolders yourself. Files elsewhere are lost.`,
      ...networkRules(network).map((rule) => `- ${rule}`),
      '- Print a short summary of what was found and written to standard output.',
      `- ${guide.value}`,
      ...(tools.length > 0 && guide.tools !== undefined ? [`- ${guide.tools}`] : []),
      ...(instructionBlock === '' ? [] : [`- ${guide.skillFiles}`]),
      '- When something is wrong, fail with a clear error and a non-zero exit code. Never invent data, and never hide an error.',
      '- No randomness and no clock in results, unless the task asks for them.',
    ],
    instructionBlock === ''
      ? []
      : [
          'Skills',
          'The block below holds expert instructions for this task. Follow them where they apply; where they say otherwise, the task and the rules above go first.',
        ],
  ];
  const text = sections
    .filter((lines) => lines.length > 0)
    .map((lines) => `${lines.join('\n')}\n`)
    .join('\n');
  return instructionBlock === '' ? text : `${text}\n${instructionBlock}`;
}

function networkRules(network: ToldNetwork | undefined): string[] {
  if (network === undefined) return ['There is no network, nothing can be installed, and no other program answers.'];
  return [...networkSentences(network), installSentence(network)];
}

function languageRules(
  { guide, installed: asked }: LanguageDefinition,
  found: InstalledPackages | undefined,
  hasOwnPackages: boolean,
): string[] {
  const list = packageList(found?.packages ?? []);
  const rules = asked === undefined ? guide.rules : [...guide.rules, list === '' ? asked.none : asked.some];
  return fillGuideRules(rules, { version: found?.version ?? asked?.version, packages: list, hasOwnPackages });
}

/** Names that are no plain words go into no prompt. */
const PACKAGE_NAME = /^[@A-Za-z0-9][\w@/.+-]*$/;

/** Packages of the job beside those of the sandbox. */
function ownPackages(packages: readonly InstalledPackage[] = []): string[] {
  return (['npm', 'pypi'] as const).flatMap((registry) => {
    const rows = packages.filter((row) => row.registry === registry && PACKAGE_NAME.test(row.name));
    const list = packageList(rows.map(({ name, version }) => `${name} ${version.replace(/[^\w.+!-]/g, '')}`));
    const title = registry === 'npm' ? 'Packages of npm' : 'Packages of Python';
    return list === '' ? [] : [`- ${title} that are installed for this program besides: ${list}.`];
  });
}

/** Lists as many packages as the budget allows, and counts the rest. */
function packageList(packages: readonly string[]): string {
  let length = 0;
  const fitting = packages.filter((name) => (length += name.length + 2) <= LISTED_PACKAGE_CHARACTERS);
  const left = packages.length - fitting.length;
  return [...fitting, ...(left === 0 ? [] : [`… and ${left} more`])].join(', ');
}

function userPrompt({ task, otherSkills, language, files, expect, tools, declarations, value }: PromptInput): string {
  const sections = [task.trim()];
  sections.push(files.length === 0 ? 'There are no input files.' : `Input files:\n${fileLines(files)}`);
  if (expect.length > 0) {
    const names = expect.map((path) => `- ${JSON.stringify(path)}`).join('\n');
    sections.push(`Files that must be in the output folder when the program ends:\n${names}`);
  }
  if (value !== undefined) {
    sections.push(`The value that the program must hand back, as JSON schema:\n${JSON.stringify(value)}`);
  }
  if (tools.length > 0 && language.guide.tools !== undefined) {
    sections.push(declarations === undefined ? toolList(tools) : declaredTools(declarations));
  }
  if (otherSkills !== undefined) sections.push(`Skills that there are:\n${otherSkills.trim()}`);
  return `${sections.join('\n\n')}\n`;
}

function fileLines(files: PromptInput['files']): string {
  const sorted = [...files].sort((a, b) => compareCodePoints(a.path, b.path));
  const lines = sorted.slice(0, LISTED_FILES).map(({ path, bytes }) => `- ${JSON.stringify(path)} (${bytes} bytes)`);
  if (sorted.length > LISTED_FILES) lines.push(`- and ${sorted.length - LISTED_FILES} more`);
  return lines.join('\n');
}

function toolList(tools: readonly ToolDescription[]): string {
  return `Tools that the program may call:\n${tools.map(toolLines).join('\n')}`;
}

function declaredTools({ tag, text, complete }: ToolDeclarations): string {
  const form = complete ? 'as they are declared' : 'by their ids: they are too many to be declared here';
  // A tool's description may contain a fence.
  const longest = Math.max(2, ...Array.from(text.matchAll(/`+/g), ([run]) => run.length));
  const fence = '`'.repeat(longest + 1);
  return `Tools that the program may call, ${form}:\n${fence}${tag}\n${text}${fence}`;
}

function toolLines({ id, description, input }: ToolDescription): string {
  const line = `- ${id}: ${oneLine(description)}`;
  return input === undefined ? line : `${line}\n  arguments, as JSON schema: ${JSON.stringify(input)}`;
}
