import type { ParsedNode, YAMLMap } from 'yaml';
import { isMap } from './lazy-yaml.ts';
import type { Diagnostic } from '../contracts/diagnostic.ts';
import type { DiagnosticCode } from './diagnostic-codes.ts';
import { diagnostic } from './diagnostic-codes.ts';
import { quoteColons } from './quote-colons.ts';
import { readYaml } from './read-yaml.ts';

/** The most bytes that may stand between the fences. */
export const FRONT_MATTER_LIMIT: number = 16 * 1024;

const FENCE = /^---[ \t]*$/;

/** How {@link readFrontMatter} reads. */
export interface FrontMatterOptions {
  /** Whether plain values with a colon and a blank are quoted when the block is no YAML. */
  recover: boolean;
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
  /** `frontmatter.recovered`, if it was. */
  diagnostics: Diagnostic[];
}

/** Why a file has no usable frontmatter. */
export interface FrontMatterFault {
  ok: false;
  diagnostics: Diagnostic[];
}

/**
 * Reads the frontmatter of a SKILL.md. Only a bare `---` opens it, so no language of a fence can choose another parser.
 *
 * @param text the file, decoded, with LF as line end
 * @param options how to read
 * @returns the parsed block and the body, or the reason why there is none
 */
export function readFrontMatter(text: string, options: FrontMatterOptions): FrontMatter | FrontMatterFault {
  const fault = (code: DiagnosticCode, message: string, line: number): FrontMatterFault => ({
    ok: false,
    diagnostics: [diagnostic(code, message, { ...(options.path === undefined ? {} : { path: options.path }), line })],
  });

  const firstEnd = text.indexOf('\n');
  const first = firstEnd < 0 ? text : text.slice(0, firstEnd);
  if (!first.startsWith('---') || first.startsWith('----')) {
    return fault('frontmatter.missing', 'The first line must be ---.', 1);
  }
  if (!FENCE.test(first)) return fault('frontmatter.language', 'Nothing may follow the opening ---.', 1);

  const close = findClosingFence(text, firstEnd);
  if (close === undefined) return fault('frontmatter.unclosed', 'No second line is ---.', 1);
  const block = text.slice(firstEnd + 1, close.start);
  const bytes = Buffer.byteLength(block);
  if (bytes > FRONT_MATTER_LIMIT) {
    return fault('frontmatter.too-large', `The frontmatter may have ${FRONT_MATTER_LIMIT} bytes, it has ${bytes}.`, 1);
  }

  let reading = readYaml(block);
  const diagnostics: Diagnostic[] = [];
  if (!reading.ok && options.recover) {
    const quoted = quoteColons(block);
    if (quoted !== block) {
      const line = reading.line + 1;
      reading = readYaml(quoted);
      if (reading.ok) {
        const message = 'A plain value holds a colon and a blank; it was read as if it were quoted.';
        diagnostics.push(
          diagnostic('frontmatter.recovered', message, {
            ...(options.path === undefined ? {} : { path: options.path }),
            line,
          }),
        );
      }
    }
  }
  if (!reading.ok)
    return fault('frontmatter.yaml', `The frontmatter is no valid YAML: ${reading.message}.`, reading.line + 1);
  if (!isMapping(reading.root)) {
    return fault('frontmatter.not-a-mapping', 'The frontmatter must hold keys and values.', 2);
  }
  return { ok: true, root: reading.root, block, body: text.slice(close.end), diagnostics };
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
