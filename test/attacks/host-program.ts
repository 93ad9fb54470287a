/**
 * A separate host for jobs: a process that reads its jobs from standard input and prints their results. Attacks on a host's start, end, user and
 * inherited descriptors need a process other than the test's own.
 */
import { text } from 'node:stream/consumers';
import type { ExecOptions } from '../../src/contracts/jobs/job.ts';
import { createOrchestrator } from '../../src/jobs/create-orchestrator.ts';
import { createLocalRunner } from '../../src/sandboxes/local/local-runner.ts';
import type { RuntimeBundle } from '../../src/sandboxes/runtime-bundle.ts';
import { awaitNothingLeft, sandboxProcesses } from './leftovers.ts';
import type { HostAnswer, HostOrder } from './separate-host.ts';

const order = JSON.parse(await text(process.stdin)) as HostOrder & { bundle: RuntimeBundle };
const known = new Set(sandboxProcesses());
const orchestrator = createOrchestrator({
  runners: [createLocalRunner({ bundle: order.bundle })],
  allowUnisolated: true,
});
const answer: HostAnswer = { reports: [], runs: [], left: [] };
if (order.probe === true) answer.reports = await orchestrator.probe();
for (const job of order.jobs) {
  try {
    const stream = orchestrator.stream({ kind: 'exec', ...(job as ExecOptions) });
    for await (const event of stream) {
      // Tells a test that wants to kill this process that a program is running.
      if (event.type === 'run') process.stderr.write('a program runs\n');
    }
    answer.runs.push({ result: await stream.result });
  } catch (error) {
    const { code, message } = error as { code?: string; message: string };
    answer.runs.push({ error: { code: code ?? '', message } });
  }
}
await orchestrator.close();
answer.left = (await awaitNothingLeft(4_000, known)).left;
process.stdout.write(JSON.stringify(answer));
