import { packageVersion } from '../../../contracts/package-root.ts';
import { sarifLog, sarifResult } from '../../../scan/sarif-log.ts';
import { sarifPlaces } from '../../../scan/sarif-places.ts';
import { SCAN_SEVERITIES, type ScanSeverity } from '../../../scan/scan-rules.ts';
import { scanSources, type SourceScan } from '../../../scan/scan-sources.ts';
import type { Unscanned } from '../../../scan/scan-tree.ts';
import { type CommandContext, flagValue } from '../../options/flags/command.ts';
import { findingText } from '../../terminal/finding-text.ts';
import { openScanSources } from '../../options/skills/open-scan-sources.ts';
import { escapeLine } from '../../terminal/escape-controls.ts';
import { writeJsonList } from '../../terminal/json-list.ts';
import { usageError } from '../../terminal/usage-error.ts';

/** A report without its findings, which are streamed and not kept. */
interface ScanReport {
  unscanned: Unscanned[];
  /** Bytes that every rule checked; with the bytes of `unscanned` they are all. */
  scannedBytes: number;
}

/** `skillcell skills scan`: exit code 1 when something of the severity of `--fail-on`, or graver, is found. */
export async function runScan(context: CommandContext): Promise<number> {
  const { arguments: given, output, json, io, interruption } = context;
  // A scan never yields, so a listener would delay a signal to its end. A killed scan leaves nothing behind.
  interruption.release();
  const format = flagValue(given, 'format') ?? (json ? 'json' : 'text');
  if (given.flags.has('json') && format !== 'json')
    throw usageError('--format', '--json is the same as --format json', format);
  const report: ScanReport = { unscanned: [], scannedBytes: 0 };
  const counts: Record<ScanSeverity, number> = { high: 0, medium: 0, low: 0 };
  const places = sarifPlaces(io.cwd(), given.operands);
  const list =
    format === 'sarif'
      ? writeJsonList(output, 'results', () => sarifLog(packageVersion(), report.unscanned, places))
      : writeJsonList(output, 'findings', () => ({ findings: [], ...report }));
  for (const path of given.operands) {
    const { sources, shown } = await openScanSources(path, io);
    for (const found of scanSources(sources)) {
      const scan = { ...found, findings: named(found.findings, shown), unscanned: named(found.unscanned, shown) };
      for (const { severity } of scan.findings) counts[severity] += 1;
      report.scannedBytes += scan.scannedBytes;
      if (format === 'text') await output.text(describe(scan));
      else
        for (const finding of scan.findings)
          await list.add(format === 'sarif' ? sarifResult(finding, places) : finding);
      for (const row of scan.unscanned) report.unscanned.push(row);
    }
  }
  if (format === 'text') await output.text(summary(counts, report));
  else await list.end();
  return reaches(counts, flagValue(given, 'fail-on')) ? 1 : 0;
}

/** Paths as the caller gave them. */
function named<Row extends { path: string }>(rows: readonly Row[], shown: (path: string) => string): Row[] {
  return rows.map((row) => ({ ...row, path: shown(row.path) }));
}

function describe({ findings, unscanned }: Pick<SourceScan, 'findings' | 'unscanned'>): string {
  const lines = findings.flatMap((found) => [findingText(found), `  ${found.advice}`]);
  const rest = unscanned.map(({ path, bytes, reason }) => `unscanned ${path}: ${bytes} bytes, ${reason}`);
  return [...lines, ...rest].map((line) => `${escapeLine(line)}\n`).join('');
}

function summary(counts: Readonly<Record<ScanSeverity, number>>, { scannedBytes, unscanned }: ScanReport): string {
  const found = SCAN_SEVERITIES.map((severity) => `${counts[severity]} ${severity}`).join(', ');
  const left = unscanned.reduce((sum, { bytes }) => sum + bytes, 0);
  const names = unscanned.length === 0 ? '' : ` in ${unscanned.length} places`;
  return `${found}; ${scannedBytes} bytes scanned, ${left} not${names}. No finding does not mean that a skill is safe.\n`;
}

function reaches(counts: Readonly<Record<ScanSeverity, number>>, failOn: string | undefined): boolean {
  const index = SCAN_SEVERITIES.findIndex((severity) => severity === failOn);
  return SCAN_SEVERITIES.slice(0, index + 1).some((severity) => counts[severity] > 0);
}
