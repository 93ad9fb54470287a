import type { ScanSource } from './read/scan-source.ts';
import { compareCodePoints } from '../skills/text/text.ts';
import { scanFinding } from './scan-finding.ts';
import { scanTree, type TreeScan } from './scan-tree.ts';

/** Findings of one skill, or of a folder outside of skills. Paths are below the scanned folder. */
export interface SourceScan extends TreeScan {
  /** Path below the scanned folder, `.` for the folder itself. */
  folder: string;
}

/** Findings about links, which count only within a skill. */
const OF_SKILLS: ReadonlySet<string> = new Set(['scan.reference-missing', 'scan.reference-outside']);

/** Scans the sources, one after the other. */
export function* scanSources(sources: Iterable<ScanSource>): Generator<SourceScan> {
  for (const { folder, isSkill, tree, unread, found } of sources) {
    const scan = scanTree(tree);
    const shown = (path: string): string => (folder === '.' ? path : `${folder}/${path}`);
    const others = found.map((each) => scanFinding(each.found.code, each.found.message, { path: each.path }));
    const byPath = <Row extends { path: string }>(rows: Row[]): Row[] =>
      rows.map((row) => ({ ...row, path: shown(row.path) })).toSorted((a, b) => compareCodePoints(a.path, b.path));
    yield {
      folder,
      findings: byPath([...scan.findings.filter(({ code }) => isSkill || !OF_SKILLS.has(code)), ...others]),
      scannedBytes: scan.scannedBytes,
      unscanned: byPath([...scan.unscanned, ...unread]),
    };
  }
}
