import { CONTAINER_CHANGES } from './container-changes.ts';
import { SEPARATION_ATTACKS } from './container-separation.ts';
import { describeAttacks } from './container-suite.ts';

describeAttacks(SEPARATION_ATTACKS, CONTAINER_CHANGES);
