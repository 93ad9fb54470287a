import { exec, get, inspect, isError, split } from './captured.ts';

/** An error as texts for the supervisor. */
export interface ErrorTexts {
  name: string;
  message: string;
  stack: string;
}

/**
 * Describes a thrown value. Texts exist for every value, even if looking at it throws.
 *
 * @param cut removes internal lines from a stack
 */
export function describeError(error: unknown, cut: (stack: string) => string = ownStack): ErrorTexts {
  const text = textOfError(error, cut);
  if (text !== undefined) return text;
  const shown = shownSafely(error);
  return { name: 'Error', message: shown, stack: shown };
}

/** The error of a run that was stopped. */
export function interrupted(): Error {
  return plainError('Interrupted', 'The run was interrupted.');
}

/** An error of the session, with a stack without internal frames. */
export function plainError(name: string, message: string, at = ''): Error {
  const error = new Error(message);
  error.name = name;
  error.stack = `${name}: ${message}${at}`;
  return error;
}

function textOfError(error: unknown, cut: (stack: string) => string): ErrorTexts | undefined {
  try {
    if (!isError(error)) return undefined;
  } catch {
    return undefined;
  }
  const name = textOf(error, 'name') || 'Error';
  const message = textOf(error, 'message');
  return { name, message, stack: cut(stackOf(error) ?? `${name}: ${message}`) };
}

/** A field that should be a text; user code may have replaced it by any value. */
function textOf(error: Error, field: 'name' | 'message'): string {
  try {
    const value: unknown = get(error, field);
    return typeof value === 'string' ? value : value === undefined ? '' : shownSafely(value);
  } catch {
    return field === 'name' ? 'Error' : 'The message of the error cannot be read: its getter throws.';
  }
}

function stackOf(error: Error): string | undefined {
  try {
    const stack: unknown = get(error, 'stack');
    return typeof stack === 'string' ? stack : undefined;
  } catch {
    return undefined;
  }
}

function shownSafely(value: unknown): string {
  try {
    return inspect(value);
  } catch {
    return shownPlainly(value);
  }
}

/** Shown without the value's own custom inspection. */
function shownPlainly(value: unknown): string {
  try {
    return inspect(value, { customInspect: false });
  } catch {
    return 'A value that cannot be shown.';
  }
}

/** The stack down to the last line of the session's own code; the frames below it are internal. */
function ownStack(stack: string): string {
  const lines = split(stack, '\n');
  let last = -1;
  let first = -1;
  for (let index = 0; index < lines.length; index += 1) {
    const line = lines[index] as string;
    if (exec(/cell-\d+:\d+/, line) !== null) last = index;
    if (first < 0 && exec(/^\s+at /, line) !== null) first = index;
  }
  const end = last >= 0 ? last + 1 : first >= 0 ? first : lines.length;
  let own = lines[0] ?? '';
  for (let index = 1; index < end; index += 1) own += `\n${lines[index]}`;
  return own;
}
