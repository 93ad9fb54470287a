import type { RootKind } from '../../contracts/skill.ts';
import type { SkillStore } from '../../contracts/store.ts';
import type { TreeCache } from '../../stores/cache/tree-cache.ts';
import { refused } from './parse-source.ts';
import type { SourceSpec } from './source-spec.ts';

/** How a source is opened. */
export interface OpenSourceOptions {
  kind: RootKind;
  cache: TreeCache;
  /** Whether a SKILL.md below another one is a skill of its own. */
  nested?: boolean | undefined;
}

/**
 * Opens a source as a store of skills. What reads one kind of source loads with the first of its kind.
 *
 * @throws SkillcellError `source.refused`, `store.unavailable`
 */
export async function openSource(spec: SourceSpec, { kind, cache }: OpenSourceOptions): Promise<SkillStore> {
  switch (spec.kind) {
    case 'directory': {
      const { createDirectoryStore } = await import('../../stores/directory/directory-store.ts');
      return createDirectoryStore({ path: spec.source, kind, cache });
    }
    default:
      throw refused(`sources of this kind (${spec.kind}) are not read yet`, spec.source);
  }
}
