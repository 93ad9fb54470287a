import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Isolation } from '../../../src/contracts/jobs/result.ts';
import { dockerImage, dockerTest } from '../../fixtures/docker-image.ts';
import { LEVELS, requireLevel } from '../../fixtures/levels.ts';
import { ownContainers } from '../../fixtures/own-containers.ts';
import { sandboxLeftovers } from '../../fixtures/sandbox-leftovers.ts';

const source = (path: string): string =>
  JSON.stringify(fileURLToPath(new URL(`../../../src/${path}`, import.meta.url)));

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'process-end-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

/** A program that runs one job, prints its owner name and the result, and never closes its orchestrator. */
function program(isolation: Isolation, poolSize: number, runner: string): string {
  return `import { createOrchestrator } from ${source('jobs/create-orchestrator.ts')};
    import { createLocalRunner } from ${source('sandboxes/local/local-runner.ts')};
    import { createDockerRunner } from ${source('sandboxes/docker/docker-runner.ts')};
    import { currentOwner, ownerName } from ${source('durable/owner.ts')};
    const orchestrator = createOrchestrator({
      runners: [${runner}],
      allowUnisolated: true,
      pool: { size: ${poolSize}, isolation: '${isolation}' },
      stateDir: ${JSON.stringify(join(folder, `${isolation}-${poolSize}`))},
    });
    await orchestrator.warm();
    const result = await orchestrator.exec({ isolation: '${isolation}', code: 'export default 6 * 7' });
    const sandboxes = ${poolSize} === 0 ? 0 : (await orchestrator.poolMetrics()).javascript.size;
    console.log(JSON.stringify({ owner: ownerName(currentOwner()), value: result.value, warm: result.usage.warm, sandboxes }));`;
}

interface Ended {
  owner: string;
  value: unknown;
  warm: boolean;
  sandboxes: number;
}

/** Runs a program to its end. A hanging program is killed after a minute, more than any machine needs. */
async function runToEnd(code: string): Promise<Ended> {
  const file = join(folder, 'host.mts');
  writeFileSync(file, code);
  const child = spawn(process.execPath, [file], {
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: 60_000,
    killSignal: 'SIGKILL',
  });
  const ended = once(child, 'close') as Promise<[number | null, string | null]>;
  const [stdout, stderr, [exitCode]] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
  return JSON.parse(stdout) as Ended;
}

describe('a process with an unclosed orchestrator ends once its jobs are done, and leaves nothing', () => {
  for (const isolation of LEVELS) {
    for (const poolSize of [0, 2]) {
      it(`at level ${isolation} with a pool of ${poolSize}`, async (context) => {
        requireLevel(context, isolation);
        const { owner, ...rest } = await runToEnd(program(isolation, poolSize, 'createLocalRunner()'));
        expect(rest).toEqual({ value: 42, warm: poolSize > 0, sandboxes: poolSize });
        expect(sandboxLeftovers(owner)).toEqual([]);
      });
    }
  }

  for (const poolSize of [0, 2]) {
    dockerTest(`at level container with a pool of ${poolSize}`, {}, async () => {
      const { bundle } = await dockerImage();
      const runner = `createDockerRunner({ bundle: ${JSON.stringify(bundle)} })`;
      const { owner, ...rest } = await runToEnd(program('container', poolSize, runner));
      expect(rest).toEqual({ value: 42, warm: poolSize > 0, sandboxes: poolSize });
      expect(await ownContainers(owner)).toEqual([]);
    });
  }
});
