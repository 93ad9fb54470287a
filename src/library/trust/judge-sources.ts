import type { SkillStore } from '../../contracts/skills/store.ts';
import type { StoreState } from '../heads/look-at-store.ts';
import { projectDigest } from './project-digest.ts';
import type { SourceFolder } from './source-folders.ts';
import type { TrustedProject, TrustReading } from './trust-file.ts';

/** The reason why a folder is not read: it is missing, it is a link out of the project, or the project is not trusted as it is. */
export type NotRead = 'missing' | 'outside' | 'trust-ignored' | 'untrusted' | 'changed';

/** A folder that may be read, with its store where it is open. */
export interface ChosenFolder {
  folder: SourceFolder;
  store?: SkillStore;
}

/** A folder, with the decision whether it is read. */
export interface JudgedFolder extends ChosenFolder {
  /** Absent where it is read. */
  notRead?: NotRead;
}

/**
 * Judges which folders of skills are read. Loading and its previews both use this.
 *
 * @param trust the present trust
 * @param states states of the project's stores; states of the user's stores are optional
 */
export function judgeSources(
  chosen: readonly ChosenFolder[],
  project: string,
  trust: TrustReading,
  states: readonly StoreState[],
): JudgedFolder[] {
  const stores = new Set(chosen.flatMap(({ folder, store }) => (folder.source === 'project' && store ? [store] : [])));
  const held = states.filter(({ store }) => stores.has(store));
  const distrust = distrustOf(trust, project, held);
  return chosen.map((one) => {
    const { source, real, isOutside } = one.folder;
    const notRead =
      real === undefined ? 'missing' : isOutside ? 'outside' : source === 'project' ? distrust : undefined;
    return notRead === undefined ? one : { ...one, notRead };
  });
}

function distrustOf(trust: TrustReading, project: string, states: readonly StoreState[]): NotRead | undefined {
  if (trust.fault !== undefined) return 'trust-ignored';
  const trusted: TrustedProject | undefined = trust.projects.get(project);
  if (trusted === undefined) return 'untrusted';
  return trusted.digest === null || trusted.digest === projectDigest(project, states) ? undefined : 'changed';
}
