/**
 * Refuses regular expressions of `src/` and `runtime/` whose time is not linear in the text, by the verdicts in
 * `scripts/expressions/judged.json`. With `--write`, `recheck` judges the new ones and keeps its verdicts; with `--all`, it judges every
 * expression again. A plain check judges nothing: its result would depend on the speed of the machine.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { EXPRESSION_EXCEPTIONS } from './expressions/exceptions.ts';
import { type Expression, findExpressions } from './expressions/find-expressions.ts';

const TIMEOUT_MS = 20_000;

/** The verdict of `recheck` on an expression: `linear`, or the kind of the problem. */
export type Verdict = string;

/** Lists the faults of expressions by their verdicts. An unused exception is a fault as well. */
export function expressionFaults(
  expressions: readonly Expression[],
  verdicts: Readonly<Record<string, Verdict>>,
  exceptions: readonly { file: string; part: string }[] = EXPRESSION_EXCEPTIONS,
): string[] {
  const used = new Set<object>();
  const faults = expressions.flatMap((expression) => {
    const { file, line, written, pattern } = expression;
    const verdict = pattern === undefined ? 'unknown until it runs' : (verdicts[keyOf(pattern)] ?? 'not judged');
    if (verdict === 'linear') return [];
    const exception = exceptions.find((each) => each.file === file && written.includes(each.part));
    if (exception === undefined)
      return [`${file}:${line}: an expression must be linear, got verdict "${verdict}" for ${written.slice(0, 200)}`];
    used.add(exception);
    return [];
  });
  const unused = exceptions.filter((each) => !used.has(each));
  return [
    ...faults,
    ...unused.map(({ file, part }) => `${file}: no expression needs the exception, got ${JSON.stringify(part)}`),
  ];
}

/** The key of an expression in the list of verdicts. */
export function keyOf({ source, flags }: { source: string; flags: string }): string {
  return `/${source}/${flags}`;
}

async function judge({ source, flags }: { source: string; flags: string }): Promise<Verdict> {
  const { checkSync } = await import('recheck');
  const found = checkSync(source, flags, { timeout: TIMEOUT_MS, randomSeed: 1 });
  if (found.status === 'safe') return 'linear';
  return found.status === 'vulnerable' ? found.complexity.type : `unknown: ${found.error.kind}`;
}

if (import.meta.main) {
  // The pure JavaScript backend; the other backends start platform-specific programs.
  process.env['RECHECK_BACKEND'] = 'pure';
  const root = fileURLToPath(new URL('..', import.meta.url));
  const path = fileURLToPath(new URL('expressions/judged.json', import.meta.url));
  const [writes, judgesAll] = ['--write', '--all'].map((flag) => process.argv.includes(flag));
  const known = judgesAll ? {} : (JSON.parse(readFileSync(path, 'utf8')) as Record<string, Verdict>);
  const expressions = findExpressions(root);
  const verdicts: Record<string, Verdict> = {};
  for (const { pattern } of expressions) {
    if (pattern === undefined) continue;
    const key = keyOf(pattern);
    verdicts[key] ??= known[key] ?? (writes || judgesAll ? await judge(pattern) : 'not judged, which --write does');
  }
  const sorted = Object.fromEntries(Object.entries(verdicts).toSorted(([a], [b]) => (a < b ? -1 : 1)));
  if (writes) writeFileSync(path, `${JSON.stringify(sorted, null, 2)}\n`);
  const faults = expressionFaults(expressions, verdicts);
  for (const fault of faults) process.stderr.write(`${fault}\n`);
  if (faults.length > 0) process.exitCode = 1;
}
