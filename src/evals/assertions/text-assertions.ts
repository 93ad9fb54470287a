import { quotedText } from '../../contracts/text/quoted-text.ts';
import type { OutputText } from '../../contracts/jobs/result.ts';
import type { AssertionCheck, RunProduct } from './assertion.ts';
import { CheckUnmade } from './assertion.ts';
import { holds, shownSought, type Sought } from './find-text.ts';
import { leftOut } from '../../protocol/messages/left-out.ts';

const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Whether an artifact exists, or does not. */
export function fileExists(path: string, not = false): AssertionCheck {
  return (product) => {
    const isThere = product.files.has(path);
    if (not) return isThere ? `${quotedText(path)} is there` : requireAbsent(product, path);
    return isThere ? undefined : missing(product, path);
  };
}

/** A file that was left out of the artifacts may have existed. */
function requireAbsent({ result }: RunProduct, path: string): undefined {
  const row = leftOut(result, path);
  if (row === undefined) return;
  throw new CheckUnmade(
    `it is unknown whether ${quotedText(path)} was there: ${quotedText(row.path)} was left out, ${row.reason}`,
  );
}

/** Whether an artifact has exactly this text. */
export function fileEquals(path: string, text: string): AssertionCheck {
  return (product) => {
    const read = readText(product, path);
    if ('fault' in read) return read.fault;
    return read.text === text ? undefined : `${quotedText(path)} holds ${quotedText(read.text)}`;
  };
}

/** Whether an artifact holds a text or a match of a pattern, or does not. A missing artifact fails both checks. */
export function fileHolds(path: string, sought: Sought, not = false): AssertionCheck {
  return (product) => {
    const read = readText(product, path);
    return 'fault' in read ? read.fault : verdict(quotedText(path), read.text, sought, not);
  };
}

/** The same for the output of the program. */
export function outputHolds(stream: 'stdout' | 'stderr', sought: Sought, not = false): AssertionCheck {
  return ({ result }) => verdict(stream, wholeOutput(stream, result[stream]), sought, not);
}

/** The text of an artifact, or the reason why it has no text. */
export function readText(product: RunProduct, path: string): { text: string } | { fault: string } {
  const bytes = product.files.get(path);
  if (bytes === undefined) return { fault: missing(product, path) };
  try {
    return { text: UTF8.decode(bytes) };
  } catch {
    // The decoder gives no other reason.
    return { fault: `${quotedText(path)} is no UTF-8` };
  }
}

/** The rest of an output that was cut is unknown. */
function wholeOutput(stream: string, { text, bytes, truncated }: OutputText): string {
  if (truncated) throw new CheckUnmade(`only the beginning of ${stream} was kept, got ${bytes} bytes`);
  return text;
}

function verdict(where: string, text: string, sought: Sought, not: boolean): string | undefined {
  if (holds(text, sought) !== not) return undefined;
  return `${where} ${not ? 'holds' : 'does not hold'} ${shownSought(sought)}`;
}

function missing({ result }: RunProduct, path: string): string {
  const row = leftOut(result, path);
  const why = row === undefined ? '' : `: ${quotedText(row.path)} was left out, ${row.reason}`;
  return `there is no artifact ${quotedText(path)}${why}`;
}
