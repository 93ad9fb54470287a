import { ELSEWHERE_CASES, LATER_CASES } from '../test/attacks/later.ts';

/** One case at one level, with its state in a run of the attacks. */
export interface AttackState {
  id: string;
  title: string;
  level: string;
  state: 'blocked' | 'OPEN' | 'skipped';
}

const LEVELS = ['none', 'namespace', 'container', 'host'];
const CELLS = { blocked: 'blocked', OPEN: '**open**', skipped: 'not tried' } as const;

/** The document of the attacks. It contains no times, sizes or machine names, so that it changes only with the attacks. */
export function attacksDocument(rows: readonly AttackState[]): string {
  const cases = new Map<string, { id: string; title: string; cells: Map<string, string> }>();
  for (const { id, title, level, state } of rows) {
    // Tests of the tables themselves are not cases.
    if (id === '') continue;
    const key = `${id} ${title}`;
    const row = cases.get(key) ?? { id, title, cells: new Map<string, string>() };
    row.cells.set(level === '' ? 'host' : level, CELLS[state]);
    cases.set(key, row);
  }
  const sorted = [...cases.values()].toSorted((a, b) => order(a.id, b.id) || order(a.title, b.title));
  const line = ({ id, title, cells }: (typeof sorted)[number]): string =>
    `| ${id} | ${title.replaceAll('|', '\\|')} | ${LEVELS.map((level) => cells.get(level) ?? '').join(' | ')} |`;
  return `# Attacks

Made by \`WRITE_ATTACKS=1 npm run attacks\`. [Threats](threats.md) explains the ids, with the outcome that each requires.

Each line is a test in \`test/attacks/\`: an attempt of user code, a file or a fault, and its result at each level; an empty cell is a level
without the test. The entry reads messages in the same way at every level, so each message is tried at one level. Every attack has a control
in which it succeeds: the same program without a sandbox, or in a sandbox or container that lacks one line. \`npm run ablation\` tries each
argument of the launchers of level namespace and each line of a container. Level \`kernel\` has its own list,
\`test/sandboxes/docker/kernel-level.test.ts\`.

| case | attack | ${LEVELS.join(' | ')} |
|---|---|${'---|'.repeat(LEVELS.length)}
${sorted.map(line).join('\n')}

## In other tests

| case | test |
|---|---|
${table(ELSEWHERE_CASES)}

## Not tried yet

| case | waits for |
|---|---|
${table(LATER_CASES)}
`;
}

function table(rows: Record<string, string>): string {
  return Object.entries(rows)
    .map(([id, text]) => `| ${id} | ${text} |`)
    .join('\n');
}

function order(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
