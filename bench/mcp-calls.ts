import { fileURLToPath } from 'node:url';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import type { JobResult } from '../src/contracts/jobs/result.ts';
import { createOrchestrator } from '../src/jobs/create-orchestrator.ts';
import { createLocalRunner } from '../src/sandboxes/local/local-runner.ts';
import type { BenchmarkGroup, BenchmarkOptions } from './benchmark-group.ts';
import { measurementOf, type Measurement, type Taken } from './measurement.ts';
import { takeTurns, type Subject } from './take-turns.ts';

const SAMPLES = 30;
const RUN_CODE = 'mcp.stdio.run_code';
const WARM = 'mcp.stdio.run_code.warm';
const EXEC = 'exec';
const EXEC_WARM = 'exec.warm';
const ECHO = 'echo';
const CODE = 'console.log(6 * 7)';
/** Time to refill a pool, and to remove the remains of a call; the caller waits for neither. */
const SETTLE_MS = 400;

/** `run_code` of an MCP client over stdio, at level namespace: a fresh sandbox for each call. */
export const mcpCalls: BenchmarkGroup = { ids: [RUN_CODE, WARM], run };

async function run({ samples = SAMPLES, wants, progress }: BenchmarkOptions): Promise<Measurement[]> {
  await using cleanUp = new AsyncDisposableStack();
  const connect = async (script: string, ...args: string[]): Promise<Client> => {
    const client = new Client({ name: 'bench', version: '1.0.0' });
    const path = fileURLToPath(new URL(script, import.meta.url));
    await client.connect(new StdioClientTransport({ command: process.execPath, args: [path, ...args] }));
    cleanUp.defer(() => client.close());
    return client;
  };
  const served = (id: string, client: Client, warm: boolean): Subject =>
    timed(id, async () => {
      const { structuredContent } = await client.callTool({ name: 'run_code', arguments: { code: CODE } });
      const { stdout, usage } = structuredContent as Partial<JobResult>;
      return stdout?.text === '42\n' && usage?.warm === warm;
    });
  const ownExec = (id: string, size: number): Subject => {
    const orchestrator = cleanUp.use(createOrchestrator({ runners: [createLocalRunner()], pool: { size } }));
    const warm = size > 0;
    return timed(id, async () => {
      const { stdout, usage } = await orchestrator.exec({ code: CODE });
      return stdout.text === '42\n' && usage.warm === warm;
    });
  };
  const flags = ['mcp', '--runner', 'local', '--isolation', 'namespace'];
  const echo = await connect('echo-mcp-server.ts');
  const subjects = [
    timed(ECHO, async () => {
      const { structuredContent } = await echo.callTool({ name: 'echo', arguments: { code: CODE } });
      return (structuredContent as { code?: string }).code === CODE;
    }),
    ...(wants(RUN_CODE)
      ? [ownExec(EXEC, 0), served(RUN_CODE, await connect('../bin/skillcell.js', ...flags), false)]
      : []),
    ...(wants(WARM)
      ? [ownExec(EXEC_WARM, 1), served(WARM, await connect('../bin/skillcell.js', ...flags, '--pool', '1'), true)]
      : []),
  ];
  const values = await takeTurns(subjects, samples, progress);
  const taken = (id: string): Taken => values.get(id) ?? [];
  const row = (id: string, exec: string): Measurement =>
    measurementOf({
      ...{ id, unit: 'ms', goal: 'ratio ≤ 1.25', values: taken(id) },
      baseline: { id: `${exec} + ${ECHO}`, values: together(taken(exec), taken(ECHO)) },
    });
  return [row(RUN_CODE, EXEC), row(WARM, EXEC_WARM)].filter(({ id }) => wants(id));
}

/** A timed call with a check of its result. */
function timed(id: string, call: () => Promise<boolean>): Subject {
  return {
    id,
    prepare: () => new Promise((resolve) => setTimeout(resolve, SETTLE_MS)),
    async sample() {
      const started = performance.now();
      const isRight = await call();
      const taken = performance.now() - started;
      if (!isRight) throw new Error(`Cannot measure ${id}: the call returned an unexpected result.`);
      return taken;
    },
  };
}

/** The time of two subjects one after the other. */
function together(first: Taken, second: Taken): Taken {
  if ('failed' in first) return first;
  if ('failed' in second) return second;
  return first.map((ms, index) => ms + (second[index] ?? Number.NaN));
}
