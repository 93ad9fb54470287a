import type { Call } from '../../contracts/skills/store.ts';
import type { LibraryRequest, SkillLibrary } from '../../library/snapshot/skill-library.ts';
import { SkillsSubsystem } from '../../skills/load-subsystem.ts';

/** Skills for jobs: a fixed set of loaded skills, or a library, whose skills may change between jobs. */
export type GivenSkills = SkillsSubsystem | SkillLibrary;

/** Skills of an orchestrator or a server: one interface for both kinds. */
export interface SkillSource {
  /**
   * The current skills, with the requested skills fetched completely.
   *
   * @throws SkillcellError `store.unavailable` of a library
   */
  present(request?: LibraryRequest): Promise<SkillsSubsystem>;
  /** Skills known without a fetch; empty for a library. */
  readonly known: SkillsSubsystem;
  /** Looks for changes. Fixed skills have none. @throws SkillcellError `store.unavailable` */
  refresh(call?: Call): Promise<boolean>;
  /** Calls the listener after each change; undefined for fixed skills. */
  readonly subscribe: ((listener: () => void) => Disposable) | undefined;
}

const NONE = new SkillsSubsystem({
  ...{ skills: [], diagnostics: [], agentsConfig: {}, overrides: [], customNamespaces: [] },
  ...{ customSkillsRoot: null, bundleRoot: null },
});

/** Wraps either kind of skills in the interface. */
export function skillSource(given: GivenSkills): SkillSource {
  if (!('subsystem' in given))
    return { present: async () => given, known: given, refresh: async () => false, subscribe: undefined };
  return {
    present: (request) => given.subsystem(request),
    known: NONE,
    refresh: (call) => given.refresh(call),
    subscribe: (listener) => given.subscribe(listener),
  };
}
