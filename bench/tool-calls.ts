import type { Duplex } from 'node:stream';
import { z } from 'zod';
import { defineTool } from '../src/tools/define/tool.ts';
import { createOrchestrator } from '../src/jobs/create-orchestrator.ts';
import type { Orchestrator } from '../src/jobs/orchestrator.ts';
import { createDockerRunner } from '../src/sandboxes/docker/docker-runner.ts';
import { demultiplex } from '../src/sandboxes/docker/engine/demultiplex.ts';
import { createLocalRunner } from '../src/sandboxes/local/local-runner.ts';
import { answerBareRelay, bareRelay, spawnInBubblewrap } from './bare-relay.ts';
import type { BenchmarkGroup, BenchmarkOptions } from './benchmark-group.ts';
import { benchEngine, type Engine } from './container-floor.ts';
import { measureCalls, type CallCounts, type CallReport } from './measure-calls.ts';
import { measurementOf, type Measurement, numbersOf, type Taken } from './measurement.ts';
import { takeTurns } from './take-turns.ts';

const ROUNDS = 7;
const COUNTS: CallCounts = { sequence: 400, together: 3_200 };

/** Calls of a tool, against two plain processes that relay the same calls in a sandbox of the same kind. */
export const toolsNamespace: BenchmarkGroup = groupOf('tools.namespace', async () => ({
  orchestrator: createOrchestrator({ runners: [createLocalRunner()], tools: [echo()] }),
  bare: relayInBubblewrap,
}));

/** The same in a container. */
export const toolsDocker: BenchmarkGroup = groupOf('tools.docker', async ({ progress }) => {
  const engine = await benchEngine(progress);
  return {
    orchestrator: createOrchestrator({ runners: [createDockerRunner()], tools: [echo()] }),
    bare: () => relayInContainer(engine),
  };
});

interface Sides {
  orchestrator: Orchestrator;
  bare(): Promise<CallReport>;
}

function groupOf(name: string, start: (options: BenchmarkOptions) => Promise<Sides>): BenchmarkGroup {
  const ids = { call: `${name}.call`, rate: `${name}.rate32` };
  return {
    ids: Object.values(ids),
    async run(options) {
      const { orchestrator, bare } = await start(options);
      await using _closed = orchestrator;
      const subject = (side: 'tool' | 'bare', measure: () => Promise<CallReport>) => ({
        id: side,
        async sample() {
          const report = await measure();
          options.progress(`${side}: ${report.callMs.toFixed(3)} ms, ${report.perSecond.toFixed(0)} calls a second`);
          return report;
        },
      });
      const subjects = [subject('bare', bare), subject('tool', () => callsOfJob(orchestrator))];
      const taken = await takeTurns(subjects, options.samples ?? ROUNDS, () => undefined);
      const column = (side: 'tool' | 'bare', key: keyof CallReport): Taken =>
        numbersOf(taken.get(side), (report) => report[key]);
      const row = (id: string, key: keyof CallReport, unit: string, goal: string): Measurement =>
        measurementOf({
          ...{ id, unit, goal, values: column('tool', key) },
          baseline: { id: `${id}.bare`, values: column('bare', key) },
        });
      return [row(ids.call, 'callMs', 'ms', 'ratio ≤ 2'), row(ids.rate, 'perSecond', 'calls/s', 'ratio ≥ 0.5')];
    },
  };
}

/** A tool that returns its input. */
export function echo(): ReturnType<typeof defineTool> {
  return defineTool({
    ...{ id: 'x.echo', description: 'Gives back what it gets.', input: z.object({}) },
    execute: async (input) => input,
  });
}

async function callsOfJob(orchestrator: Orchestrator): Promise<CallReport> {
  const run = `${String(measureCalls)}\nexport default await measureCalls(tools.x.echo, ${JSON.stringify(COUNTS)});`;
  const code = `import { tools } from 'skillcell';\n${run}`;
  const limits = { calls: 2 * (COUNTS.sequence + COUNTS.together) };
  const { outcome, value, error } = await orchestrator.exec({ code, tools: ['x.echo'], limits });
  if (outcome !== 'succeeded') throw new Error(`Cannot measure: the job did not succeed, got ${error?.message}.`);
  return value as CallReport;
}

async function relayInBubblewrap(): Promise<CallReport> {
  const child = spawnInBubblewrap(bareRelay(COUNTS));
  try {
    return await answerBareRelay(child.stdout, child.stdin);
  } finally {
    child.kill('SIGKILL');
  }
}

async function relayInContainer({ docker, image }: Engine): Promise<CallReport> {
  const container = await docker.createContainer({
    ...{ Image: image, Entrypoint: ['/usr/local/bin/node', ...bareRelay(COUNTS)], NetworkDisabled: true },
    ...{ OpenStdin: true, StdinOnce: true, AttachStdin: true, AttachStdout: true, AttachStderr: true },
    HostConfig: { NetworkMode: 'none', NanoCpus: 1e9, LogConfig: { Type: 'none', Config: {} } },
  });
  try {
    const streams = { stdin: true, stdout: true, stderr: true };
    const attached = (await container.attach({ stream: true, ...streams, hijack: true })) as Duplex;
    const channel = demultiplex(attached, (bytes) => process.stderr.write(bytes));
    await container.start();
    return await answerBareRelay(channel, channel);
  } finally {
    await container.remove({ force: true });
  }
}
