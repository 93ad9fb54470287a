import { type Diagnostic, diagnostic } from '../../src/contracts/diagnostic.ts';
import { type LanguageDefinition, startVariables } from '../../src/contracts/language.ts';

/** Variables that the code of a run heeds all the same: `TZ` is told to the interpreter, the others are read by programs as well. */
const HEEDED: ReadonlySet<string> = new Set(['TZ', 'HOME', 'NODE_ENV']);

/** Says which variables of one run come too late for the interpreter that runs it. */
export function lateVariables(language: LanguageDefinition, env: Readonly<Record<string, string>>): Diagnostic[] {
  const late = Object.keys(startVariables(language, env)).filter((name) => !HEEDED.has(name));
  if (late.length === 0) return [];
  const names = late.join(', ').slice(0, 500);
  const message = `${language.title} reads ${names} when it starts, and the session's has started: only programs that the run starts heed it.`;
  return [diagnostic('variable.late', message)];
}
