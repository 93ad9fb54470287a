import type { FoundInFile } from '../scan-finding.ts';
import type { ScannedFile } from '../scanned-file.ts';
import { codeRanges } from '../../skills/render/code-ranges.ts';
import { isInRanges } from '../text/text-ranges.ts';

/** `](target` of a link or an image; a title may follow. */
const INLINE = /\]\(\s?<?([^\s<>()[\]]+)/g;
/** `[name]: target`; a later check makes sure that it begins a line. */
const DEFINITION = /\]:[ \t]<?([^\s<>[\]]+)/g;
/** A definition with the target on the next line, where only a title may follow. */
const DEFINITION_BELOW = /\]:[ \t]?\n[ \t]{0,3}<?([^\s<>[\]]+)>?(?=[ \t]?(?:\n|$|["'(]))/g;
const ELSEWHERE = /^(?:[a-z][a-z0-9+.-]{1,30}:|#|\?|\/\/)/i;
const OF_THE_MACHINE = /^(?:file:|\/|~\/|[a-z]:[\\/])/i;
/** A name to be filled in, or a pattern. */
const PLACEHOLDER = /[{}$*…]|\.\.\.|%[^0-9a-f]|^(?:url|link|path|href|target|file|image|src|source|address)$/i;

/** Finds links of Markdown that lead out of the skill, or to missing files. Code is skipped. */
export function* findReferences(
  { path, text, isMarkdown, frontMatter }: ScannedFile,
  paths: ReadonlySet<string>,
): Generator<FoundInFile> {
  if (!isMarkdown || !(text.includes('](') || text.includes(']:'))) return;
  const code = codeRanges(text);
  for (const pattern of [INLINE, DEFINITION, DEFINITION_BELOW]) {
    for (const { index, 1: target = '' } of text.matchAll(pattern)) {
      if (index < frontMatter.end || isInRanges(code, index) || PLACEHOLDER.test(target)) continue;
      if (pattern !== INLINE && !beginsLine(text, index)) continue;
      const shown = JSON.stringify(target);
      if (OF_THE_MACHINE.test(target) && !target.startsWith('//'))
        yield {
          code: 'scan.reference-outside',
          message: `A link leads to a file of the machine, ${shown}.`,
          at: index,
        };
      if (ELSEWHERE.test(target) || OF_THE_MACHINE.test(target)) continue;
      const resolved = resolvePath(path, target);
      if (resolved === undefined)
        yield { code: 'scan.reference-outside', message: `A link leads out of the skill, ${shown}.`, at: index };
      else if (!paths.has(resolved))
        yield { code: 'scan.reference-missing', message: `A link leads to no file of the skill, ${shown}.`, at: index };
    }
  }
}

/** A path below the skill; undefined when it leaves the skill. */
function resolvePath(from: string, target: string): string | undefined {
  const parts = from.split('/').slice(0, -1);
  for (const part of decoded(withoutQuery(target)).split(/[/\\]/)) {
    if (part === '' || part === '.') continue;
    if (part !== '..') parts.push(part);
    else if (parts.pop() === undefined) return undefined;
  }
  return parts.join('/');
}

function withoutQuery(target: string): string {
  const end = target.search(/[#?]/);
  return end < 0 ? target : target.slice(0, end);
}

/** The longest name of a link, in characters. */
const NAME = 200;

function beginsLine(text: string, at: number): boolean {
  const before = text.slice(Math.max(0, at - NAME), at);
  const start = before.lastIndexOf('\n') + 1;
  const name = before.slice(start).trimStart();
  // A footnote is not a link definition.
  return (start > 0 || at <= NAME) && name.startsWith('[') && !name.startsWith('[^');
}

function decoded(target: string): string {
  try {
    return decodeURIComponent(target);
  } catch {
    // A percent sign outside of an escape stands for itself.
    return target;
  }
}
