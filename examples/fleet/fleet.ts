/**
 * A solver whose codegen jobs run on two workers, one of which is killed: `node examples/fleet/fleet.ts [--model PROVIDER/MODEL]`. It needs
 * redis-server. The model and the tool stay in this process, and so does the job.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import * as z from 'zod';
import { createModelGateway } from '../../src/models/gateways/create-model-gateway.ts';
import { readModelSettings } from '../../src/models/gateways/model-environment.ts';
import { createOrchestrator } from '../../src/jobs/create-orchestrator.ts';
import { defineTool } from '../../src/tools/define/tool.ts';
import { createFleetRunner } from '../../src/worker/index.ts';
import { author } from './author.ts';

const { values } = parseArgs({ options: { model: { type: 'string' } } });
const settings = values.model === undefined ? undefined : readModelSettings(values.model);
const model = settings === undefined ? author : createModelGateway(settings);
const root = fileURLToPath(new URL('../..', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'fleet-'));
const port = await freePort();
const url = `redis://127.0.0.1:${port}`;

const redis = spawn('redis-server', ['deploy/redis.conf', '--port', String(port), '--dir', folder], {
  cwd: root,
  stdio: 'ignore',
});
const workers = new Map<string, ChildProcess>();
try {
  for (const name of ['one', 'two']) {
    const args = ['bin/skillcell.js', 'worker', '--runner', 'local', '--isolation', 'namespace', '--name', name];
    const env = { ...process.env, SKILLCELL_FLEET: url };
    const worker = spawn(process.execPath, args, { cwd: root, env, stdio: ['ignore', 'ignore', 'pipe'] });
    workers.set(name, worker);
    // It says that it has joined.
    await once(createInterface(worker.stderr), 'line');
  }

  /** Workers of the sandboxes of the job, in order. */
  const places: (string | undefined)[] = [];
  let readings = 0;
  const reading = defineTool({
    id: 'station.reading',
    description: 'Gives the temperatures of a station, in °C.',
    input: z.strictObject({ station: z.string() }),
    effect: 'read',
    async execute({ station }) {
      readings += 1;
      if (readings === 1) {
        // An accident: the host of the sandbox loses its power.
        console.log(`the worker of the sandbox is killed while ${station} is read`);
        workers.get(places.at(-1) ?? '')?.kill('SIGKILL');
        await new Promise(() => undefined);
      }
      return station === 'north' ? [-3, 1, 5] : [14, 15, 19];
    },
  });
  // With workers on other machines, these two lines are all that differs from a solver on one machine.
  const runner = createFleetRunner({ url, leaseMs: 3_000, emptyFleet: 'wait' });
  await using orchestrator = createOrchestrator({ runners: [runner], model, tools: [reading] });
  const job = orchestrator.stream({
    kind: 'codegen',
    task: 'Print the mean temperature of the stations north and south, one a line.',
    tools: ['station.*'],
    isolation: 'namespace',
  });
  for await (const event of job) {
    if (event.type === 'started') places.push(event.worker);
    if (event.type === 'restarted') console.log(`attempt ${event.attempt} begins in another sandbox`);
  }
  const { outcome, attempt, stdout } = await job.result;
  console.log(`${outcome} in attempt ${attempt}, after sandboxes on ${new Set(places).size} workers`);
  console.log(stdout.text.trim());
} finally {
  for (const process of [...workers.values(), redis]) process.kill();
  rmSync(folder, { recursive: true, force: true });
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port: free } = server.address() as { port: number };
  server.close();
  return free;
}
