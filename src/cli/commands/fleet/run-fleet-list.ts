import type { ListedFleet, ListedQueue, ListedWorker } from '../../../sandboxes/fleet/list-fleet.ts';
import type { CommandContext } from '../../options/flags/command.ts';
import { fleetFromFlags } from '../../options/flags/fleet-flags.ts';

/** `skillcell fleet list`: prints the workers of a fleet, and the demands that wait for them. */
export async function runFleetList(context: CommandContext): Promise<number> {
  const { output, json, interruption } = context;
  const fleet = fleetFromFlags(context);
  const { listFleet } = await import('../../../sandboxes/fleet/list-fleet.ts');
  const listed = await listFleet(fleet, { signal: interruption.signal });
  if (json) await output.json(listed);
  else await output.text(tables(listed));
  return 0;
}

function tables({ workers, queues }: ListedFleet): string {
  if (workers.length === 0) return 'No worker is in the fleet.\n';
  const running = ['WORKER', 'QUEUE', 'LEVEL', 'BUILD', 'RUNNING', 'BEAT', ''];
  const waiting = ['QUEUE', 'LEVEL', 'BUILD', 'WAITING', 'OLDEST'];
  return `${table([running, ...workers.map(workerCells)])}\n${table([waiting, ...queues.map(queueCells)])}`;
}

function workerCells({ name, queue, isolation, build, slots, running, draining, beatMs }: ListedWorker): string[] {
  return [name, queue, isolation, build, `${running}/${slots}`, seconds(beatMs), draining ? 'draining' : ''];
}

function queueCells({ queue, isolation, build, waiting, oldestMs }: ListedQueue): string[] {
  return [queue, isolation, build, String(waiting), oldestMs === null ? '-' : seconds(oldestMs)];
}

function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(1)} s`;
}

function table(rows: readonly string[][]): string {
  const widths = (rows[0] ?? []).map((_title, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return rows
    .map(
      (row) =>
        `${row
          .map((cell, at) => cell.padEnd(widths[at] ?? 0))
          .join('  ')
          .trimEnd()}\n`,
    )
    .join('');
}
