import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { JobLimits } from '../src/contracts/jobs/limits.ts';
import type { NetworkOptions } from '../src/contracts/network/network-options.ts';
import type { Orchestrator } from '../src/jobs/orchestrator.ts';
import type { BenchmarkOptions } from './benchmark-group.ts';
import type { Measurement } from './measurement.ts';

/** Name of the secret for the host of {@link EgressScene}. */
export const SECRET = 'TOKEN';
/** Limits that no benchmark reaches. */
export const LIMITS: Partial<JobLimits> = { networkRequests: 1_000_000, networkBytesIn: 2 ** 40, calls: 1_000_000 };

/** A TLS host on this machine, in a process of its own. */
export interface EgressScene extends AsyncDisposable {
  /** Its host and port for jobs, which is also the rule that allows them. */
  place: string;
  /** Its URL for programs without a sandbox. */
  direct: string;
  caFile: string;
  /** The network of an orchestrator whose jobs may reach it. */
  network: NetworkOptions;
}

/** A part of the rows of a group. */
export interface EgressPart {
  /** Ends of the ids of its rows. */
  names: readonly string[];
  rows(around: EgressSurroundings): Promise<Measurement[]>;
}

/** Surroundings of an {@link EgressPart}. */
export interface EgressSurroundings {
  /** Name of the group. */
  group: string;
  scene: EgressScene;
  /** Has the network of the scene and the tool of `echo`. */
  orchestrator: Orchestrator;
  options: BenchmarkOptions;
}

/** Starts the host. */
export async function startEgressScene(): Promise<EgressScene> {
  const child = spawn(process.execPath, [new URL('egress-upstream.ts', import.meta.url).pathname], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const [line] = (await once(child.stdout, 'data')) as [Buffer];
  const { port, pem } = JSON.parse(line.toString()) as { port: number; pem: string };
  const folder = await mkdtemp(join(tmpdir(), 'bench-'));
  const caFile = join(folder, 'ca.pem');
  await writeFile(caFile, pem);
  const place = `bench.test:${port}`;
  return {
    ...{ place, direct: `https://127.0.0.1:${port}`, caFile },
    network: {
      ...{ allow: [place], caFile, allowPrivate: ['127.0.0.1/32'] },
      lookup: async () => [{ address: '127.0.0.1', family: 4 }],
      secrets: { [SECRET]: { value: 'sk-0123456789abcdef0123456789abcdef012345', hosts: [place] } },
    },
    async [Symbol.asyncDispose]() {
      child.kill();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
