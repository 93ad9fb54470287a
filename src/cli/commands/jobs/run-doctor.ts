import { ISOLATION_LEVELS } from '../../../contracts/jobs/result.ts';
import type { RunnerReport } from '../../../sandboxes/runner.ts';
import type { CommandContext } from '../../options/flags/command.ts';
import { cliRunners } from '../../job/runners.ts';
import { examineMachine } from '../../doctor/examine-machine.ts';
import type { MachineCheck } from '../../doctor/machine-check.ts';
import { escapeLine } from '../../terminal/escape-controls.ts';

/**
 * `skillcell doctor`: starts sandboxes to find the isolation levels of this machine, and gives advice.
 *
 * @returns 1 when no isolation is available
 */
export async function runDoctor({ output, json, interruption, io }: CommandContext): Promise<number> {
  const candidates = cliRunners(io);
  const close = async (): Promise<void> => {
    await Promise.all(candidates.map((runner) => runner.close()));
  };
  const release = interruption.onUrgent(close);
  // Side by side: each may have to wait for an engine that hangs.
  const [checks, ...reports] = await Promise.all([
    examineMachine(io),
    ...candidates.map((runner) => runner.probe({ signal: interruption.signal })),
  ]);
  const runners = reports.flat();
  await close();
  release();
  const reached = runners.filter(({ available }) => available).map(({ isolation }) => isolation);
  const best = ISOLATION_LEVELS.findLast((level) => level !== 'none' && reached.includes(level)) ?? null;
  const code = best === null ? 1 : 0;
  if (json) {
    await output.json({ ready: best !== null, best, checks, runners });
    return code;
  }
  const verdict =
    best === null
      ? 'No isolation here: jobs run only with --isolation none, for code that you trust.'
      : `Ready: jobs run at level ${best}.`;
  await output.text(`${checks.map(checkLines).join('')}${runners.map(runnerLines).join('')}${verdict}\n`);
  return code;
}

function checkLines({ id, ok, needed, found, advice }: MachineCheck): string {
  const state = needed ? 'MISSING' : 'note   ';
  return `${ok ? 'ok     ' : state} ${id}: ${escapeLine(found)}\n${advice === undefined ? '' : `        ${advice}\n`}`;
}

function runnerLines({ runner, isolation, available, reasons, limits }: RunnerReport): string {
  const head = `${available ? 'ok     ' : 'MISSING'} runner ${runner}, isolation ${isolation}\n`;
  const held = Object.entries(limits).map(([name, how]) => `${name} ${how === 'none' ? 'not held' : how}`);
  const more = [...reasons, ...(available ? [`limits: ${held.join(', ')}`] : [])];
  return `${head}${more.map((line) => `        ${escapeLine(line)}\n`).join('')}`;
}
