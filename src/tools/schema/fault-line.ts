import { quotedText, visibleText } from '../../contracts/text/quoted-text.ts';

/** A fault in a part of a value. */
export interface ValueFault {
  /** Keys from the value to the part. */
  path: readonly PropertyKey[];
  text: string;
}

/** Most faults in one line. */
export const TOLD_FAULTS = 3;
const PATH_CHARACTERS = 100;
const TEXT_CHARACTERS = 200;
const PLAIN_KEY = /^[\w$-]{1,60}$/;

/** Writes the first faults in one line. Keys and texts come from a sandbox: invisible characters are escaped, long texts are cut. */
export function faultLine(faults: readonly ValueFault[]): string {
  return faults
    .slice(0, TOLD_FAULTS)
    .map(({ path, text }) => {
      const where = shownPath(path);
      const told = visibleText(text.slice(0, TEXT_CHARACTERS));
      return where === '' ? told : `${where}: ${told}`;
    })
    .join('; ');
}

/** Writes a path. A long path loses its beginning, because its end is more useful. */
function shownPath(path: readonly PropertyKey[]): string {
  const keys = path.slice(-16).map((key) => {
    const text = String(key);
    return PLAIN_KEY.test(text) ? text : quotedText(text.slice(0, 40));
  });
  const where = keys.join('.');
  return where.length > PATH_CHARACTERS ? `…${where.slice(-PATH_CHARACTERS)}` : where;
}
