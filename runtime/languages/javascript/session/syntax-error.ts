import type { SyntaxFault } from './as-script.ts';
import { exec, get, isError } from '../captured.ts';
import { describeError, plainError } from '../describe-error.ts';

type Place = Omit<SyntaxFault, 'message'>;

/** Messages of the interpreter for an import or export that was not rewritten, because the code has another error. */
const NO_MODULE = /outside a module|Unexpected token 'export'/;

/**
 * The error of code that does not compile, with its place in the code: its own stack leads to internal code. `fault` is the syntax error of the code
 * as a module.
 */
export function syntaxError(error: unknown, cell: string, place: Place, fault?: SyntaxFault): unknown {
  const { name, message } = describeError(error);
  if (fault !== undefined && exec(NO_MODULE, message) !== null) return plainError(name, fault.message, at(cell, fault));
  return plainError(name, message, at(cell, place));
}

/** The same for TypeScript that cannot be stripped: Node draws the place above the stack. */
export function typeScriptError(error: unknown, cell: string): unknown {
  const stack: unknown = isError(error) ? get(error, 'stack') : undefined;
  const drawn = typeof stack === 'string' ? exec(/^[^\n]*:(\d+)\n(?:[^\n]*\n)*?( *)\^+\n/, stack) : null;
  if (drawn === null) return error;
  return syntaxError(error, cell, { line: +(drawn[1] ?? 1), column: (drawn[2]?.length ?? 0) + 1 });
}

function at(cell: string, { line, column }: Place): string {
  return `\n    at ${cell}:${line}:${column}`;
}
