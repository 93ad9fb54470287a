import type { Skill } from '../../contracts/skills/skill.ts';
import type { SkillView } from '../../contracts/skills/store.ts';
import { releaseView } from '../stores/cache/tree-cache.ts';

/** Views that skills of a library stand on, each held as long as one of those skills is there, in whoever's hands. */
export interface HeldViews {
  find(digest: string): SkillView | undefined;
  /**
   * Takes a view over; where one of the same bytes is held, that one counts. Each that is taken is kept for a skill, or let go.
   *
   * @returns the one that counts
   */
  take(view: SkillView): SkillView;
  /** Holds a view that was taken for as long as the skill is there. */
  keepFor(skill: Skill, view: SkillView): void;
  letGo(view: SkillView): void;
  /** Lets all go. */
  close(): void;
}

/** Holds the views of one library. That no skill stands on one any more is found out by the garbage collector. */
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
