import type matter from 'gray-matter';
import { createRequire } from 'node:module';
import type { ParsedNode, YAMLMap } from 'yaml';
import { type Diagnostic, diagnostic, type OwnCode } from '../../contracts/errors/diagnostic.ts';
import { movedDown, placeAt, type TextPlace } from '../text/text-place.ts';
import { isMap } from './yaml/lazy-yaml.ts';
import { commentDiagnostics } from './yaml/plain-comments.ts';
import { type PlaceOf, readYaml, type YamlReading } from './yaml/read-yaml.ts';
import { repairBlock } from './yaml/repair-block.ts';

// The runtime bundle replaces the next line: see docs/decisions/2026-11-22-lazy-modules.md.
const require = createRequire(import.meta.url);
let splitter: typeof matter | undefined;

/** The most bytes that may stand between the fences. */
export const FRONT_MATTER_LIMIT: number = 16 * 1024;

const FENCE = /^---[ \t]*$/;
/** A pattern of gray-matter takes quadratic time for long runs of blanks, so they are shortened before the call. */
const LONG_BLANKS = /\s{200,}/g;

/** How {@link readFrontMatter} reads. */
export interface FrontMatterOptions {
  /** Whether invalid YAML values that other readers accept are repaired. */
  recover: boolean;
  /** Whether every comment behind a value without quotes is reported; by default only comments that look like a text. */
  everyComment?: boolean | undefined;
  /** Path that diagnostics name. */
  path?: string;
}

/** A file split at its fences, its block parsed. */
export interface FrontMatter {
  ok: true;
  /** The mapping between the fences. */
  root: YAMLMap;
  /** The text between the fences. */
  block: string;
  /** Everything after the closing fence, not trimmed. */
  body: string;
  /** Line of the file on which the body begins. */
  bodyLine: number;
  /** Place of a node of the block in the file. */
  placeOf: PlaceOf;
  /** `frontmatter.recovered`, if the block was repaired, and `frontmatter.comment`. */
  diagnostics: Diagnostic[];
}

/** Why a file has no usable frontmatter. */
export interface FrontMatterFault {
  ok: false;
  diagnostics: Diagnostic[];
}

/**
 * Reads the frontmatter of a SKILL.md. Only a bare `---` opens it, so a language on the fence cannot choose another parser.
 *
 * @param text the file, decoded, with LF as line end
 * @param options how to read
 * @returns the parsed block and the body, or the fault
 */
export function readFrontMatter(text: string, options: FrontMatterOptions): FrontMatter | FrontMatterFault {
  const inFile = options.path === undefined ? {} : { path: options.path };
  const fault = (code: OwnCode, message: string, place: TextPlace): FrontMatterFault => ({
    ok: false,
    diagnostics: [diagnostic(code, message, { ...inFile, ...place })],
  });

  const split = splitAtFences(text);
  if (!split.ok) return fault(split.code, split.message, { line: 1, column: split.column });
  const { block, body } = split;
  const bytes = Buffer.byteLength(block);
  if (bytes > FRONT_MATTER_LIMIT) {
    const message = `The frontmatter may have ${FRONT_MATTER_LIMIT} bytes, it has ${bytes}.`;
    return fault('frontmatter.too-large', message, { line: 1, column: 1 });
  }
  const { reading, read, recovered } = readBlock(block, options.recover);
  if (!reading.ok) {
    return fault(
      'frontmatter.yaml',
      `The frontmatter is not valid YAML: ${reading.message}.`,
      movedDown(reading.place, 1),
    );
  }
  if (!isMapping(reading.root)) {
    return fault('frontmatter.not-a-mapping', 'The frontmatter must hold keys and values.', { line: 2, column: 1 });
  }
  const comments = commentDiagnostics(reading.root, read, {
    code: 'frontmatter.comment',
    path: options.path,
    every: options.everyComment ?? false,
    linesAbove: 1,
    wasPlain: (at) => !QUOTES.includes(sameCharacter(block, read, at)),
  });
  const message =
    'The YAML was repaired: a value without quotes holds a colon and a blank, or a value continues without indentation.';
  return {
    ok: true,
    root: reading.root,
    block,
    body,
    bodyLine: text.slice(0, text.length - body.length).split('\n').length,
    placeOf: (node) => movedDown(reading.placeOf(node), 1),
    diagnostics: [
      ...(recovered === undefined
        ? []
        : [diagnostic('frontmatter.recovered', message, { ...inFile, ...movedDown(recovered, 1) })]),
      ...comments,
    ],
  };
}

