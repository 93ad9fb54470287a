import type { Difference } from './compare-runs.ts';
import type { ComparedProgram } from './run-fidelity.ts';

/** The most lines and characters that are shown of each side. */
const SHOWN_LINES = 12;
const SHOWN_CHARACTERS = 200;

/** The lines that are printed after each program: none where both runs are the same. */
export function describeCompared({ id, level, verdict, differences, reason }: ComparedProgram): string {
  if (verdict === 'skipped') return `skipped ${id} (${level}): ${reason}\n`;
  if (verdict !== 'differs') return '';
  return [`DIFFERS ${id} (${level})`, ...differences.flatMap((each) => describe(each)), ''].join('\n');
}

/** The sums. The last line is the result; the lines before it count the differences on purpose. */
export function closingLines(compared: readonly ComparedProgram[]): string {
  const count = (wanted: ComparedProgram['verdict']): number =>
    compared.filter(({ verdict }) => verdict === wanted).length;
  const explained = new Map<string, number>();
  for (const { verdict, reason = '' } of compared)
    if (verdict === 'on purpose') explained.set(reason, (explained.get(reason) ?? 0) + 1);
  const rows = [...explained].map(([reason, programs]) => `${programs} differ on purpose: ${reason}\n`);
  return `${rows.join('')}${count('same')} same, ${count('differs')} differ, ${count('skipped')} skipped\n`;
}

/** Both sides, from the first line that differs. */
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
