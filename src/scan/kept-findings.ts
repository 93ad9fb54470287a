import type { ScanCode } from './scan-rules.ts';
import type { FoundInFile } from './scan-finding.ts';

/** So many findings of one code are told of one file; of more, how many. Nobody reads a million lines, and a report has to be held. */
export const TOLD = 1_000;
/** So many are held of one code until those that stand last are let go. */
const HELD = 2 * TOLD;

/** What is told of the findings of one file. */
export interface KeptFindings {
  /** In the order of places, those about the file as a whole first; of one place as they were found. */
  told: FoundInFile[];
  /** Of a code with more findings than are told, how many there are. */
  untold: [ScanCode, number][];
}

interface Held {
  count: number;
  findings: { found: FoundInFile; order: number }[];
}

/** Keeps the first findings of each code, and counts the rest. What is held is bounded, however many there are. */
export function keptFindings(findings: Iterable<FoundInFile>): KeptFindings {
  const byCode = new Map<ScanCode, Held>();
  let order = 0;
  for (const found of findings) {
    let held = byCode.get(found.code);
    if (held === undefined) byCode.set(found.code, (held = { count: 0, findings: [] }));
    held.count += 1;
    held.findings.push({ found, order });
    order += 1;
    if (held.findings.length >= HELD) held.findings = firstOf(held.findings);
  }
  const told = [...byCode.values()].flatMap((held) => firstOf(held.findings)).toSorted(byPlace);
  return {
    told: told.map(({ found }) => found),
    untold: [...byCode].flatMap(([code, { count }]): [ScanCode, number][] => (count > TOLD ? [[code, count]] : [])),
  };
}

function firstOf(findings: Held['findings']): Held['findings'] {
  return findings.toSorted(byPlace).slice(0, TOLD);
}

function byPlace(one: Held['findings'][number], other: Held['findings'][number]): number {
  return (one.found.at ?? -1) - (other.found.at ?? -1) || one.order - other.order;
}
