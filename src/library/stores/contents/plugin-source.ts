import { quotedText } from '../../../contracts/text/quoted-text.ts';
import type { PluginElsewhere } from './source-contents.ts';
import { pathInSource } from './source-path.ts';

/** The place of a plugin: in this source, in another one, or unreadable here. */
export type PluginSource =
  | { folders: string[] }
  | { elsewhere: Pick<PluginElsewhere, 'url' | 'ref' | 'commit' | 'folder'> }
  | { fault: 'source.path' | 'source.manifest' | 'source.unsupported'; reason: string };

const REPOSITORY = /^[\w.-]{1,100}\/[\w.-]{1,100}$/;
const COMMIT = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/i;
const ADDRESS_CHARACTERS = 2_000;

/**
 * Reads the `source` of a plugin in a marketplace. A path starts at the root of the source. A bare name starts at `pluginRoot`; another path does
 * so only where the root has no such folder. Both readings are in use.
 *
 * @param source as the marketplace has it
 * @param pluginRoot folder of bare names, as written
 */
export function readPluginSource(source: unknown, pluginRoot: string | undefined): PluginSource {
  if (typeof source === 'string') return localFolders(source, pluginRoot);
  if (typeof source !== 'object' || source === null)
    return { fault: 'source.manifest', reason: 'its source is neither a text nor an object' };
  const { source: type, repo, url, path } = source as Record<string, unknown>;
  if (type === 'local' && typeof path === 'string') return localFolders(path, pluginRoot);
  if (type === 'github') {
    if (typeof repo !== 'string' || !REPOSITORY.test(repo))
      return { fault: 'source.manifest', reason: `its repo is not of the form owner/name, got ${shown(repo)}` };
    return elsewhere(`https://github.com/${repo.replace(/\.git$/, '')}.git`, source);
  }
  if (type === 'url' || type === 'git-subdir') {
    if (type === 'git-subdir' && typeof path !== 'string')
      return { fault: 'source.manifest', reason: 'its source names no path' };
    if (typeof url === 'string' && REPOSITORY.test(url)) return elsewhere(`https://github.com/${url}.git`, source);
    return elsewhere(url, source);
  }
  return { fault: 'source.unsupported', reason: `a source of type ${shown(type)} is not supported` };
}

function localFolders(path: string, pluginRoot: string | undefined): PluginSource {
  const bare = !path.startsWith('.');
  const roots = pluginRoot === undefined ? ['.'] : bare ? [pluginRoot] : ['.', pluginRoot];
  const folders = roots.map((root) => {
    const base = pathInSource('.', root);
    return base === undefined ? undefined : pathInSource(base, path);
  });
  return folders.includes(undefined)
    ? { fault: 'source.path', reason: `its path leaves the source or is invalid, got ${quotedText(path)}` }
    : { folders: folders.filter((folder) => folder !== undefined) };
}

function elsewhere(url: unknown, { ref, sha, path }: { ref?: unknown; sha?: unknown; path?: unknown }): PluginSource {
  const address = plainAddress(url);
  if (address === undefined)
    return { fault: 'source.unsupported', reason: 'its address is not a plain https address without a credential' };
  if (ref !== undefined && typeof ref !== 'string')
    return { fault: 'source.manifest', reason: `its ref is no text, got ${shown(ref)}` };
  if (sha !== undefined && (typeof sha !== 'string' || !COMMIT.test(sha)))
    return { fault: 'source.manifest', reason: `its sha is no full id of a commit, got ${shown(sha)}` };
  const folder = typeof path === 'string' ? pathInSource('.', path) : '.';
  if (folder === undefined || (path !== undefined && typeof path !== 'string'))
    return { fault: 'source.path', reason: `its path leaves the repository or is invalid, got ${shown(path)}` };
  return {
    elsewhere: {
      url: address,
      folder,
      ...(ref === undefined ? {} : { ref }),
      ...(sha === undefined ? {} : { commit: sha.toLowerCase() }),
    },
  };
}

/** An address that is safe to pass on: https, and nothing in it that is secret. */
function plainAddress(url: unknown): string | undefined {
  if (typeof url !== 'string' || url.length > ADDRESS_CHARACTERS || !URL.canParse(url)) return undefined;
  const { protocol, username, password, search, hash, href } = new URL(url);
  return protocol === 'https:' && `${username}${password}${search}${hash}` === '' ? href : undefined;
}

function shown(value: unknown): string {
  return typeof value === 'string' ? quotedText(value) : typeof value;
}
