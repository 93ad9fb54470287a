import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { installPackedPackage } from '../test/fixtures/packed-package.ts';
import { BARE_NODE, bareNode, timedCommand, timedNode } from './bare-node.ts';
import type { BenchmarkGroup, BenchmarkOptions } from './benchmark-group.ts';
import { benchEngine } from './container-floor.ts';
import { type Measurement, timedRow } from './measurement.ts';
import { takeTurns, type Subject } from './take-turns.ts';

const SAMPLES = 20;
const DOCKER_RUN = 'docker.run';
const IMPORT = 'start.import';
const VERSION = 'start.version';
const MCP = 'start.mcp';
const NAMESPACE = 'start.exec.namespace';
const DOCKER = 'start.exec.docker';

/** Goal and baseline of each id. */
const ROWS: Readonly<Record<string, { goal: string; baseline: string }>> = {
  [IMPORT]: { goal: 'ratio ≤ 2', baseline: BARE_NODE },
  [VERSION]: { goal: 'ratio ≤ 1.5', baseline: BARE_NODE },
  [MCP]: { goal: 'ratio ≤ 4', baseline: BARE_NODE },
  [NAMESPACE]: { goal: 'ratio ≤ 0.9', baseline: DOCKER_RUN },
  [DOCKER]: { goal: 'ratio ≤ 1.4', baseline: DOCKER_RUN },
};

/** The start of the packed package, as a user installs it: from the spawn of the process to its end, of `start.mcp` to its first answer. */
export const packedStart: BenchmarkGroup = { ids: Object.keys(ROWS), run };

async function run({ samples = SAMPLES, wants, progress }: BenchmarkOptions): Promise<Measurement[]> {
  const { folder } = await installPackedPackage();
  try {
    const program = join(folder, 'program.js');
    writeFileSync(program, 'console.log(6 * 7)\n');
    const command = join(folder, 'node_modules/skillcell/bin/skillcell.js');
    const exec = (...flags: string[]): Promise<number> => timedNode([command, 'exec', program, ...flags]);
    const subjects: Subject[] = [
      { id: IMPORT, sample: () => timedNode(['--input-type=module', '-e', "import 'skillcell'"], folder) },
      { id: VERSION, sample: () => timedNode([command, '--version']) },
      { id: MCP, sample: () => initialized(command) },
      { id: NAMESPACE, sample: () => exec('--runner', 'local', '--isolation', 'namespace') },
      { id: DOCKER, sample: () => exec('--runner', 'docker') },
    ].filter(({ id }) => wants(id));
    const baselines: Subject[] = [{ id: BARE_NODE, sample: bareNode }];
    if (wants(NAMESPACE) || wants(DOCKER)) {
      const { image } = await benchEngine(progress);
      const bare = ['run', '--rm', '--network=none', '--entrypoint', '/usr/local/bin/node', image, '-e', '1'];
      baselines.push({ id: DOCKER_RUN, sample: () => timedCommand('docker', bare) });
    }
    const values = await takeTurns([...baselines, ...subjects], samples, progress);
    return subjects.map(({ id }) => {
      const { goal = null, baseline = BARE_NODE } = ROWS[id] ?? {};
      return timedRow(values, { id, goal, baseline });
    });
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Milliseconds from the spawn of an MCP server to its answer to `initialize`. */
async function initialized(command: string): Promise<number> {
  const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'bench', version: '1.0.0' } };
  const started = performance.now();
  const server = spawn(process.execPath, [command, 'mcp', '--runner', 'local'], { stdio: ['pipe', 'pipe', 'ignore'] });
  const ended = once(server, 'exit');
  server.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params })}\n`);
  const [line] = (await Promise.race([once(createInterface(server.stdout), 'line'), ended])) as [unknown];
  const taken = performance.now() - started;
  server.stdin.end();
  await ended;
  if (!String(line).includes('"serverInfo"'))
    throw new Error(`The server sent no answer to initialize, but ${String(line)}.`);
  return taken;
}
