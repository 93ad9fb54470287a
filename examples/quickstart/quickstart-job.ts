import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { CodegenOptions } from '../../src/contracts/jobs/job.ts';

const folder = fileURLToPath(new URL('.', import.meta.url));

/** The skill that the quick start shows in a job with and without it. */
export const SHOWN_SKILL = 'public.data-report';

/** The recorded conversation that replaces a model if none is configured. */
export const quickstartRecording: string = `${folder}recording.json`;
/** The same for the job without the skill. */
export const plainRecording: string = `${folder}recording-plain.json`;

/** The quick start's job: a real question about a real table, with two built-in skills. */
export function quickstartJob(): CodegenOptions {
  return { ...plainJob(), skills: { refs: [SHOWN_SKILL, 'public.chart'] } };
}

/** The same without the skill for reports. */
export function plainJob(): CodegenOptions {
  return {
    task: readFileSync(`${folder}task.md`, 'utf8'),
    language: 'javascript',
    skills: { refs: ['public.chart'] },
    files: { 'co2.csv': { source: `${folder}co2.csv` } },
    expect: ['report.md', 'chart.svg'],
  };
}
