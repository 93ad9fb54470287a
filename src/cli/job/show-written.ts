import type { JobResult } from '../../contracts/jobs/result.ts';
import type { CommandContext } from '../options/flags/command.ts';
import type { KeptAnswers, KeptText } from './keep-answers.ts';

/** Shows the last program; if the job failed, the last answer of the model. */
export async function showWritten(
  { output }: CommandContext,
  { outcome, codegen }: JobResult,
  { answers }: KeptAnswers,
  programs: readonly KeptText[],
): Promise<void> {
  const answer = answers.at(-1);
  const program = programs.at(-1);
  const [title, shown] =
    outcome === 'succeeded' || answer === undefined ? ['program', program] : ['answer of the model', answer];
  if (shown === undefined) return;
  await output.note(`${title}, attempt ${codegen?.attempts.length ?? answers.length}:`);
  // Each line is marked, so that the text of a model cannot pass for a line of skillcell.
  for (const line of shown.text.trimEnd().split(/\r?\n/)) await output.program('stderr', Buffer.from(`| ${line}\n`));
}

/** Notes the path of each program and answer. */
export async function notePaths(
  { output }: CommandContext,
  answers: readonly KeptText[],
  programs: readonly KeptText[],
): Promise<void> {
  for (const { path } of programs) await output.note(`program: ${path}`);
  for (const { path } of answers) await output.note(`answer: ${path}`);
}
