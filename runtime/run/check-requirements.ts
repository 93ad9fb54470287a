import { join } from 'node:path';
import { diagnostic } from '../../src/contracts/diagnostic.ts';
import { SkillcellError } from '../../src/contracts/skillcell-error.ts';
import type { ExecutorProcess } from './executor-process.ts';
import type { SkillScript } from './skill-script.ts';

const MAX_ROWS = 1_000;
const MAX_TEXT = 500;
/** Rows that the message names; the diagnostics have them all. */
const NAMED_ROWS = 20;

/**
 * Asks an executor that has run nothing yet what a script requires and is not there. One that does not answer says so when it
 * is to run the script.
 *
 * @throws SkillcellError `script.requirements-missing`
 */
export async function checkRequirements(
  { language, link, waiting, ended }: ExecutorProcess,
  { folder, name }: SkillScript,
  canceled: AbortSignal,
): Promise<void> {
  if (language.requirements !== true) return;
  await Promise.race([waiting, ended]);
  const rows = readRows(
    await new Promise<unknown>((resolve) => {
      const nothing = (): void => resolve(undefined);
      link.onMessage = (message) => void (message.type === 'checked' && resolve(message.unmet));
      link.onFault = nothing;
      void ended.then(nothing);
      if (canceled.aborted) nothing();
      canceled.addEventListener('abort', nothing, { once: true });
      link.send({ type: 'check', path: join(folder, name) });
    }),
  );
  if (rows.length === 0) return;
  const named = rows.slice(0, NAMED_ROWS).join('; ');
  const more = rows.length > NAMED_ROWS ? `; and ${rows.length - NAMED_ROWS} more` : '';
  throw new SkillcellError(
    'script.requirements-missing',
    `Cannot run the script ${name}: its requirements are not met, got ${named}${more}.`,
    { diagnostics: rows.map((row) => diagnostic('script.requirement', row)) },
  );
}

function readRows(unmet: unknown): string[] {
  if (!Array.isArray(unmet)) return [];
  const rows = unmet.filter((row) => typeof row === 'string');
  return rows.slice(0, MAX_ROWS).map((row) => row.slice(0, MAX_TEXT));
}
