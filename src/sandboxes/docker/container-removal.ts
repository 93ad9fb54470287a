import type Docker from 'dockerode';
import { callEngine, isGone } from './engine/engine.ts';

/** Removes the containers of one runner, and knows those that it could not remove. */
export interface ContainerRemoval {
  /** Kills and removes. Rejects when the engine has not confirmed that the container is gone. */
  remove(container: Docker.Container, name: string): Promise<void>;
  /** Names of containers that may still be there, though nobody uses them: the engine did not answer. */
  readonly owed: ReadonlySet<string>;
  /** The engine did not say whether it made this one: it may come into being even after it was found to be gone. */
  owe(name: string): void;
  /** One of them is gone. */
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

/** Kills and removes in one call. A container that is gone, or being removed, is what was wanted. */
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
