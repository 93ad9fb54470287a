import type { Diagnostic } from '../../../contracts/errors/diagnostic.ts';
import { libraryDiagnostic } from '../../../contracts/errors/library-diagnostic.ts';
import type { LibraryCode } from '../../../contracts/errors/library-severities.ts';
import { quotedText } from '../../../contracts/text/quoted-text.ts';
import { type Plugin, pluginName, skillPaths } from './plugin.ts';
import { readPluginSource } from './plugin-source.ts';
import { readSourceJson } from './read-source-json.ts';
import type { PluginElsewhere } from './source-contents.ts';
import type { SourceEntry, SourceFiles } from './source-files.ts';

/** Paths of the files that list plugins. */
const MARKETPLACE_FILES: readonly string[] = ['.claude-plugin/marketplace.json', '.agents/plugins/marketplace.json'];
const MARKETPLACE_BYTES = 4 * 1024 * 1024;
const PLUGINS = 5_000;

/** Contents of the marketplaces of a source. */
export interface Marketplaces {
  plugins: Plugin[];
  elsewhere: PluginElsewhere[];
  diagnostics: Diagnostic[];
}

/** Reads the marketplaces of a source. An invalid entry is reported, and the others stay. */
export async function readMarketplaces(
  files: SourceFiles,
  entryAt: (path: string) => SourceEntry | undefined,
): Promise<Marketplaces> {
  const found: Marketplaces = { plugins: [], elsewhere: [], diagnostics: [] };
  for (const path of MARKETPLACE_FILES) {
    const entry = entryAt(path);
    if (entry === undefined) continue;
    const read = await readSourceJson(files, entry, MARKETPLACE_BYTES);
    if (read.diagnostic === undefined) takePlugins(read.value, path, found);
    else found.diagnostics.push(read.diagnostic);
  }
  return found;
}

function takePlugins(value: unknown, path: string, found: Marketplaces): void {
  const whole = Array.isArray(value) ? { plugins: value } : asObject(value);
  const note = (code: LibraryCode, message: string): void => {
    found.diagnostics.push(libraryDiagnostic(code, message, { path }));
  };
  if (!Array.isArray(whole?.['plugins'])) {
    note('source.manifest', 'The marketplace has no list of plugins.');
    return;
  }
  const root = asObject(whole['metadata'])?.['pluginRoot'] ?? whole['pluginRoot'];
  if (root !== undefined && typeof root !== 'string')
    note('source.manifest', 'The pluginRoot of the marketplace is no text; it is ignored.');
  const pluginRoot = typeof root === 'string' ? root : undefined;
  const entries: unknown[] = whole['plugins'];
  if (entries.length > PLUGINS)
    note('source.manifest', `Only the first ${PLUGINS} plugins are looked at, got ${entries.length}.`);
  for (const [index, item] of entries.slice(0, PLUGINS).entries()) {
    const entry = asObject(item);
    const name = pluginName(entry?.['name']);
    const skills = skillPaths(entry?.['skills']);
    if (entry === undefined || name === undefined) {
      note(
        'source.manifest',
        `Plugin ${index + 1} of the marketplace has no name of at most 200 characters; it is left out.`,
      );
      continue;
    }
    if (skills === undefined) {
      note(
        'source.manifest',
        `The skills of plugin ${quotedText(name)} are neither a text nor a list of texts; the plugin is left out.`,
      );
      continue;
    }
    const strict = entry['strict'] !== false;
    const source = readPluginSource(entry['source'], pluginRoot);
    if ('fault' in source) {
      note(source.fault, `Plugin ${quotedText(name)} is not taken: ${source.reason}.`);
    } else if ('folders' in source) {
      found.plugins.push({ name, folders: source.folders, skills, strict, described: path });
    } else {
      found.elsewhere.push({ plugin: name, ...source.elsewhere, ...(skills.length === 0 ? {} : { skills }), strict });
      note('source.elsewhere', `Plugin ${quotedText(name)} lies in another repository: ${source.elsewhere.url}.`);
    }
  }
}

function asObject(value: unknown): Record<string, unknown> | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : undefined;
}
