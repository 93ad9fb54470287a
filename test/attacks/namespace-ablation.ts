import { KERNEL_VIEWS } from './namespace-kernel.ts';
import { NAMESPACE_JOBS } from './namespace-jobs.ts';
import type { NamespaceAttack } from './namespace-scene.ts';

/** Every attack that one change of a sandbox at level namespace lets through. */
export const NAMESPACE_ATTACKS: readonly NamespaceAttack[] = [...KERNEL_VIEWS, ...NAMESPACE_JOBS];
