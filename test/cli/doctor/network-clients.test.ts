import { existsSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { networkClients } from '../../../src/cli/doctor/network-clients.ts';
import { createOrchestrator } from '../../../src/jobs/create-orchestrator.ts';
import type { Orchestrator } from '../../../src/jobs/orchestrator.ts';
import { createDockerRunner } from '../../../src/sandboxes/docker/docker-runner.ts';
import { dockerImage } from '../../fixtures/docker-image.ts';
import { NETWORK_LEVELS, networkRunners, requireNetworkLevel } from '../../fixtures/egress/network-levels.ts';

/** Of this machine, whose programs are those of level namespace. */
const HERE = Object.entries({
  curl: '/usr/bin/curl',
  git: '/usr/bin/git',
  npm: '/usr/bin/npm',
  pip: '/usr/lib/python3/dist-packages/pip',
}).flatMap(([name, path]) => (existsSync(path) ? [name] : []));

let orchestrator: Orchestrator;
beforeAll(async () => {
  orchestrator = createOrchestrator({ runners: await networkRunners() });
}, 300_000);
afterAll(() => orchestrator?.close());

const report = { available: true, reasons: [], limits: {} as never };
const { signal } = new AbortController();

describe.each(NETWORK_LEVELS)('networkClients() at level %s', (isolation) => {
  test('names the programs that jobs find', async (context) => {
    requireNetworkLevel(context, isolation);
    const runner = isolation === 'container' ? 'docker' : 'local';
    const clients = await networkClients(orchestrator, { ...report, runner, isolation }, signal);
    expect(clients).toEqual(isolation === 'container' ? ['curl', 'git', 'npm', 'pip'] : HERE);
  });
});

describe.each(NETWORK_LEVELS.filter((level) => level === 'container'))('networkClients() at level %s', (isolation) => {
  test('names none of an image without them', async (context) => {
    requireNetworkLevel(context, isolation);
    const { bundle } = await dockerImage();
    await using slim = createOrchestrator({ runners: [createDockerRunner({ bundle })] });
    expect(await networkClients(slim, { ...report, runner: 'docker', isolation }, signal)).toEqual([]);
  });
});
