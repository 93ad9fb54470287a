import type { Machine } from './machine.ts';
import type { Measurement } from './measurement.ts';

/** The measurements as a readable table. */
export function tableOf(machine: Machine, measurements: readonly Measurement[]): string {
  const head = ['id', 'median', 'p95', 'unit', 'baseline', 'its median', 'ratio', 'goal', ''];
  const rows = measurements.map((row) => [
    row.id,
    `${row.median}`,
    `${row.p95}`,
    row.unit,
    row.baseline.id,
    `${row.baseline.median}`,
    row.ratio.toFixed(2),
    row.goal ?? '',
    row.failed === undefined ? '' : `failed: ${row.failed}`,
  ]);
  const widths = head.map((title, column) =>
    title === '' ? 0 : Math.max(title.length, ...rows.map((row) => row[column]?.length ?? 0)),
  );
  const lines = [head, widths.map((width) => '-'.repeat(width)), ...rows].map((cells) =>
    cells
      .map((cell, column) =>
        /^([\d.]+|NaN)$/.test(cell) ? cell.padStart(widths[column] ?? 0) : cell.padEnd(widths[column] ?? 0),
      )
      .join('  ')
      .trimEnd(),
  );
  const { platform, processor, processors, memoryMib, node, load } = machine;
  return [
    `${platform}, ${processors} × ${processor}, ${memoryMib} MiB, Node ${node}, load ${load}`,
    '',
    ...lines,
    '',
  ].join('\n');
}
