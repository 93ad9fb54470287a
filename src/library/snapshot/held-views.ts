import type { Skill } from '../../contracts/skills/skill.ts';
import type { SkillView } from '../../contracts/skills/store.ts';
import { releaseView } from '../stores/cache/tree-cache.ts';

/** Views behind the skills of a library. Each is held while one of its skills is still referenced anywhere. */
export interface HeldViews {
  find(digest: string): SkillView | undefined;
  /**
   * Takes a view over. If a view of the same bytes is held, that one is used instead. Each taken view must be kept for a skill, or let go.
   *
   * @returns the view to use
   */
  take(view: SkillView): SkillView;
  /** Holds a taken view until the skill is garbage-collected. */
  keepFor(skill: Skill, view: SkillView): void;
  letGo(view: SkillView): void;
  /** Releases all views. */
  close(): void;
}

/** Holds the views of one library. The garbage collector reports when a skill is no longer referenced. */
export function holdViews(): HeldViews {
  const held = new Map<string, { view: SkillView; users: number }>();
  const letGo = (view: SkillView): void => {
    const entry = held.get(view.digest);
    if (entry?.view !== view) return;
    entry.users -= 1;
    if (entry.users > 0) return;
    held.delete(view.digest);
    releaseView(view);
  };
  const gone = new FinalizationRegistry<SkillView>(letGo);
  return {
    find: (digest) => held.get(digest)?.view,
    take(view) {
      const entry = held.get(view.digest) ?? { view, users: 0 };
      if (entry.view !== view) releaseView(view);
      held.set(view.digest, entry);
      entry.users += 1;
      return entry.view;
    },
    keepFor: (skill, view) => gone.register(skill, view),
    letGo,
    close() {
      for (const { view } of held.values()) releaseView(view);
      held.clear();
    },
  };
}
