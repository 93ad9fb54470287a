import { fitFilesBelow, tellFitted } from '../run/fit-files.ts';
import { readLanguage } from '../languages/read-language.ts';
import type { JobSurroundings } from '../run/job-surroundings.ts';

/**
 * Waits for the job's input files, and converts the line ends of programs in its language. Files of a session stay unchanged: its host reads and
 * edits them.
 */
export async function fitInputs({ globals, layout, privileges, filesWritten, found }: JobSurroundings): Promise<void> {
  const paths = await filesWritten;
  if (paths.length === 0 || globals.JOB.kind === 'session') return;
  const language = readLanguage(layout.runtime, globals.JOB.language);
  const fitted = privileges.asUser(() => fitFilesBelow(language, layout.workspace, paths));
  found.push(...tellFitted(language, fitted));
}
