import type { CommandContext } from '../../options/flags/command.ts';
import { checkFleetName, fleetFromFlags } from '../../options/flags/fleet-flags.ts';

/** `skillcell fleet drain`: asks a worker to take no further demand, and waits for its answer. */
export async function runFleetDrain(context: CommandContext): Promise<number> {
  const { arguments: given, output, json, interruption } = context;
  const name = checkFleetName('NAME', given.operands[0] ?? '');
  const fleet = fleetFromFlags(context);
  const { drainWorker } = await import('../../../sandboxes/fleet/drain-worker.ts');
  const running = await drainWorker({ ...fleet, signal: interruption.signal }, name);
  if (json) await output.json({ worker: name, running });
  else await output.text(`worker ${name} takes no further demand; ${running} sandboxes run\n`);
  return 0;
}
