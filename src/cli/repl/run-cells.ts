import type { Session, SessionRun } from '../../contracts/jobs/session.ts';
import type { CliOutput } from '../terminal/cli-output.ts';
import { dotCommand } from './dot-command.ts';
import type { CellReader } from './read-cells.ts';
import { showRun, shownResult } from './show-run.ts';

/** Options for running pieces. */
export interface CellOptions {
  output: CliOutput;
  /** Whether runs are not shown one by one. */
  json: boolean;
  /** Stops the current run; no other follows. */
  signal: AbortSignal;
}

/** Runs the input to its end, piece by piece. */
export async function runCells(
  cells: CellReader,
  session: Session,
  { output, json, signal }: CellOptions,
): Promise<SessionRun[]> {
  const runs: SessionRun[] = [];
  for await (const cell of cells) {
    if (cell.startsWith('.') && (await dotCommand(cell, cells, session, output.note))) continue;
    const stream = session.stream(cell, { language: cells.language, signal });
    stream.result.catch(() => undefined);
    for await (const event of stream) {
      if (json) continue;
      if (event.type === 'output') await output.program(event.stream, event.bytes);
      else if (event.type === 'result') await output.text(`${shownResult(event.result)}\n`);
    }
    const run = await stream.result;
    runs.push(run);
    if (!json) await showRun(run, output);
  }
  return runs;
}
