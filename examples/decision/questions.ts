import { fileURLToPath } from 'node:url';
import type { CodegenOptions } from '../../src/contracts/jobs/job.ts';

/** The skills of this example's office. */
export const officeSkills: string = fileURLToPath(new URL('../office-skills', import.meta.url));

/** A question to decide on, and the recorded conversation that replaces a model if none is configured. */
export interface Question {
  job: CodegenOptions;
  recording: string;
}

/** One question that needs a program, and one that needs only words. */
export const questions: readonly Question[] = [
  {
    job: {
      task: 'Which customers owe us more than 1,000 in all? Leave their names and sums in reminders.csv.',
      files: { 'invoices.csv': { source: fileURLToPath(new URL('./invoices.csv', import.meta.url)) } },
      select: true,
    },
    recording: fileURLToPath(new URL('./recording-program.json', import.meta.url)),
  },
  {
    job: { task: 'How do we open a letter to somebody who pays late for the first time?', select: true },
    recording: fileURLToPath(new URL('./recording-text.json', import.meta.url)),
  },
];
