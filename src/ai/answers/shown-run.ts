import type { JobResult, ProgramError } from '../../contracts/jobs/result.ts';
import type { SessionRun } from '../../contracts/jobs/session.ts';
import { cutTo } from '../../skills/text/text.ts';
import { cutText } from './cut-text.ts';
import type { RunOutput } from '../sandbox-tools.ts';
import { takeFitting } from './take-fitting.ts';

const NOTE_CHARACTERS = 500;
const LISTED_NOTES = 20;

/** Fields that a job and a run of a session share. */
type Run = Pick<
  SessionRun,
  'outcome' | 'limit' | 'exitCode' | 'stdout' | 'stderr' | 'value' | 'error' | 'diagnostics'
> & { jobId: string };

/** The result of a job for a model: at most so many characters of each part. */
export function shownJob(result: JobResult, characters: number): RunOutput {
  const { artifacts, omitted } = result;
  const all = artifacts.map(({ path, bytes }) => ({ path, bytes }));
  const files = takeFitting(all, characters);
  const left = all.length - files.length;
  const notes = [
    ...(left === 0 ? [] : [`There are ${left} more files.`]),
    ...omitted.map(({ path, reason }) => `The file ${path} was left behind: ${reason}.`),
  ];
  return { ...shownRun(result, characters, notes), ...(files.length === 0 ? {} : { files }) };
}

/** The same for a run, which is a whole job or a part of a session. */
export function shownRun(run: Run, characters: number, more: readonly string[] = []): RunOutput {
  const { jobId, outcome, limit, exitCode, stdout, stderr, error, diagnostics } = run;
  const told = diagnostics.filter(({ severity }) => severity !== 'info').map(({ message }) => message);
  const tooLarge = 'value' in run ? cutValue(run.value, characters) : undefined;
  const notes = [...(tooLarge === undefined ? [] : [tooLarge]), ...listed([...more, ...told])];
  return {
    jobId,
    outcome,
    ...(limit === undefined ? {} : { limit }),
    exitCode,
    stdout: cutText(stdout, characters),
    stderr: cutText(stderr, characters),
    ...('value' in run && tooLarge === undefined ? { value: run.value } : {}),
    ...(error === undefined ? {} : { error: shownError(error, characters) }),
    ...(notes.length === 0 ? {} : { notes }),
  };
}

function shownError({ name, message, line }: ProgramError, characters: number): NonNullable<RunOutput['error']> {
  const error = { name: cutTo(name, NOTE_CHARACTERS), message: cutText(whole(message), characters) };
  return line === undefined ? error : { ...error, line };
}

/** Shows the beginning and the end of a value that is too large; undefined for a smaller value. */
function cutValue(value: unknown, characters: number): string | undefined {
  const json = JSON.stringify(value);
  if (json.length <= characters) return undefined;
  return `The value is too large to be shown whole. Its JSON: ${cutText(whole(json), characters)}`;
}

function whole(text: string): { text: string; bytes: number; truncated: boolean } {
  return { text, bytes: text.length, truncated: false };
}

function listed(notes: readonly string[]): string[] {
  const shown = notes.slice(0, LISTED_NOTES).map((note) => cutTo(note, NOTE_CHARACTERS));
  return notes.length === shown.length ? shown : [...shown, `There are ${notes.length - shown.length} more notes.`];
}
