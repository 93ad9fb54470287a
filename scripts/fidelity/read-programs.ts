import { readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, dirname, extname, join, relative } from 'node:path';
import { languages } from '../../src/languages/languages.ts';
import type { Program } from './program.ts';
import { readNeeds } from './read-needs.ts';

const HEADING = /^## (.+)$/;
const FENCE = /^(`{3,}|~{3,})([\w.]+)(?: file=(\S+))?$/;

/** A program as it is written: its id, its ending, its name, its text and the files beside it. */
interface WrittenProgram {
  id: string;
  ending: string;
  name: string;
  code: string;
  files: Record<string, string>;
  /** The folder from which files beside the program are taken. */
  folder: string;
}

/**
 * Reads the programs of a folder, or of one file. Each file with the ending of a language is a program. In a Markdown file each `## `
 * heading has a program in the code block below it, and the block's tag is the program's ending; a block with `file=NAME` is a file beside
 * the program.
 *
 * @throws Error that names the unreadable program
 */
export function readPrograms(place: string): Program[] {
  const root = statSync(place).isDirectory() ? place : dirname(place);
  const paths = root === place ? filesBelow(root) : [place];
  const written = paths.flatMap((path) => readFile(root, path));
  const programs = written.map((each) => completed(each));
  // A file that another program needs beside it is not a program.
  const beside = new Set(programs.flatMap((program) => program.beside));
  return programs.filter(({ path }) => !beside.has(path)).map(({ program }) => program);
}

function filesBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .toSorted();
}

function readFile(root: string, path: string): WrittenProgram[] {
  const id = relative(root, path);
  if (extname(path) === '.md') return readTopic(id, readFileSync(path, 'utf8'), dirname(path));
  const ending = extname(path).slice(1);
  if (languageOf(ending) === undefined) return [];
  return [{ id, ending, name: basename(path), code: readFileSync(path, 'utf8'), files: {}, folder: dirname(path) }];
}

/** Reads a Markdown file with a program under each heading. */
function readTopic(id: string, text: string, folder: string): WrittenProgram[] {
  const programs: WrittenProgram[] = [];
  let heading: string | undefined;
  let block: { fence: string; tag: string; file: string | undefined; lines: string[] } | undefined;
  for (const line of text.split('\n')) {
    if (block === undefined) {
      heading = HEADING.exec(line)?.[1] ?? heading;
      const [, fence, tag, file] = FENCE.exec(line) ?? [];
      if (fence !== undefined && tag !== undefined) block = { fence, tag, file, lines: [] };
      continue;
    }
    if (line !== block.fence) {
      block.lines.push(line);
      continue;
    }
    const { tag, file } = block;
    const code = `${block.lines.join('\n')}\n`;
    block = undefined;
    const last = programs.at(-1);
    if (file !== undefined) {
      if (last === undefined)
        throw new Error(`Cannot read ${id}: a file stands before the first program, got ${file}.`);
      last.files[file] = code;
    } else if (heading !== undefined) {
      programs.push({ id: `${id}#${heading}`, ending: tag, name: `main.${tag}`, code, files: {}, folder });
      heading = undefined;
    } else throw new Error(`Cannot read ${id}: a program has no heading of its own, got ${code.slice(0, 80)}`);
  }
  if (block !== undefined) throw new Error(`Cannot read ${id}: a block is not closed, got ${block.fence}${block.tag}.`);
  return programs;
}

function completed({ id, ending, name, code, files, folder }: WrittenProgram): {
  program: Program;
  path: string;
  beside: string[];
} {
  const language = languageOf(ending);
  if (language === undefined) throw new Error(`Cannot read ${id}: no language has the ending .${ending}.`);
  try {
    const needs = readNeeds(code);
    const named = Array.isArray(needs.files) ? needs.files : [];
    const given = Array.isArray(needs.files) ? {} : needs.files;
    const read = Object.fromEntries(named.map((file) => [file, readFileSync(join(folder, file), 'utf8')]));
    const program: Program = {
      id,
      language,
      fileName: needs.name ?? name,
      code: withBytes(code, needs.bytes),
      args: needs.args ?? [],
      env: needs.env ?? {},
      stdin: needs.stdin ?? '',
      files: { ...files, ...given, ...read },
      wholeStderr: needs.stderr === 'whole',
      onPurpose: needs['on-purpose'],
    };
    return { program, path: join(folder, name), beside: named.map((file) => join(folder, file)) };
  } catch (cause) {
    throw new Error(`Cannot read ${id}: ${(cause as Error).message}`, { cause });
  }
}

function withBytes(code: string, bytes: 'crlf' | 'byte-order-mark' | undefined): string {
  if (bytes === 'crlf') return code.replaceAll('\n', '\r\n');
  return bytes === undefined ? code : `\uFEFF${code}`;
}

function languageOf(ending: string): string | undefined {
  return languages().find(({ endings }) => Object.hasOwn(endings, `.${ending}`))?.name;
}
