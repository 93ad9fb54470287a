import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { type Diagnostic, diagnostic } from '../../src/contracts/diagnostic.ts';
import type { ProgramError } from '../../src/contracts/result.ts';
import { JsonRefused, parseBoundedJson } from '../../src/protocol/bounded-json.ts';

const MAX_TEXT = 64 * 1024;
/** Less than a message may have, since the value is a part of one. */
const VALUE_SHAPE = { maxDepth: 60, maxValues: 150_000 };

/** Reads the error that an executor reported. Nothing in it is believed but that it is text. */
export function readProgramError(reported: unknown, fileName: string): ProgramError | undefined {
  if (typeof reported !== 'object' || reported === null) return undefined;
  const fields = reported as Record<string, unknown>;
  const text = (key: string): string => {
    const value = fields[key];
    return typeof value === 'string' ? value.slice(0, MAX_TEXT) : '';
  };
  const error: ProgramError = {
    name: text('name').slice(0, 200) || 'Error',
    message: text('message'),
    stack: text('stack'),
  };
  const line = fields['line'];
  if (typeof line === 'number' && Number.isInteger(line) && line > 0) error.line = line;
  else {
    // A module's stack has its address, where all but plain letters are escaped.
    const found = lineInStack(error.stack, fileName) ?? lineInStack(error.stack, encodeURIComponent(fileName));
    if (found !== undefined) error.line = found;
  }
  return error;
}

/** The first line of the user's file that a JavaScript stack names. */
function lineInStack(stack: string, fileName: string): number | undefined {
  for (let from = stack.indexOf(fileName); from >= 0; from = stack.indexOf(fileName, from + 1)) {
    const match = /^:(\d{1,9})/.exec(stack.slice(from + fileName.length, from + fileName.length + 10));
    if (match !== null) return Number(match[1]);
  }
  return undefined;
}

/** The value of a run: what its executor reported, else the file that `SKILLCELL_VALUE` names. */
export function readProgramValue(
  reported: unknown,
  valueFolder: string,
  maxBytes: number,
): { value?: unknown; diagnostics: Diagnostic[] } {
  const refuse = (message: string): { diagnostics: Diagnostic[] } => ({
    diagnostics: [diagnostic('value.invalid', `The value is left out: ${message}.`)],
  });
  let bytes: Uint8Array | string | undefined;
  if (typeof reported === 'string') bytes = Buffer.from(reported);
  else if (reported === undefined) bytes = readValueFile(join(valueFolder, 'value.json'), maxBytes);
  else return refuse('it is no JSON text');
  if (bytes === undefined) return { diagnostics: [] };
  if (typeof bytes === 'string') return refuse(bytes);
  try {
    return { value: parseBoundedJson(bytes, { maxBytes, ...VALUE_SHAPE }), diagnostics: [] };
  } catch (error) {
    if (error instanceof JsonRefused) return refuse(error.message);
    throw error;
  }
}

/** The bytes of the value file, `undefined` when there is none, or a text that says what is wrong with it. */
function readValueFile(path: string, maxBytes: number): Buffer | string | undefined {
  let descriptor: number;
  try {
    descriptor = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT' ? undefined : 'its file cannot be opened';
  }
  try {
    const status = fstatSync(descriptor);
    if (!status.isFile()) return 'it is no regular file';
    if (status.size > maxBytes) return `over ${maxBytes} bytes, got ${status.size}`;
    const bytes = Buffer.alloc(status.size);
    const size = readSync(descriptor, bytes, 0, status.size, 0);
    return size === 0 ? undefined : bytes.subarray(0, size);
  } finally {
    closeSync(descriptor);
  }
}
