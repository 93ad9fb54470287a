import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { SkillcellError } from '../../../contracts/errors/skillcell-error.ts';
import { LIMIT_CEILINGS } from '../../../contracts/jobs/limits.ts';
import type { Isolation } from '../../../contracts/jobs/result.ts';
import type { FleetWorker, FleetWorkerOptions } from '../../../worker/fleet-worker.ts';
import { cliRunners } from '../../job/runners.ts';
import { type CommandContext, flagValue } from '../../options/flags/command.ts';
import { fleetFromFlags, nameFromFlag } from '../../options/flags/fleet-flags.ts';
import { type NumberRange, parseNumber } from '../../options/flags/parse-number.ts';
import { keepSmall } from '../../options/serving/keep-small.ts';

const SLOTS = { minimum: 1, maximum: 10_000, unit: 'sandboxes' };
const POOL = { minimum: 0, maximum: 1_000, unit: 'sandboxes' };
const MEMORY = { minimum: 1, maximum: LIMIT_CEILINGS.memoryMib, unit: 'MiB' };
const CPUS = { minimum: 0.01, maximum: LIMIT_CEILINGS.cpus, fraction: true, unit: 'processors' };
const DRAIN = { minimum: 0, maximum: 86_400, unit: 'seconds' };
/** Time for the end of sandboxes and for the news to their clients, after `--drain`. */
const END_MS = 10_000;

/** `skillcell worker`: runs sandboxes for the clients of a fleet until it is interrupted, or asked to drain. */
export async function runWorker(context: CommandContext): Promise<number> {
  const { output, interruption, json } = context;
  const { drainMs, ...options } = workerFlags(context);
  const { signal } = interruption;
  keepSmall();
  await using worker = await join(context, options);
  const { name, queue, isolation, build, slots } = worker;
  interruption.allow(drainMs + END_MS);
  const settleUrgent = interruption.onUrgent(() => worker.close());
  await output.note(
    `worker ${name} offers the queue ${queue} ${slots} sandboxes at level ${isolation}, build ${build}`,
  );
  if (json) await output.text(`${JSON.stringify({ name, queue, isolation, build, slots })}\n`);
  const over = AbortSignal.any([signal, worker.asked]);
  if (!over.aborted) await once(over, 'abort');
  await output.note(
    `worker ${name} ${signal.aborted ? 'ends' : 'was asked to drain'}; ${worker.running} sandboxes run`,
  );
  await Promise.race([worker.drain(), pause(drainMs, undefined, { ref: false })]);
  await worker.close();
  settleUrgent();
  return 0;
}

type WorkerFlags = Omit<FleetWorkerOptions, 'runner'> & { drainMs: number };

/** @throws SkillcellError `usage.invalid` or `file.unreadable` */
function workerFlags(context: CommandContext): WorkerFlags {
  const { arguments: given } = context;
  const number = (flag: string, range: NumberRange): number | undefined => {
    const text = flagValue(given, flag);
    return text === undefined ? undefined : parseNumber(`--${flag}`, text, range);
  };
  const options = {
    queue: nameFromFlag(context, 'queue'),
    name: nameFromFlag(context, 'name'),
    isolation: flagValue(given, 'isolation') as Isolation | undefined,
    slots: number('slots', SLOTS),
    pool: number('pool', POOL),
    maxMemoryMib: number('max-memory', MEMORY),
    maxCpus: number('max-cpus', CPUS),
  };
  const drainMs = (number('drain', DRAIN) ?? 300) * 1_000;
  const set = Object.entries(options).filter(([, value]) => value !== undefined);
  return { ...fleetFromFlags(context), ...Object.fromEntries(set), drainMs };
}

/** Joins with the first runner that has the level. @throws SkillcellError `runner.isolation-unmet` with the reasons of all */
async function join(
  { arguments: given, io, output, interruption }: CommandContext,
  options: Omit<WorkerFlags, 'drainMs'>,
): Promise<FleetWorker> {
  const { signal } = interruption;
  const wanted = flagValue(given, 'runner') ?? 'auto';
  const runners = cliRunners(io).filter(({ name }) => wanted === 'auto' || wanted === name);
  const { createFleetWorker } = await import('../../../worker/fleet-worker.ts');
  const { createLogger } = await import('../../../jobs/create-logger.ts');
  const logger = createLogger();
  const refusals: SkillcellError[] = [];
  for (const runner of runners) {
    try {
      return await createFleetWorker({ ...options, runner, logger }, { signal });
    } catch (error) {
      if (!SkillcellError.isInstance(error) || error.code !== 'runner.isolation-unmet') throw error;
      refusals.push(error);
      if (runner !== runners.at(-1)) await output.note(`runner ${runner.name} is not taken: ${error.message}`);
    }
  }
  const message = refusals.map((refusal) => refusal.message).join(' ');
  throw new SkillcellError('runner.isolation-unmet', message, { cause: refusals[0] });
}
