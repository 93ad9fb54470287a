import { visibleText } from '../contracts/text/quoted-text.ts';
import { SkillcellError } from '../contracts/errors/skillcell-error.ts';

/** The error of a refused address, or of a refused answer. */
export function outgoingRefused(reason: string, shown: string): SkillcellError {
  return new SkillcellError('source.refused', `Cannot read the source: ${reason}, got ${visibleText(shown)}.`, {
    hint: HINT,
  });
}

const HINT =
  'Name a public https address. SKILLCELL_ALLOW_PRIVATE or `allowPrivate` can allow others; docs/web-sources.md describes their form.';

/** The error of an address without a usable answer. */
export function outgoingUnavailable(reason: string, shown: string, cause?: unknown): SkillcellError {
  const options = cause === undefined ? {} : { cause };
  return new SkillcellError(
    'store.unavailable',
    `Cannot read the source: ${reason}, got ${visibleText(shown)}.`,
    options,
  );
}

/** An address for messages, without its query, which may be a secret. */
export function shownUrl({ origin, pathname }: URL): string {
  return `${origin}${pathname}`.slice(0, 200);
}
