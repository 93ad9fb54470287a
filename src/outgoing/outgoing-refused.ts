import { visibleText } from '../contracts/text/quoted-text.ts';
import { SkillcellError } from '../contracts/errors/skillcell-error.ts';

/** The error of an address that nothing is sent to, or whose answer is not read. */
export function outgoingRefused(reason: string, shown: string): SkillcellError {
  return new SkillcellError('source.refused', `Cannot read the source: ${reason}, got ${visibleText(shown)}.`, {
    hint: HINT,
  });
}

const HINT =
  'Name an https address that everybody can reach. Others are read where SKILLCELL_ALLOW_PRIVATE, or `allowPrivate`, names them; docs/web-sources.md says how.';

/** The error of an address that does not answer as it should. */
export function outgoingUnavailable(reason: string, shown: string, cause?: unknown): SkillcellError {
  const options = cause === undefined ? {} : { cause };
  return new SkillcellError(
    'store.unavailable',
    `Cannot read the source: ${reason}, got ${visibleText(shown)}.`,
    options,
  );
}

/** An address as a message shows it: what stands in its query may be a secret. */
export function shownUrl({ origin, pathname }: URL): string {
  return `${origin}${pathname}`.slice(0, 200);
}
