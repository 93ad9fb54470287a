import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { CodegenOptions } from '../../src/contracts/job.ts';

const folder = fileURLToPath(new URL('.', import.meta.url));

/** The recorded conversation that stands in for a model where none is configured. */
export const quickstartRecording: string = `${folder}recording.json`;

/** The quick start's job: a real question about a real table, with two built-in skills. */
export function quickstartJob(): CodegenOptions {
  return {
    task: readFileSync(`${folder}task.md`, 'utf8'),
    language: 'javascript',
    skills: { refs: ['public.data-report', 'public.chart'] },
    files: [{ source: `${folder}co2.csv`, destination: 'co2.csv' }],
    expect: ['report.md', 'chart.svg'],
  };
}
