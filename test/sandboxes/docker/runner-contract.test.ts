import { afterAll } from 'vitest';
import { createDockerRunner } from '../../../src/sandboxes/docker/docker-runner.ts';
import { describeRunner } from '../../conformance/runner.ts';
import { MISSING_ENGINE, dockerImage, dockerTest } from '../../fixtures/docker-image.ts';
import { breakContainers, ownContainers } from '../../fixtures/own-containers.ts';

if (MISSING_ENGINE === undefined) {
  const { bundle } = await dockerImage();
  describeRunner({
    name: 'docker',
    isolation: 'container',
    create: () => createDockerRunner({ bundle }),
    breakSandbox: breakContainers,
    leftovers: ownContainers,
  });
} else dockerTest('the runner contract: docker at level container', {}, async () => undefined);

afterAll(async () => {
  if (MISSING_ENGINE === undefined && (await ownContainers()).length > 0) throw new Error('containers were left');
});
