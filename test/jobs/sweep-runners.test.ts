import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it } from 'vitest';
import { sweepRunners } from '../../src/jobs/sweep-runners.ts';
import { createDockerRunner } from '../../src/sandboxes/docker/docker-runner.ts';
import { createLocalRunner } from '../../src/sandboxes/local/local-runner.ts';

it('an engine that answers with an error does not affect the report of the other runners', async () => {
  const engine = createServer((_request, response) => response.writeHead(500).end('{"message":"the disk is full"}'));
  await once(engine.listen(0, '127.0.0.1'), 'listening');
  const host = `tcp://127.0.0.1:${(engine.address() as AddressInfo).port}`;
  const docker = createDockerRunner({ host });
  const removed = [{ kind: 'folder', name: 'skillcell-x' }];
  const local = { ...createLocalRunner(), sweep: () => Promise.resolve({ removed, failed: [] }) };
  try {
    expect(await sweepRunners([docker, local])).toEqual({
      removed,
      failed: [{ kind: 'runner', name: 'docker', reason: expect.stringContaining('the disk is full') as string }],
      skipped: [],
    });
  } finally {
    engine.closeAllConnections();
    engine.close();
  }
});
