import { describe, expect, it } from 'vitest';
import type { Isolation, RunnerName } from '../../../src/contracts/jobs/result.ts';
import { sandboxPlaces } from '../../../src/jobs/supply/sandbox-places.ts';
import { createDockerRunner } from '../../../src/sandboxes/docker/docker-runner.ts';
import { createLocalRunner } from '../../../src/sandboxes/local/local-runner.ts';

const docker = createDockerRunner({ kernelRuntime: 'runsc' });
const local = createLocalRunner();

function order(
  demand: { runner?: 'auto' | RunnerName; isolation?: Isolation },
  { runners = [docker, local], allowUnisolated = false } = {},
): string[] {
  const { runner = 'auto', isolation } = demand;
  return sandboxPlaces({ runner, isolation }, { runners, allowUnisolated }).map(
    (place) => `${place.runner.name} ${place.isolation}`,
  );
}

describe('sandboxPlaces()', () => {
  it('follows the preference of runners, and never goes below the default', () => {
    expect(order({})).toEqual(['docker container', 'docker kernel', 'local namespace']);
    expect(order({}, { runners: [local, docker] })).toEqual(['local namespace', 'docker container', 'docker kernel']);
  });

  it('has level none last, after every isolating place, in any order of runners', () => {
    for (const runners of [
      [local, docker],
      [docker, local],
    ]) {
      const places = order({}, { runners, allowUnisolated: true });
      expect(places).toHaveLength(4);
      expect(places.at(-1)).toBe('local none');
    }
  });

  it('begins with the named level, and goes on with stronger levels', () => {
    expect(order({ isolation: 'namespace' })).toEqual(['local namespace', 'docker container', 'docker kernel']);
    expect(order({ isolation: 'container' })).toEqual(['docker container', 'docker kernel']);
    expect(order({ isolation: 'kernel' })).toEqual(['docker kernel']);
    expect(order({ isolation: 'namespace' }, { allowUnisolated: true })).not.toContain('local none');
  });

  it('has only level none for a job that names it, unless the runner does not have that level', () => {
    expect(order({ isolation: 'none' })).toEqual(['local none']);
    expect(order({ isolation: 'none', runner: 'docker' })).toEqual(['docker container', 'docker kernel']);
  });

  it('stays with the named runner', () => {
    expect(order({ runner: 'local' }, { allowUnisolated: true })).toEqual(['local namespace', 'local none']);
    expect(order({ runner: 'docker' }, { runners: [local] })).toEqual([]);
  });
});
