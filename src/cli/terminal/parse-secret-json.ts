import { JsonRefused, parseBoundedJson } from '../../protocol/channel/bounded-json.ts';

/**
 * Parses a file of JSON that may hold secrets.
 *
 * @param refused makes the error from its reason
 */
export function parseSecretJson(bytes: Uint8Array, maxBytes: number, refused: (reason: string) => Error): unknown {
  try {
    return parseBoundedJson(bytes, { maxBytes });
  } catch (error) {
    if (!(error instanceof JsonRefused)) throw error;
    // A parser quotes the text around a fault, and that may be a secret.
    const [, line, column] = /line (\d+) column (\d+)/.exec(error.message) ?? [];
    throw refused(`it must hold JSON${line === undefined ? '' : `, and breaks off at line ${line}, column ${column}`}`);
  }
}
