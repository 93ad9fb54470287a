import { CONTAINER_CHANGES } from './container-changes.ts';
import { LIMIT_ATTACKS } from './container-limits.ts';
import { describeAttacks } from './container-suite.ts';

describeAttacks(LIMIT_ATTACKS, CONTAINER_CHANGES);
