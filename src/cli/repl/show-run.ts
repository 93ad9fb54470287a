import { inspect } from 'node:util';
import type { SessionResult, SessionRun } from '../../contracts/jobs/session.ts';
import type { CliOutput } from '../terminal/cli-output.ts';
import { networkLines } from '../job/network-lines.ts';
import { diagnosticLine } from '../terminal/diagnostic-line.ts';

/** Shows the outcome of a run after its output: its value on stdout, the rest as notes. */
export async function showRun(run: SessionRun, output: CliOutput): Promise<void> {
  const { outcome, limit, state, epoch, error, stdout, stderr, value, diagnostics } = run;
  for (const [name, { text, bytes, truncated }] of Object.entries({ stdout, stderr }))
    if (truncated) await output.note(`${name}: the first ${Buffer.byteLength(text)} of ${bytes} bytes`);
  if (value !== undefined) await output.text(`${shownValue(value)}\n`);
  if (outcome !== 'succeeded') {
    const how = limit === undefined ? outcome : `${outcome}, limit of ${limit}`;
    const why = error === undefined || error.stack !== '' ? '' : `: ${error.message}`;
    await output.note(`run ${run.run}: ${how}${why}`);
  }
  for (const line of networkLines(run.network)) await output.note(line);
  if (state === 'lost') await output.note(`epoch ${epoch} is over: definitions are lost, files are kept`);
  for (const found of diagnostics.filter(({ code }) => code !== 'session.lost'))
    await output.note(diagnosticLine(found));
}

function shownValue(value: unknown): string {
  return typeof value === 'string' ? JSON.stringify(value) : inspect(value, { depth: 6, maxArrayLength: 200 });
}

/** A result as a terminal can show it: its text, or its media types and sizes. */
export function shownResult({ data }: SessionResult): string {
  const plain = data['text/plain'] ?? data['text/markdown'];
  if (typeof plain === 'string') return plain;
  return Object.entries(data)
    .map(
      ([mediaType, form]) =>
        `[${mediaType}, ${typeof form === 'string' ? Buffer.byteLength(form) : form.length} bytes]`,
    )
    .join(' ');
}
