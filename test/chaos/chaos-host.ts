/**
 * A typical host. It takes jobs from its standard input, one a line, and reports each event on its standard output. The referee kills it. Argument: a
 * {@link ChaosHostSettings} as JSON.
 */
import { createInterface } from 'node:readline';
import { createOrchestrator } from '../../src/jobs/create-orchestrator.ts';
import type { JobResult } from '../../src/contracts/jobs/result.ts';
import type { JobStream } from '../../src/jobs/orchestrator.ts';
import { createDockerRunner } from '../../src/sandboxes/docker/docker-runner.ts';
import { createFleetRunner } from '../../src/sandboxes/fleet/fleet-runner.ts';
import { createLocalRunner } from '../../src/sandboxes/local/local-runner.ts';
import { currentOwner, ownerName } from '../../src/durable/owner.ts';
import { CHAOS_LEASE_MS, type ChaosHostSettings, type ChaosJob, type HostOrder, type HostWord } from './host-words.ts';

const settings = JSON.parse(process.argv[2] ?? '{}') as ChaosHostSettings;
const { bundle, runner, stateDir, poolSize, sweepIntervalMs, fleetUrl } = settings;
const say = (word: HostWord): void => void process.stdout.write(`${JSON.stringify(word)}\n`);
const runners = { local: [createLocalRunner({ bundle })], docker: [createDockerRunner({ bundle })] };
const ownRunners = runner === 'both' ? [...runners.docker, ...runners.local] : runners[runner];

const orchestrator = createOrchestrator({
  runners: fleetUrl === undefined ? ownRunners : [createFleetRunner({ url: fleetUrl, leaseMs: CHAOS_LEASE_MS })],
  stateDir,
  pool: { size: poolSize },
  concurrency: 3,
  sweepIntervalMs,
});
say({ word: 'ready', owner: ownerName(currentOwner()) });

for await (const line of createInterface({ input: process.stdin })) {
  const order = JSON.parse(line) as HostOrder;
  if (order.order === 'job') {
    const { kind, ...job } = order.job;
    if (kind === 'session') void conclude(job.jobId, hold(job));
    else void follow(orchestrator.stream({ kind, ...job }));
  } else if (order.order === 'cancel') orchestrator.cancel(order.jobId);
  else {
    await orchestrator.close();
    say({ word: 'closed' });
  }
}

async function follow(stream: JobStream): Promise<void> {
  const { jobId } = stream;
  stream.result.catch(() => undefined);
  for await (const event of stream) {
    if (event.type === 'accepted' || event.type === 'started') say({ word: event.type, jobId });
  }
  await conclude(jobId, stream.result);
}

/** Opens a session, runs the code, and closes it. Reports `accepted` once the session is open; the journal has the job earlier. */
async function hold({ jobId, code, language, isolation, runner }: Omit<ChaosJob, 'kind'>): Promise<JobResult> {
  const given = { ...(language && { language }), ...(isolation && { isolation }), ...(runner && { runner }) };
  const session = await orchestrator.session({ sessionId: jobId, ...given });
  for (const word of ['accepted', 'started'] as const) say({ word, jobId });
  await session.run(code ?? '');
  return await session.close();
}

async function conclude(jobId: string, result: Promise<JobResult>): Promise<void> {
  try {
    const { outcome } = await result;
    say({ word: 'finished', jobId, outcome });
  } catch (error) {
    const { code = 'unknown', message } = error as { code?: string; message: string };
    say({ word: 'failed', jobId, code, message });
  }
}
