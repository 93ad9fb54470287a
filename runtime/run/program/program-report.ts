import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { type Diagnostic, diagnostic } from '../../../src/contracts/errors/diagnostic.ts';
import type { ProgramError } from '../../../src/contracts/jobs/result.ts';
import { JsonRefused, parseBoundedJson } from '../../../src/protocol/channel/bounded-json.ts';

const MAX_TEXT = 64 * 1024;
/** Maximum length of a reason from the program's process. */
const MAX_REASON = 300;
/** Lower than the limits of a message, since the value is a part of a message. */
const VALUE_SHAPE = { maxDepth: 60, maxValues: 150_000 };

/** Reads the error that an executor reported. User code can forge the report, so its fields are read as text of limited length. */
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
    // The stack of a module shows its URL, in which special characters are escaped.
    const found = lineInStack(error.stack, fileName) ?? lineInStack(error.stack, encodeURIComponent(fileName));
    if (found !== undefined) error.line = found;
  }
  return error;
}

/** The first line of the user's file in a JavaScript stack. */
function lineInStack(stack: string, fileName: string): number | undefined {
  for (let from = stack.indexOf(fileName); from >= 0; from = stack.indexOf(fileName, from + 1)) {
    const match = /^:(\d{1,9})/.exec(stack.slice(from + fileName.length, from + fileName.length + 10));
    if (match !== null) return Number(match[1]);
  }
  return undefined;
}

/** A value, or the diagnostic for its omission. */
export interface ReadValue {
  value?: unknown;
  diagnostics: Diagnostic[];
}

/** The value of a run: the reported value, else the content of the file that `SKILLCELL_VALUE` names. */
export function readProgramValue(
  reported: { json: unknown; invalid: unknown } | undefined,
  valueFolder: string,
  maxBytes: number,
): ReadValue {
  if (typeof reported?.invalid === 'string') return refuseValue(reported.invalid.slice(0, MAX_REASON));
  if (reported?.json !== undefined) return readReportedValue(reported.json, maxBytes);
  const bytes = readValueFile(join(valueFolder, 'value.json'), maxBytes);
  if (bytes === undefined) return { diagnostics: [] };
  return typeof bytes === 'string' ? refuseValue(bytes) : readValue(bytes, maxBytes);
}

/** Reads a reported value: JSON text, its byte count if it is too large to send, or any other value from user code. */
export function readReportedValue(reported: unknown, maxBytes: number): ReadValue {
  if (typeof reported === 'number') return refuseValue(`over ${maxBytes} bytes, got ${reported}`);
  return typeof reported === 'string' ? readValue(Buffer.from(reported), maxBytes) : refuseValue('it is not JSON text');
}

/** Leaves a value out, with a diagnostic. */
export function refuseValue(reason: string): ReadValue {
  return { diagnostics: [diagnostic('value.invalid', `The value is left out: ${reason}.`)] };
}

function readValue(bytes: Uint8Array, maxBytes: number): ReadValue {
  try {
    return { value: parseBoundedJson(bytes, { maxBytes, ...VALUE_SHAPE }), diagnostics: [] };
  } catch (error) {
    if (error instanceof JsonRefused) return refuseValue(error.message);
    throw error;
  }
}

/** The bytes of the value file, `undefined` if the file is missing or empty, or a text that describes its fault. */
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
