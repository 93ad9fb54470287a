import { join } from 'node:path';
import { diagnostic } from '../../src/contracts/errors/diagnostic.ts';
import { SkillcellError } from '../../src/contracts/errors/skillcell-error.ts';
import { readLanguage } from '../languages/read-language.ts';
import type { JobSurroundings } from './job-surroundings.ts';
import type { SkillScript } from './skill-script.ts';

const MAX_ROWS = 1_000;
const MAX_TEXT = 500;
/** Rows that the message names; the diagnostics have all rows. */
const NAMED_ROWS = 20;

/**
 * Asks an executor which requirements of a script are missing. The script gets its own interpreter, because the check loads modules that the script
 * may not want. If the executor gives no answer, the script fails later, when it runs.
 *
 * @throws SkillcellError `script.requirements-missing`
 */
export async function checkRequirements(
  { canceled, globals, layout, takeExecutor }: JobSurroundings,
  { folder, name }: SkillScript,
): Promise<void> {
  const language = readLanguage(layout.runtime, globals.JOB.language);
  if (language.requirements !== true) return;
  const { link, waiting, ended } = takeExecutor(language.name);
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