const QUOTES = `"'`;

/** The character of the original block at an offset of its repaired form. A repair keeps the lines, and the text before a value. */
function sameCharacter(block: string, repaired: string, at: number): string {
  if (block === repaired) return block.charAt(at);
  const { line, column } = placeAt(repaired, at);
  return [...(block.split('\n')[line - 1] ?? '')][column - 1] ?? '';
}

/** Reads the block, and repairs it if it is invalid and `recover` is set. `read` is the text that was read, `recovered` the place of the fault. */
function readBlock(block: string, recover: boolean): { reading: YamlReading; read: string; recovered?: TextPlace } {
  const reading = readYaml(block);
  const repaired = reading.ok || !recover ? block : repairBlock(block);
  if (reading.ok || repaired === block) return { reading, read: block };
  const second = readYaml(repaired);
  return second.ok
    ? { reading: second, read: repaired, recovered: reading.place }
    : { reading: second, read: repaired };
}

type Split = { ok: true; block: string; body: string } | { ok: false; code: OwnCode; message: string; column: number };

/** Splits a file at its fences. Our search decides where they are; gray-matter splits, and must give the same result. */
function splitAtFences(text: string): Split {
  const firstEnd = text.indexOf('\n');
  const first = firstEnd < 0 ? text : text.slice(0, firstEnd);
  if (!first.startsWith('---') || first.startsWith('----'))
    return { ok: false, code: 'frontmatter.missing', message: 'The first line must be ---.', column: 1 };
  if (!FENCE.test(first))
    return { ok: false, code: 'frontmatter.language', message: 'Nothing may follow the opening ---.', column: 4 };
  const close = findClosingFence(text, firstEnd);
  if (close === undefined)
    return { ok: false, code: 'frontmatter.unclosed', message: 'No line --- closes the frontmatter.', column: 1 };

  const block = text.slice(firstEnd + 1, close.start);
  const body = text.slice(close.end);
  // The caller refuses a block that is too large, so it needs no further look.
  if (block.length > FRONT_MATTER_LIMIT) return { ok: true, block, body };
  const before = `${first.slice(3)}\n${block.replaceAll(LONG_BLANKS, (run) => (run.endsWith('\n') ? '\n' : '\n '))}`;
  const fence = `${text.slice(close.start, close.end).trimEnd()}\n`;
  // gray-matter gets no body: it looks up its whole input in its cache, which takes longer than everything else.
  const file = caged(`---${before}${fence}`, fence);
  if (file.language !== 'yaml' || file.matter !== before.slice(0, -1) || file.content !== '')
    return { ok: false, code: 'frontmatter.unclosed', message: 'The fences are ambiguous.', column: 1 };
  return { ok: true, block, body };
}

const refuse = (): never => {
  throw new Error('No engine of gray-matter is ever asked.');
};
/** `yaml` parses the block; the one engine that gray-matter calls returns nothing. */
const ENGINES = { yaml: () => ({}), json: refuse, javascript: refuse, js: refuse, coffee: refuse, toml: refuse };

/** Calls gray-matter so that it can only split: no engine reads the block, and `options` keep it from using its cache. */
function caged(text: string, closing: string): matter.GrayMatterFile<string> {
  splitter ??= require('gray-matter') as typeof matter;
  return splitter(text, { language: 'yaml', delimiters: ['---', closing], engines: ENGINES });
}

function isMapping(root: ParsedNode | null): root is ParsedNode & YAMLMap {
  return isMap(root);
}

/** Finds the next line that is exactly `---`: where it starts, and where the body begins. */
function findClosingFence(text: string, firstEnd: number): { start: number; end: number } | undefined {
  if (firstEnd < 0) return undefined;
  for (let at = text.indexOf('\n---', firstEnd); at >= 0; at = text.indexOf('\n---', at + 1)) {
    const lineEnd = text.indexOf('\n', at + 1);
    const end = lineEnd < 0 ? text.length : lineEnd;
    if (FENCE.test(text.slice(at + 1, end))) return { start: at + 1, end: Math.min(end + 1, text.length) };
  }
  return undefined;
}
