import { parse as secureParse } from 'secure-json-parse';

/** Caps for JSON that comes from another process. */
export interface JsonCaps {
  /** Bytes of UTF-8. */
  maxBytes: number;
  /** Nesting of arrays and objects. @default 64 */
  maxDepth?: number;
  /** Values in all: commas and opening brackets. @default 200,000 */
  maxValues?: number;
}

/** JSON is refused: too large, too deep, invalid, or with a key that could reach a prototype. */
export class JsonRefused extends Error {
  override readonly name = 'JsonRefused';
}

const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/**
 * Parses JSON bytes from an untrusted party. Length, depth and number of values are checked before the parser runs, so that its
 * cost is bounded. `__proto__` and `constructor.prototype` keys are refused.
 *
 * @throws {JsonRefused}
 */
export function parseBoundedJson(bytes: Uint8Array, caps: JsonCaps): unknown {
  if (bytes.length > caps.maxBytes) throw new JsonRefused(`over ${caps.maxBytes} bytes, got ${bytes.length}`);
  checkShape(bytes, caps.maxDepth ?? 64, caps.maxValues ?? 200_000);
  let text: string;
  try {
    text = UTF8.decode(bytes);
  } catch (error) {
    throw new JsonRefused('not UTF-8', { cause: error });
  }
  // The parser would silently drop it.
  if (text.startsWith('\ufeff')) throw new JsonRefused('it begins with a byte order mark');
  try {
    return secureParse(text, null, { protoAction: 'error', constructorAction: 'error' });
  } catch (error) {
    throw new JsonRefused(error instanceof Error ? error.message : 'no valid JSON', { cause: error });
  }
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;

function checkShape(bytes: Uint8Array, maxDepth: number, maxValues: number): void {
  let depth = 0;
  let values = 0;
  let quoted = false;
  for (let index = 0; index < bytes.length; index += 1) {
    const byte = bytes[index];
    if (quoted) {
      if (byte === BACKSLASH) index += 1;
      else if (byte === QUOTE) quoted = false;
      continue;
    }
    if (byte === QUOTE) quoted = true;
    else if (byte === 0x7b || byte === 0x5b) {
      depth += 1;
      values += 1;
      if (depth > maxDepth) throw new JsonRefused(`nested over ${maxDepth} levels`);
    } else if (byte === 0x7d || byte === 0x5d) depth -= 1;
    else if (byte === COMMA) values += 1;
    if (values > maxValues) throw new JsonRefused(`over ${maxValues} values`);
  }
}
