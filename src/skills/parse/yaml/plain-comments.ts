import { type Diagnostic, diagnostic, type OwnCode } from '../../../contracts/errors/diagnostic.ts';
import { quotedText } from '../../../contracts/text/quoted-text.ts';
import { movedDown, placeFinder } from '../../text/text-place.ts';
import { isScalar } from './lazy-yaml.ts';
import { entriesOf, itemsOf } from './yaml-values.ts';

/** How {@link commentDiagnostics} reports. */
export interface CommentOptions {
  code: Extract<OwnCode, `${string}.comment`>;
  path?: string | undefined;
  /** Whether every comment is reported, or only those that look like a text. */
  every: boolean;
  /** Lines of the file above the document. */
  linesAbove?: number;
  /** Whether the scalar at this offset had no quotes before a repair added them. */
  wasPlain?: (at: number) => boolean;
}

/**
 * Reports the texts that YAML drops behind values without quotes.
 *
 * @param root a node that `readYaml` accepted
 * @param document the text that it was read from
 * @param options scope, code and place of the reports
 */
export function commentDiagnostics(root: unknown, document: string, options: CommentOptions): Diagnostic[] {
  const { code, path, every, linesAbove = 0, wasPlain } = options;
  const found = plainComments(root, document, wasPlain).filter(({ isTag }) => every || isTag);
  const find = placeFinder(document);
  return found.map(({ text, at }) => {
    const message = `YAML reads the text behind a blank and # as a comment, so it is left out: ${quotedText(text)}.`;
    return diagnostic(code, message, { ...(path === undefined ? {} : { path }), ...movedDown(find(at), linesAbove) });
  });
}

/** A comment on the line on which a value without quotes ends. */
interface PlainComment {
  /** From its `#` on. */
  text: string;
  /** Offset of the `#` in the document, or of the value where a repair has moved the `#`. */
  at: number;
  /** Whether `#` touches a letter or a digit, as in `#releases` and `#42`: probably a text, not a comment. */
  isTag: boolean;
}

const BLANKS_AND_MARK = /[ \t]*#/y;
const TAG = /^#[\p{L}\p{N}_]/u;

/** Finds the comments behind values without quotes, in document order. It avoids recursion, because the author controls the nesting. */
function plainComments(
  root: unknown,
  document: string,
  wasPlain: (at: number) => boolean = () => false,
): PlainComment[] {
  const found: PlainComment[] = [];
  const pending = document.includes('#') ? [root] : [];
  while (pending.length > 0) {
    const node = pending.pop();
    if (
      isScalar(node) &&
      node.comment !== undefined &&
      node.range &&
      (node.type === 'PLAIN' || wasPlain(node.range[0]))
    ) {
      BLANKS_AND_MARK.lastIndex = node.range[1];
      if (BLANKS_AND_MARK.test(document)) {
        const at = BLANKS_AND_MARK.lastIndex - 1;
        const end = document.indexOf('\n', at);
        const text = document.slice(at, end < 0 ? undefined : end).trimEnd();
        // A repair moves the text behind a value, but not the beginning of the value.
        const place = node.type === 'PLAIN' ? at : node.range[0];
        if (text.length > 1) found.push({ text, at: place, isTag: TAG.test(text) });
      }
    }
    for (const { node: value } of entriesOf(node) ?? []) pending.push(value);
    for (const item of itemsOf(node) ?? []) pending.push(item);
  }
  return found.toSorted((one, other) => one.at - other.at);
}
