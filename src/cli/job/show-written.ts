import type { JobResult } from '../../contracts/jobs/result.ts';
import type { CommandContext } from '../options/flags/command.ts';
import type { KeptAnswers, KeptText } from './keep-answers.ts';

/** The program that ran last; where the job failed, all that the model said with it. */
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
  // Each line is marked, so that what a model wrote cannot pass for a line of ours.
  for (const line of shown.text.trimEnd().split(/\r?\n/)) await output.program('stderr', Buffer.from(`| ${line}\n`));
}

/** Says where all of it is. */
export async function notePaths(
  { output }: CommandContext,
  answers: readonly KeptText[],
  programs: readonly KeptText[],
): Promise<void> {
  for (const { path } of programs) await output.note(`program: ${path}`);
  for (const { path } of answers) await output.note(`answer: ${path}`);
}
