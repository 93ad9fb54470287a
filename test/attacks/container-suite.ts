import { afterAll, expect } from 'vitest';
import { removeChangedImages, type ContainerChange } from '../fixtures/changed-container.ts';
import { dockerTest, MISSING_ENGINE } from '../fixtures/docker-image.ts';
import { ownContainers } from '../fixtures/own-containers.ts';
import { until } from '../fixtures/until.ts';
import { openScene, tryAttack, type ContainerAttack, type ContainerScene } from './container-scene.ts';
import { watchSafety } from './safety-watch.ts';
import type { AttackRow } from './surroundings.ts';

/** A busy machine delays every timer; a fault of these cases takes seconds. */
const MOST_LOOP_DELAY_MS = 1_500;
const MOST_GROWTH_MIB = 192;

let ours: Promise<ContainerScene> | undefined;

afterAll(async () => {
  if (MISSING_ENGINE !== undefined) return;
  if (ours !== undefined) await (await ours)[Symbol.asyncDispose]();
  await removeChangedImages();
  expect(await ownContainers(), 'containers that were left').toEqual([]);
});

/**
 * One test for each attack: the production container blocks it, and the first change that lets it through shows that the attack works. The ablation
 * tries all changes.
 */
export function describeAttacks(attacks: readonly ContainerAttack[], changes: Record<string, ContainerChange>): void {
  for (const attack of attacks) {
    containerAttack(attack.id, attack.title, async ({ evidence }) => {
      const verdict = await tryAttack(attack);
      expect(verdict.blocked, `ours: ${verdict.evidence}`).toBe(true);
      evidence(verdict.evidence);
      const [name = ''] = attack.opens;
      const change = changes[name];
      if (change === undefined) throw new Error(`There is no change of the name ${name}.`);
      const control = await tryAttack(attack, change);
      expect(control.blocked, `without ${name}: ${control.evidence}`).toBe(false);
      evidence(`goes through without ${name}`);
    });
  }
}

/** The context of an attack with its own checks. */
export interface ContainerCase {
  /** Containers of the runner itself, shared by the cases of a file. */
  scene: ContainerScene;
  /** Adds evidence to the table that the attack was tried and blocked. It contains no times and no names of this machine. */
  evidence(line: string): void;
}

/**
 * A named attack. In addition to its own checks, the outcome must be safe: this process responds and does not grow, no container is left, and the
 * next job runs normally.
 */
export function containerAttack(id: string, title: string, body: (given: ContainerCase) => Promise<void>): void {
  dockerTest(`${id} ${title} [container]`, { timeout: 300_000 }, async ({ task }) => {
    const row: AttackRow = { id, title, level: 'container', evidence: [] };
    task.meta.attack = row;
    const scene = await (ours ??= openScene());
    const endWatch = watchSafety();
    try {
      await body({ scene, evidence: (line) => void row.evidence.push(line) });
    } finally {
      row.safety = endWatch();
    }
    const next = await scene.job({ language: 'bash', code: 'echo "next: $(( 6 * 7 ))"' });
    expect(next, 'the next job').toMatchObject({ outcome: 'succeeded', stdout: { text: 'next: 42\n' }, artifacts: [] });
    await until(async () => (await ownContainers()).length === 0, 'an end of all containers');
    expect(row.safety.loopDelayMs, 'the event loop was held up').toBeLessThan(MOST_LOOP_DELAY_MS);
    expect(row.safety.grownMib, 'this process grew').toBeLessThan(MOST_GROWTH_MIB);
  });
}
