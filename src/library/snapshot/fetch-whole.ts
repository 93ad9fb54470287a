import type { Diagnostic } from '../../contracts/errors/diagnostic.ts';
import type { Skill } from '../../contracts/skills/skill.ts';
import type { Call, SkillView } from '../../contracts/skills/store.ts';
import type { TreeCache } from '../stores/cache/tree-cache.ts';
import { SkillcellError } from '../../contracts/errors/skillcell-error.ts';
import { type HeadRecord, readHead, withoutPlace } from '../heads/head-record.ts';
import type { HeadIndex } from '../heads/head-index.ts';
import type { HeldViews } from './held-views.ts';
import type { SkillSource } from './assemble.ts';
import { textsOfView } from '../heads/texts-of-view.ts';

/** Access to cache and views. */
export interface FetchOptions extends Call {
  cache: TreeCache;
  index: HeadIndex;
  views: HeldViews;
}

/**
 * Fetches a skill completely: from the cache by its digest if possible, else from its store.
 *
 * @param skill as its head describes it
 * @returns the skill with all its files, in a folder that never changes
 * @throws SkillcellError `store.unavailable`, `store.changed`
 */
export async function fetchWhole(skill: Skill, source: SkillSource, options: FetchOptions): Promise<Skill> {
  const view = await viewOf(source, options);
  try {
    const whole = wholeSkill(skill, source, view, options.index);
    options.views.keepFor(whole, view);
    return whole;
  } catch (error) {
    options.views.letGo(view);
    throw error;
  }
}

function wholeSkill(skill: Skill, source: SkillSource, view: SkillView, index: HeadIndex): Skill {
  const { state, record } = source;
  const { folder, digest } = view;
  if (record.digest !== undefined && record.digest !== digest) {
    const message = `Cannot read ${skill.id}: its store gives other bytes for the same revision.`;
    throw new SkillcellError('store.changed', message);
  }
  if (record.complete) return { ...skill, folder };
  const whole = completed(source, view);
  index.keep(state.store.id, { ...whole, texts: textsOfView(view) });
  const { diagnostics: found = [], ...parts } = whole.reading.parts ?? {};
  const textOf = (each: Diagnostic): string => JSON.stringify(record.listed === true ? withoutPlace(each) : each);
  const known = new Set(skill.diagnostics.map(textOf));
  const more = found.filter((each) => !known.has(textOf(each)));
  return { ...skill, ...parts, files: [...view.files], digest, folder, diagnostics: [...skill.diagnostics, ...more] };
}

async function viewOf({ state, record }: SkillSource, { cache, views, signal }: FetchOptions): Promise<SkillView> {
  const known = record.digest === undefined ? undefined : (views.find(record.digest) ?? cache.find(record.digest));
  return views.take(known ?? (await state.store.open(record.item, { signal })));
}

/** Adds compact.md and sources.yaml, which are not part of a head. */
function completed({ state, record }: SkillSource, view: SkillView): HeadRecord {
  const { item, skillFile, names } = record;
  return readHead(state.store, { item, skillFile, names, files: view.files, texts: textsOfView(view), complete: true });
}
