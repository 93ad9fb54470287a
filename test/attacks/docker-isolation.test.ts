import { CONTAINER_CHANGES } from './container-changes.ts';
import { ISOLATION_ATTACKS } from './container-isolation.ts';
import { describeAttacks } from './container-suite.ts';

describeAttacks(ISOLATION_ATTACKS, CONTAINER_CHANGES);
