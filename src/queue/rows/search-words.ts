import type { StoredRequest } from '../request/job-request.ts';

/** Most characters of each text of a job that its search finds. */
const SEARCHED_CHARACTERS = 16_384;
/** Most words of a query. */
const MOST_WORDS = 16;
/** Longer words are found by their beginning. */
const WORD_CHARACTERS = 64;

/** The words of a text, in lower case, each once. */
export function wordsOf(text: string): string[] {
  const words =
    text
      .slice(0, SEARCHED_CHARACTERS)
      .toLowerCase()
      .match(/[\p{L}\p{N}]+/gu) ?? [];
  return [...new Set(words.map((word) => word.slice(0, WORD_CHARACTERS)))];
}

/** The words of a query. */
export function queryWords(text: string): string[] {
  return wordsOf(text).slice(0, MOST_WORDS);
}

/** The words by which a job is found: its label, task, code, script, skills and files. */
export function shownWords(id: string, { job, files }: StoredRequest): string[] {
  const { label, kind } = job;
  const { task, code, skill, script } = job as Partial<Record<'task' | 'code' | 'skill' | 'script', string>>;
  const refs = job.skills?.refs ?? [];
  const texts = [id, kind, label, task, code, skill, script, ...refs, ...files.map(({ destination }) => destination)];
  return wordsOf(
    texts
      .filter((text) => text !== undefined)
      .map((text) => text.slice(0, SEARCHED_CHARACTERS / 2))
      .join(' '),
  );
}
