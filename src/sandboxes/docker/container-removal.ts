import type Docker from 'dockerode';
import { callEngine, isGone } from './engine/engine.ts';

/** Removes the containers of one runner, and remembers failed removals. */
export interface ContainerRemoval {
  /** Kills and removes a container. Rejects if the engine does not confirm the removal. */
  remove(container: Docker.Container, name: string): Promise<void>;
  /** Names of unused containers that may still exist because the engine did not answer. */
  readonly owed: ReadonlySet<string>;
  /** Adds a container whose creation the engine did not confirm: it may appear even after a check found nothing. */
  owe(name: string): void;
  /** Drops a removed container from `owed`. */
  paid(name: string): void;
  /** Resolves when no removal is under way. */
  settled(): Promise<void>;
}

/** Creates the removal of one runner. */
export function createContainerRemoval(): ContainerRemoval {
  const owed = new Set<string>();
  const underWay = new Set<Promise<void>>();
  return {
    owed,
    owe: (name) => void owed.add(name),
    paid: (name) => void owed.delete(name),
    remove(container, name) {
      const removal = removeContainer(container).catch((error: unknown) => {
        owed.add(name);
        throw error;
      });
      const entry = removal.then(
        () => void underWay.delete(entry),
        () => void underWay.delete(entry),
      );
      underWay.add(entry);
      return removal;
    },
    async settled() {
      await Promise.all(underWay);
    },
  };
}

/** Kills and removes a container in one call. A missing container, or a removal under way, counts as success. */
export async function removeContainer(container: Docker.Container, signal?: AbortSignal): Promise<void> {
  try {
    await callEngine('remove a container', (deadline) => {
      const abortSignal = signal === undefined ? deadline : AbortSignal.any([deadline, signal]);
      return container.remove({ force: true, v: true, abortSignal });
    });
  } catch (error) {
    if (!isGone(error)) throw error;
  }
}
