import type { Diagnostic } from '../../../contracts/errors/diagnostic.ts';
import { libraryDiagnostic } from '../../../contracts/errors/library-diagnostic.ts';
import { quotedText } from '../../../contracts/text/quoted-text.ts';
import { folderIn, folderPath, foldersBelow, type SourceFolder } from './file-tree.ts';
import { type Plugin, PLUGIN_FILES, pluginName, skillPaths } from './plugin.ts';
import { readSourceJson } from './read-source-json.ts';
import { findSkillPlaces, skillFileIn } from './skill-places.ts';
import type { SourceEntry, SourceFiles } from './source-files.ts';
import { pathInSource } from './source-path.ts';

const PLUGIN_BYTES = 256 * 1024;
/** Limit of plugins that have their own file and that no marketplace lists. */
const UNLISTED = 1_000;

/** Folders of skills that belong to a plugin. Listed folders count before the default ones. */
export interface PluginSkills {
  plugin: string;
  listed: string[];
  usual: string[];
}

/** Finds the folders of a plugin's skills. */
export async function findPluginSkills(
  files: SourceFiles,
  root: SourceFolder,
  plugin: Plugin,
): Promise<{ found?: PluginSkills; folder?: string; diagnostics: Diagnostic[] }> {
  const { folders, skills, strict, described } = plugin;
  const place = folders.find((path) => folderIn(root, path) !== undefined);
  const folder = place === undefined ? undefined : folderIn(root, place);
  if (place === undefined || folder === undefined) {
    const message = `Plugin ${quotedText(plugin.name)} is not there, got ${quotedText(folders[0] ?? '')}.`;
    return { diagnostics: [libraryDiagnostic('source.missing', message, { path: described })] };
  }
  const own: OwnFile = strict ? await readOwnFile(files, folder) : { skills: [], diagnostics: [] };
  const name = plugin.namesItself === true ? (own.name ?? plugin.name) : plugin.name;
  const diagnostics = [...own.diagnostics];
  const listed: string[] = [];
  for (const [path, by] of [
    ...skills.map((path) => [path, described] as const),
    ...own.skills.map((path) => [path, own.path ?? described] as const),
  ]) {
    const whole = pathInSource(place, path)?.replace(/\/SKILL\.md$/, '');
    const there = whole === undefined ? undefined : folderIn(root, whole);
    const fault =
      whole === undefined
        ? libraryDiagnostic(
            'source.path',
            `A path of plugin ${quotedText(name)} leaves the source or is invalid, got ${quotedText(path)}.`,
            { path: by },
          )
        : missing(there, name, path, by);
    if (fault !== undefined) diagnostics.push(fault);
    else if (there !== undefined) listed.push(...skillFoldersIn(there));
  }
  // The source itself may hold several plugins. So a plugin there that lists skills owns only these.
  const alone = !strict || place === '.';
  const usual = alone && listed.length > 0 ? [] : usualFolders(folder);
  return { found: { plugin: name, listed, usual }, folder: place, diagnostics };
}

/** Plugins with their own file, in folders that no marketplace names. */
export function unlistedPlugins(root: SourceFolder, known: ReadonlySet<string>): Plugin[] {
  const plugins: Plugin[] = [];
  for (const folder of foldersBelow(root)) {
    const path = folderPath(folder);
    const own = ownFile(folder);
    if (own === undefined || known.has(path)) continue;
    const name = path.slice(path.lastIndexOf('/') + 1);
    plugins.push({ name, folders: [path], skills: [], strict: true, described: own.path, namesItself: true });
    if (plugins.length === UNLISTED) break;
  }
  return plugins;
}

function ownFile(folder: SourceFolder): SourceEntry | undefined {
  for (const path of PLUGIN_FILES) {
    const [below = '', name = ''] = path.split('/');
    const entry = folder.folders.get(below)?.files.get(name);
    if (entry !== undefined) return entry;
  }
  return undefined;
}

/** The plugin's own file. */
interface OwnFile {
  name?: string | undefined;
  skills: readonly string[];
  path?: string;
  diagnostics: Diagnostic[];
}

async function readOwnFile(files: SourceFiles, folder: SourceFolder): Promise<OwnFile> {
  const own = ownFile(folder);
  if (own === undefined) return { skills: [], diagnostics: [] };
  const read = await readSourceJson(files, own, PLUGIN_BYTES);
  if (read.diagnostic !== undefined) return { skills: [], diagnostics: [read.diagnostic] };
  const { path } = own;
  const fault = (message: string, name?: string): OwnFile => ({
    name,
    skills: [],
    diagnostics: [libraryDiagnostic('source.manifest', message, { path })],
  });
  if (typeof read.value !== 'object' || read.value === null || Array.isArray(read.value))
    return fault('The file of the plugin holds no object.');
  const described = read.value as { name?: unknown; skills?: unknown };
  const name = pluginName(described.name);
  const skills = skillPaths(described.skills);
  if (skills === undefined) return fault('The skills of the plugin are neither a text nor a list of texts.', name);
  return { name, skills, path, diagnostics: [] };
}

function missing(there: SourceFolder | undefined, name: string, path: string, by: string): Diagnostic | undefined {
  if (there !== undefined && skillFoldersIn(there).length > 0) return undefined;
  const what = there === undefined ? 'is not there' : 'holds no SKILL.md';
  const message = `A folder that plugin ${quotedText(name)} lists ${what}, got ${quotedText(path)}.`;
  return libraryDiagnostic('source.missing', message, { path: by });
}

/** The default folders of a plugin's skills, unless it lists them: below `skills/`, or the plugin's own folder. */
function usualFolders(folder: SourceFolder): string[] {
  const below = folder.folders.get('skills');
  const own = skillFileIn(folder) === undefined ? [] : [folderPath(folder)];
  return [...own, ...(below === undefined ? [] : skillFoldersIn(below))];
}

function skillFoldersIn(folder: SourceFolder): string[] {
  return findSkillPlaces(folder, false).places.map((place) => folderPath(place.folder));
}
