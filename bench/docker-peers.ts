import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createOrchestrator } from '../src/orchestrator/create-orchestrator.ts';
import { createDockerRunner } from '../src/runners/docker/docker-runner.ts';
import { BARE_NODE, bareNode } from './bare-node.ts';
import type { BenchmarkGroup, BenchmarkOptions } from './benchmark-group.ts';
import { benchEngine, type Engine } from './container-floor.ts';
import { execSubject } from './exec-subject.ts';
import { measurementOf, type Measurement } from './measurement.ts';
import { takeTurns, type Subject } from './take-turns.ts';

const SAMPLES = 15;
const IDS = ['peers.skillcell.warm', 'peers.docker.run', 'peers.docker.exec', 'peers.bubblewrap'];

/** The same program of one line by other means: what people do today, and what they give up for it. */
export const dockerPeers: BenchmarkGroup = { ids: IDS, run };

async function run({ samples = SAMPLES, wants, progress }: BenchmarkOptions): Promise<Measurement[]> {
  const engine = await benchEngine(progress);
  await using orchestrator = createOrchestrator({ runners: [createDockerRunner()], pool: { size: 1 } });
  const waiting = await startWaiting(engine);
  try {
    const image = engine.image;
    const program = ['/usr/local/bin/node', '-e', 'console.log(42)'];
    const subjects: Subject[] = [
      execSubject('peers.skillcell.warm', orchestrator, { code: 'console.log(6 * 7)' }, true),
      command('peers.docker.run', [
        'docker',
        'run',
        '--rm',
        '--network=none',
        '--entrypoint',
        program[0] ?? '',
        image,
        ...program.slice(1),
      ]),
      command('peers.docker.exec', ['docker', 'exec', waiting.id, ...program]),
      ...(existsSync('/usr/bin/bwrap') ? [command('peers.bubblewrap', bubblewrap())] : []),
    ].filter(({ id }) => wants(id));
    const values = await takeTurns([{ id: BARE_NODE, sample: bareNode }, ...subjects], samples, progress);
    const baseline = { id: BARE_NODE, values: values.get(BARE_NODE) ?? [] };
    return subjects.map(({ id }) =>
      measurementOf({ id, unit: 'ms', goal: null, values: values.get(id) ?? [], baseline }),
    );
  } finally {
    await waiting.remove({ force: true });
  }
}

/** A container that is there already: what `docker exec` needs, and what one job leaves to the next. */
async function startWaiting({
  docker,
  image,
}: Engine): Promise<Awaited<ReturnType<Engine['docker']['createContainer']>>> {
  const container = await docker.createContainer({
    Image: image,
    Entrypoint: ['/bin/sleep', '600'],
    HostConfig: { NetworkMode: 'none' },
  });
  await container.start();
  return container;
}

function bubblewrap(): string[] {
  const shared = ['--ro-bind', '/', '/', '--unshare-all', '--die-with-parent', '--proc', '/proc', '--dev', '/dev'];
  return ['bwrap', ...shared, '--', process.execPath, '-e', 'console.log(42)'];
}

function command(id: string, [name = '', ...args]: string[]): Subject {
  return {
    id,
    async sample() {
      const started = performance.now();
      const child = spawn(name, args, { stdio: 'ignore' });
      const code = await new Promise<number | null>((resolve, reject) =>
        child.once('error', reject).once('exit', resolve),
      );
      if (code !== 0) throw new Error(`Cannot measure ${id}: it failed, got ${code}.`);
      return performance.now() - started;
    },
  };
}
