import type { ScanCode } from './scan-rules.ts';
import type { FoundInFile } from './scan-finding.ts';

/** Most findings of one code that are listed for one file; the rest is only counted, so that a report stays small. */
export const TOLD = 1_000;
/** Number of findings of one code at which those with the last places are dropped. */
const HELD = 2 * TOLD;

/** Findings of one file, with a limit for each code. */
export interface KeptFindings {
  /** In the order of places, findings about the whole file first; findings at one place in the order of discovery. */
  told: FoundInFile[];
  /** Total count for each code that has more findings than are listed. */
  untold: [ScanCode, number][];
}

interface Held {
  count: number;
  findings: { found: FoundInFile; order: number }[];
}

/** Keeps the first findings of each code and counts the rest. Memory is bounded for any number of findings. */
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
