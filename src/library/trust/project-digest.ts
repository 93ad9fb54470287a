import { digestOf } from '../../skills/text/digest.ts';
import { compareCodePoints } from '../../skills/text/text.ts';
import type { StoreState } from '../heads/look-at-store.ts';

/** Digest of all skills of a project, including skills that do not load. */
export function projectDigest(project: string, states: readonly StoreState[]): string {
  const lines = states.flatMap(({ records }) =>
    records.map(
      ({ item, digest }) => `${item.origin.source.slice(project.length + 1)}\0${item.path}\0${digest ?? ''}\n`,
    ),
  );
  return digestOf(lines.toSorted(compareCodePoints).join(''));
}
