import type { Kysely } from 'kysely';
import { SkillcellError } from '../../contracts/errors/skillcell-error.ts';
import type { RootKind } from '../../contracts/skills/skill.ts';
import type { Call, SkillStore, SkillView, StoreItem } from '../../contracts/skills/store.ts';
import { quotedText } from '../../contracts/text/quoted-text.ts';
import { headOfView } from '../../library/stores/cache/head-of-view.ts';
import type { TreeCache } from '../../library/stores/cache/tree-cache.ts';
import type { Tables } from '../database/tables.ts';
import { PUBLIC } from '../kinds/kind-rows.ts';
import { workOnArchive } from './archive-work.ts';

/** The skills of one owner in the registry. */
export interface RegistryStoreOptions {
  db: Kysely<Tables>;
  /** The user, or 0 for public skills. */
  userId: number;
  /** `builtin` publishes them as `public.*`, `user` as `custom.*`. */
  kind: RootKind;
  cache: TreeCache;
  /** The skills as they were at a version of {@link lastVersion}. @default the present skills */
  upTo?: number | undefined;
}

/** The skills of one owner. The revision of a skill is its digest; its files stay in the cache. */
export function createRegistryStore({ db, userId, kind, cache, upTo }: RegistryStoreOptions): SkillStore {
  const source = userId === PUBLIC ? 'public' : `user ${userId}`;

  const view = async (item: StoreItem, { signal }: Call = {}): Promise<SkillView> => {
    signal?.throwIfAborted();
    const kept = cache.find(item.revision);
    if (kept !== undefined) return kept;
    const row = await db
      .selectFrom('kinds')
      .innerJoin('skill_binaries', 'skill_binaries.kind_id', 'kinds.id')
      .select('skill_binaries.binary_data')
      .where('kinds.user_id', '=', userId)
      .where('kinds.slug', '=', item.path)
      .where('skill_binaries.digest', '=', item.revision)
      .limit(1)
      .executeTakeFirst();
    if (row === undefined) throw changed(item);
    const { folder: cacheFolder, maxBytes: cacheBytes } = cache;
    const file = `${item.path}.zip`;
    await workOnArchive({ type: 'keep', bytes: row.binary_data, file, cacheFolder, cacheBytes }, { signal });
    const found = cache.find(item.revision);
    if (found === undefined) throw changed(item);
    return found;
  };

  return {
    id: `registry:${source}`,
    async list({ signal } = {}) {
      signal?.throwIfAborted();
      const rows = await db
        .selectFrom('kinds')
        .innerJoin('skill_binaries as version', 'version.kind_id', 'kinds.id')
        .select(['kinds.slug', 'version.digest'])
        .where('kinds.user_id', '=', userId)
        .where('version.id', '=', (eb) =>
          eb
            .selectFrom('skill_binaries as each')
            .select(({ fn }) => fn.max('each.id').as('last'))
            .whereRef('each.kind_id', '=', 'kinds.id')
            .$if(upTo !== undefined, (query) => query.where('each.id', '<=', upTo ?? 0)),
        )
        .orderBy('kinds.slug')
        .execute();
      const items = rows.map(({ slug, digest }): StoreItem => {
        const path = slug ?? '';
        return { path, revision: digest, origin: { type: 'registry', source, folder: path }, kind };
      });
      return { items, diagnostics: [] };
    },
    async head(item, call) {
      const head = headOfView(item, await view(item, call));
      if (head === undefined) throw changed(item);
      return head;
    },
    open: view,
    async close() {},
  };
}

function changed({ path }: StoreItem): SkillcellError {
  return new SkillcellError(
    'store.changed',
    `Cannot read the skill ${quotedText(path)}: it changed after it was listed.`,
  );
}
