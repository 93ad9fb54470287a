import { setFlagsFromString } from 'node:v8';

/**
 * Without this flag, a long-lived process grows by hundreds of MiB of garbage before V8 collects it, whenever a client sends much.
 * Jobs run in processes of their own and are not slower for it.
 */
export function keepSmall(): void {
  setFlagsFromString('--optimize-for-size');
}
