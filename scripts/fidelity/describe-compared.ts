import type { Difference } from './compare-runs.ts';
import type { ComparedProgram } from './run-fidelity.ts';

/** As much of each side as is shown. */
const SHOWN_LINES = 12;
const SHOWN_CHARACTERS = 200;

/** What a reader is told of a program at once: nothing where it is the same. */
export function describeCompared({ id, level, verdict, differences, reason }: ComparedProgram): string {
  if (verdict === 'skipped') return `skipped ${id} (${level}): ${reason}\n`;
  if (verdict !== 'differs') return '';
  return [`DIFFERS ${id} (${level})`, ...differences.flatMap((each) => describe(each)), ''].join('\n');
}

/** The sums, of which the last line is the one to read. */
export function closingLines(compared: readonly ComparedProgram[]): string {
  const count = (wanted: ComparedProgram['verdict']): number =>
    compared.filter(({ verdict }) => verdict === wanted).length;
  const explained = new Map<string, number>();
  for (const { verdict, reason = '' } of compared)
    if (verdict === 'on purpose') explained.set(reason, (explained.get(reason) ?? 0) + 1);
  const rows = [...explained].map(([reason, programs]) => `${programs} differ on purpose: ${reason}\n`);
  return `${rows.join('')}${count('same')} same, ${count('differs')} differ, ${count('skipped')} skipped\n`;
}

/** Both sides from the first line in which they differ. */
function describe({ what, plain, job }: Difference): string[] {
  const plainLines = plain.split('\n');
  const jobLines = job.split('\n');
  const first = plainLines.findIndex((line, index) => line !== jobLines[index]);
  const at = first < 0 ? plainLines.length : first;
  const place = at === 0 ? '' : ` from line ${at + 1}`;
  return [`  ${what}${place}`, ...side('plain', plainLines.slice(at)), ...side('job', jobLines.slice(at))];
}

function side(name: string, lines: readonly string[]): string[] {
  const shown = lines.slice(0, SHOWN_LINES).map((line) => {
    const text = JSON.stringify(line).slice(1, -1);
    return text.length > SHOWN_CHARACTERS ? `${text.slice(0, SHOWN_CHARACTERS)}…` : text;
  });
  const rest = lines.length > shown.length ? [`    … ${lines.length - shown.length} more lines`] : [];
  return [`    ${name.padEnd(5)} ${shown.join('\n          ')}`, ...rest];
}
