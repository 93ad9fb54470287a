import { expect } from 'vitest';
import { CALL_ATTACKS, CALL_CHANGES } from './container-calls.ts';
import { ALL_RIGHTS } from './container-changes.ts';
import { tryAttack } from './container-scene.ts';
import { containerAttack, describeAttacks } from './container-suite.ts';

describeAttacks(CALL_ATTACKS, CALL_CHANGES);

// Without this test the controls above would show the effect of rights, and none of the filter.
containerAttack(
  'A24',
  'reaches none of these calls even with all rights, because of the filter alone',
  async ({ evidence }) => {
    for (const attack of CALL_ATTACKS) {
      const verdict = await tryAttack(attack, ALL_RIGHTS);
      expect(verdict.blocked, `${attack.title}: ${verdict.evidence}`).toBe(true);
    }
    evidence(`${CALL_ATTACKS.length} classes refused by the filter to a program with every capability`);
  },
);
