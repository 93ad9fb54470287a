import type { LanguageDefinition } from '../../src/contracts/jobs/language.ts';
import { relativePathFault } from '../../src/contracts/text/relative-path.ts';
import { findFencedBlocks, type FencedBlock, withoutThinking } from '../../src/skills/text/words/markdown-fences.ts';
import { codeReader } from './code-reader.ts';

/** A further file of a program, with its path below the working folder. */
export interface ProgramFile {
  path: string;
  code: string;
}

/** The program in an answer, or the reason why it is missing. `closed` is false if a part of it lacks its closing fence. */
export type ExtractedCode = { code: string; files: ProgramFile[]; closed: boolean } | { fault: string };

const MAX_FILES = 32;
/** Finds the name of a further file in an info string: up to a blank, or in quotes. */
const FILE = /(?:^|\s)file=(?:"([^"]*)"|(\S+))/;

/**
 * Extracts the program from an answer. Exactly one fenced block is taken; blocks are never joined.
 *
 * 1. Blocks tagged with the language count; without one, blocks with its next best tags (JavaScript for TypeScript), then
 *    blocks without a tag.
 *    Blocks of other languages never count.
 * 2. Of several blocks, the longest (blanks not counted) is the program: the others are examples or fragments.
 *    Of equally long blocks the last is taken, since a correction comes last.
 * 3. A fence inside a string, a comment or a here-document of the program does not close its block: the next fence outside of them does.
 *    Without such a fence the answer is a fault: a truncated program could still run and seem to succeed.
 * 4. Blocks with `file=PATH` behind their tag are further files of the program, whatever their language.
 *
 * An answer without a block is a fault even if it looks like code: prose cannot be told from program for certain.
 *
 * @param answer text of the model
 * @param language the requested language
 * @param taken paths below the working folder that no further file may have
 * @returns the code with a final newline, or the fault in words for the model
 */
export function extractCode(
  answer: string,
  { name, codeTags }: LanguageDefinition,
  taken: readonly string[] = [],
): ExtractedCode {
  const wanted = codeTags[0]?.[0] ?? name;
  const text = withoutThinking(answer);
  const groups = [...codeTags, ['']];
  const asRead = findFencedBlocks(text).filter(isProgram);
  const tags = groups.find((group) => asRead.some(({ tag }) => group.includes(tag)));
  let cutIn: string | undefined;
  const all = findFencedBlocks(text, {
    readerOf: (tag) => (tags?.includes(tag) === true ? codeReader(name) : undefined),
    closedEarly: (within) => (cutIn = within),
  }).filter(({ code }) => code.trim() !== '');
  if (cutIn !== undefined) return { fault: closedEarly(cutIn) };
  const named = all.filter(({ info }) => FILE.test(info));
  const blocks = all.filter((block) => !named.includes(block));
  const files = named.map(({ info, code }) => ({ path: pathIn(info), code }));
  const cutFile = named.find((block) => tags?.includes(block.tag) !== true && holdsOpeningFence(block));
  if (cutFile !== undefined) return { fault: closedEarly(`a block within ${JSON.stringify(pathIn(cutFile.info))}`) };
  const fault = filesFault(files, taken);
  if (fault !== undefined) return { fault };
  const candidates = blocks.filter(({ tag }) => tags?.includes(tag) === true);
  if (candidates.length > 0) {
    const { code, closed } = longest(candidates);
    return { code, files, closed: closed && named.every((block) => block.closed) };
  }
  if (blocks.length === 0)
    return { fault: `The answer holds no fenced code block. Put the whole program into one, marked ${wanted}.` };
  const others = [...new Set(blocks.map(({ tag }) => JSON.stringify(tag.slice(0, 30))))].slice(0, 5).join(', ');
  return { fault: `The answer holds no code block marked ${wanted}, only ${others}. The program must be ${wanted}.` };
}

function isProgram({ code, info }: FencedBlock): boolean {
  return code.trim() !== '' && !FILE.test(info);
}

/** Whether a block contains an opening fence, as Markdown text does: the inner block's closing fence ended it too early. */
function holdsOpeningFence({ code, fence }: FencedBlock): boolean {
  const mark = fence.charAt(0);
  return code.split('\n').some((line) => {
    const text = line.trim();
    return text.startsWith(fence) && text.replaceAll(mark, '') !== '' && !text.slice(fence.length).includes('`');
  });
}

function closedEarly(within: string): string {
  return `The code block ends inside of ${within}: a line there begins with three backticks or tildes, and closed the block early, or the program is not whole. Give the whole program in a block whose fence is longer than any such line of it.`;
}

function pathIn(info: string): string {
  const [, quoted, plain] = FILE.exec(info) ?? [];
  return quoted ?? plain ?? '';
}

function filesFault(files: readonly ProgramFile[], taken: readonly string[]): string | undefined {
  if (files.length > MAX_FILES) return `The answer gives ${files.length} files; a program has at most ${MAX_FILES}.`;
  const used = [...taken];
  for (const { path } of files) {
    const fault = relativePathFault(path) ?? placeFault(path, used);
    if (fault !== undefined)
      return `The answer gives a file that cannot be made: ${fault}, got ${JSON.stringify(path.slice(0, 200))}.`;
    used.push(path);
  }
  return undefined;
}

function placeFault(path: string, used: readonly string[]): string | undefined {
  // A file there would pass for an output of the program.
  if (isSamePlace(path, 'out')) return 'only the program itself writes to the output folder';
  return used.some((other) => isSamePlace(path, other)) ? 'it is there already' : undefined;
}

/** Whether two paths cannot both be files. */
function isSamePlace(one: string, other: string): boolean {
  return one === other || one.startsWith(`${other}/`) || other.startsWith(`${one}/`);
}

function longest(blocks: FencedBlock[]): FencedBlock {
  const size = ({ code }: FencedBlock): number => code.replace(/\s+/g, '').length;
  return blocks.reduce((best, block) => (size(block) >= size(best) ? block : best));
}
