import { CONTAINER_CHANGES } from './container-changes.ts';
import { LIFE_ATTACKS } from './container-life.ts';
import { describeAttacks } from './container-suite.ts';

describeAttacks(LIFE_ATTACKS, CONTAINER_CHANGES);
