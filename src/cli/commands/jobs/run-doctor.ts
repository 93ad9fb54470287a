import { ISOLATION_LEVELS } from '../../../contracts/jobs/result.ts';
import type { RunnerReport } from '../../../sandboxes/runner.ts';
import type { CommandContext } from '../../options/flags/command.ts';
import { fleetOfJobs } from '../../options/flags/fleet-flags.ts';
import { createOrchestrator } from '../../../jobs/create-orchestrator.ts';
import { cliRunners, jobRunners } from '../../job/runners.ts';
import { examineFleet, workerOfPlace } from '../../doctor/examine-fleet.ts';
import { examineMachine } from '../../doctor/examine-machine.ts';
import { NETWORK_CLIENTS, networkClients } from '../../doctor/network-clients.ts';
import type { MachineCheck } from '../../doctor/machine-check.ts';
import { escapeLine } from '../../terminal/escape-controls.ts';

/** A level, with the programs of `NETWORK_CLIENTS` that its jobs have; null if they are not known. */
type LevelReport = RunnerReport & { clients?: string[] | null };

/**
 * `skillcell doctor`: starts sandboxes to find the isolation levels of this machine, and of the fleet that is named, and gives advice.
 *
 * @returns 1 when no isolation is available, or the fleet cannot be used
 */
export async function runDoctor(context: CommandContext): Promise<number> {
  const { output, json, interruption, io } = context;
  const fleet = fleetOfJobs(context);
  const ofFleet = fleet === undefined ? [] : await examineFleet(fleet, interruption.signal);
  const isUsable = ofFleet.every(({ ok, needed }) => ok || !needed);
  // A worker's user may not ask for sandboxes.
  const asks = fleet !== undefined && isUsable && workerOfPlace(fleet) === undefined;
  const candidates = asks ? await jobRunners(context, { fleet }) : cliRunners(io);
  const orchestrator = createOrchestrator({ runners: candidates });
  const release = interruption.onUrgent(() => orchestrator.close());
  // Side by side: each may have to wait for an engine that hangs.
  const [ofMachine, ...reports] = await Promise.all([
    examineMachine(io),
    ...candidates.map((runner) => runner.probe({ signal: interruption.signal })),
  ]);
  const runners = await Promise.all(
    reports.flat().map(async (report): Promise<LevelReport> => {
      // Level none has no network.
      if (!report.available || report.isolation === 'none') return report;
      return { ...report, clients: await networkClients(orchestrator, report, interruption.signal) };
    }),
  );
  await orchestrator.close();
  release();
  const reached = runners.filter(({ available }) => available).map(({ isolation }) => isolation);
  const best = ISOLATION_LEVELS.findLast((level) => level !== 'none' && reached.includes(level)) ?? null;
  const code = best === null || !isUsable ? 1 : 0;
  const checks = [...ofMachine, ...ofFleet];
  if (json) {
    await output.json({ ready: best !== null, best, checks, runners });
    return code;
  }
  const verdict =
    best === null
      ? 'No isolation here: jobs run only with --isolation none, for code that you trust.'
      : `Ready: jobs run at level ${best}.`;
  const fault = isUsable ? '' : 'The fleet cannot be used.\n';
  await output.text(`${checks.map(checkLines).join('')}${runners.map(runnerLines).join('')}${verdict}\n${fault}`);
  return code;
}

function checkLines({ id, ok, needed, found, advice }: MachineCheck): string {
  const state = needed ? 'MISSING' : 'note   ';
  return `${ok ? 'ok     ' : state} ${id}: ${escapeLine(found)}\n${advice === undefined ? '' : `        ${advice}\n`}`;
}

function runnerLines({ runner, isolation, available, reasons, limits, clients }: LevelReport): string {
  const head = `${available ? 'ok     ' : 'MISSING'} runner ${runner}, isolation ${isolation}\n`;
  const held = Object.entries(limits).map(([name, how]) => `${name} ${how === 'none' ? 'not held' : how}`);
  const more = [
    ...reasons,
    ...(available ? [`limits: ${held.join(', ')}`] : []),
    ...(clients === undefined ? [] : [`network clients: ${clientsLine(clients)}`]),
  ];
  return `${head}${more.map((line) => `        ${escapeLine(line)}\n`).join('')}`;
}

function clientsLine(clients: readonly string[] | null): string {
  if (clients === null) return 'not known, because the job that looks for them failed';
  const missing = NETWORK_CLIENTS.filter((name) => !clients.includes(name));
  const absent = missing.length === 0 ? '' : `no ${missing.join(', ')}`;
  return [clients.join(', '), absent].filter((part) => part !== '').join('; ');
}
