import { isAbsolute } from 'node:path';
import type { RootKind } from '../../contracts/skills/skill.ts';
import type { SkillStore } from '../../contracts/skills/store.ts';
import type { TreeCache } from '../stores/cache/tree-cache.ts';
import type { PluginElsewhere } from '../stores/contents/source-contents.ts';
import type { SourceSpec } from './source-spec.ts';

/** Options of {@link openSource}. */
export interface OpenSourceOptions {
  kind: RootKind;
  cache: TreeCache;
  /** Whether a SKILL.md below another one is a skill of its own. */
  nested?: boolean | undefined;
  /** Hosts and ranges whose addresses may be private. */
  allowPrivate?: readonly string[] | undefined;
  /** Tokens of private git repositories, by origin: `https://git.example.test`. */
  tokens?: ReadonlyMap<string, string> | undefined;
  /** Treats the source as this plugin of a marketplace elsewhere. */
  plugin?: PluginElsewhere | undefined;
}

/** A store of a source, which may list plugins in other sources. */
export interface OpenedSource extends SkillStore {
  elsewhere?(call: { signal?: AbortSignal | undefined }): Promise<readonly PluginElsewhere[]>;
}

/**
 * Opens a source as a store of skills. The code for each kind of source is loaded on demand.
 *
 * @throws SkillcellError `source.refused`, `store.unavailable`
 */
export async function openSource(spec: SourceSpec, options: OpenSourceOptions): Promise<OpenedSource> {
  const { kind, cache, nested, allowPrivate = [] } = options;
  switch (spec.kind) {
    case 'directory': {
      const { createSourceStore } = await import('../stores/directory/source-store.ts');
      return createSourceStore({ path: spec.source, kind, cache, nested });
    }
    case 'archive': {
      const { createArchiveStore } = await import('../stores/archive/archive-store.ts');
      const isHere = isAbsolute(spec.source);
      return createArchiveStore({
        kind,
        cache,
        ...(isHere ? { path: spec.source } : { url: spec.source, allowPrivate }),
      });
    }
    case 'git':
      return await openGit(spec, options);
    case 'web': {
      const { createWebStore } = await import('../stores/web/web-store.ts');
      return createWebStore({ url: spec.source, kind, cache, allowPrivate });
    }
    case 'mcp': {
      const { createMcpStore } = await import('../stores/mcp/mcp-store.ts');
      return createMcpStore({ url: spec.source, kind, cache, allowPrivate });
    }
    case 's3': {
      const { openS3Source } = await import('../stores/s3/open-s3-source.ts');
      return await openS3Source({ source: spec.source, kind, cache });
    }
  }
}

async function openGit(spec: SourceSpec, options: OpenSourceOptions): Promise<OpenedSource> {
  const { kind, cache, nested, allowPrivate = [], tokens, plugin } = options;
  const [{ createGitStore }, { resolveChecked }] = await Promise.all([
    import('../stores/git/git-store.ts'),
    import('../../outgoing/resolve-checked.ts'),
  ]);
  const store = createGitStore({
    url: spec.source,
    ref: spec.ref,
    folder: plugin?.folder,
    kind,
    cache,
    nested,
    plugin,
    allowPrivate,
    // A local path has no origin, and is read with this user's permissions.
    token: tokens?.get(URL.parse(spec.source)?.origin ?? ''),
    resolve: resolveChecked,
  });
  return {
    ...store,
    async elsewhere({ signal }) {
      return (await store.contents({ signal })).elsewhere;
    },
  };
}
