import { visibleText } from '../../contracts/text/quoted-text.ts';
import { cutTo } from '../../skills/text/text.ts';
import type { EvalSide, EvalSideReport, SkillEvalReport, TokenCount } from '../eval-report.ts';
import { sideWords } from './judge-runs.ts';
import type { TriggerReport } from './judge-triggers.ts';

/** Characters of one cell. */
const CELL = 72;

/** A report for people, as lines. */
export function evalTable(report: SkillEvalReport): string[] {
  const { skill, verdict, reason, sides, difference, evals, runs, models, notes } = report;
  const columns = sides.map(({ side }) => side);
  return [
    `${skill.id}: ${verdict}${reason === undefined ? '' : ` (${reason})`}`,
    '',
    ...aligned([['', 'pass rate', 'runs passed', 'tokens in', 'out'], ...sides.map((side) => sideRow(side))]),
    ...(difference === null
      ? []
      : [
          `difference: ${points(difference.value)} points, 95 % interval ${points(difference.low)} to ${points(difference.high)}, p = ${chance(difference.pValue)}`,
        ]),
    '',
    ...aligned([
      ['eval', ...columns],
      ...evals.flatMap(({ id, sides: rates, assertions }) => [
        [id, ...columns.map((side) => percent(rates[side]?.passRate ?? null))],
        ...assertions.map(({ text, checked, passed }) => [
          `  ${text}`,
          ...columns.map((side) => (checked ? fraction(passed, rates, side) : 'unchecked')),
        ]),
      ]),
    ]),
    '',
    `${runs} runs of each eval on each side${models.length === 0 ? '' : `, by ${models.join(', ')}`}`,
    ...notes,
  ].map(visibleText);
}

/** How well triggers choose, for people: the wrongly judged queries, and the sums. */
export function triggerTable({ queries, ...sums }: TriggerReport): string[] {
  const wrong = queries.filter(({ shouldTrigger, triggered }) => shouldTrigger !== triggered);
  return [
    ...aligned([
      ['', 'brought in', 'left out'],
      ['should trigger', String(sums.truePositives), String(sums.falseNegatives)],
      ['should not', String(sums.falsePositives), String(sums.trueNegatives)],
    ]),
    `precision ${percent(sums.precision)}, recall ${percent(sums.recall)}`,
    ...wrong.map(({ query, triggered, hits, leftOut }) => {
      const why = triggered ? hits.join(', ') : (leftOut ?? 'no trigger of it is in the query');
      return `${triggered ? 'should not have come in' : 'should have come in'}: ${cutTo(query, CELL)} (${why})`;
    }),
  ].map(visibleText);
}

function sideRow({ side, passRate, passed, measured, tokens }: EvalSideReport): string[] {
  return [
    sideWords(side),
    percent(passRate),
    `${passed} of ${measured}`,
    count(tokens, 'input'),
    count(tokens, 'output'),
  ];
}

function fraction(
  passed: Partial<Record<EvalSide, number>>,
  sides: Partial<Record<EvalSide, { measured: number }>>,
  side: EvalSide,
): string {
  return `${passed[side] ?? 0} of ${sides[side]?.measured ?? 0}`;
}

function percent(rate: number | null): string {
  return rate === null ? '–' : `${Math.round(rate * 100)} %`;
}

function points(value: number): string {
  const rounded = Math.round(value * 100);
  return rounded > 0 ? `+${rounded}` : String(rounded).replace('-', '−');
}

function chance(pValue: number): string {
  return pValue < 0.001 ? pValue.toExponential(0) : pValue.toFixed(3);
}

function count(tokens: TokenCount, part: keyof TokenCount): string {
  return tokens[part] === null ? '?' : tokens[part].toLocaleString('en');
}

/** Rows with columns of equal width, the first to the left, the others to the right. */
function aligned(rows: readonly (readonly string[])[]): string[] {
  const shown = rows.map((row) =>
    row.map((cell) =>
      cutTo(
        cell.replaceAll(/\s+/g, (run) => (run.includes('\n') ? ' ' : run)),
        CELL,
      ),
    ),
  );
  const widths = (shown[0] ?? []).map((_, index) => Math.max(...shown.map((row) => row[index]?.length ?? 0)));
  return shown.map((row) =>
    row
      .map((cell, index) => (index === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[index] ?? 0)))
      .join('  ')
      .trimEnd(),
  );
}
