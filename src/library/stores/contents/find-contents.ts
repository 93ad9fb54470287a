import type { Diagnostic } from '../../../contracts/errors/diagnostic.ts';
import { libraryDiagnostic } from '../../../contracts/errors/library-diagnostic.ts';
import { quotedText } from '../../../contracts/text/quoted-text.ts';
import { listNames } from '../../../skills/text/list-names.ts';
import { compareCodePoints } from '../../../skills/text/text.ts';
import { buildFileTree, folderIn, folderPath, type SourceFolder } from './file-tree.ts';
import { namePointers } from './large-file-pointers.ts';
import type { Plugin } from './plugin.ts';
import { findPluginSkills, type PluginSkills, unlistedPlugins } from './plugin-skills.ts';
import { readMarketplaces } from './read-marketplaces.ts';
import { listSkillEntries } from './skill-files.ts';
import { findSkillPlaces, skillFileIn, type SkillPlace } from './skill-places.ts';
import type { FoundSkill, PluginElsewhere, SourceContents } from './source-contents.ts';
import type { SourceFiles } from './source-files.ts';

/** Options of a search through a source. */
export interface FindOptions {
  /** Also takes a SKILL.md below another skill as a skill of its own. @default false */
  nested?: boolean | undefined;
  /** Treats the source as this plugin of a marketplace, and takes only the plugin's skills. */
  plugin?: Pick<PluginElsewhere, 'plugin' | 'skills' | 'strict'> | undefined;
}

const NAMED = 10;

/**
 * Finds the skills of a source: every folder with SKILL.md where a root would have one, and the skills that its marketplaces and plugins list. A
 * skill that is found twice counts once. Diagnostics name the skills that are left out.
 */
export async function findContents(files: SourceFiles, options: FindOptions = {}): Promise<SourceContents> {
  const { nested = false, plugin } = options;
  const { root, diagnostics } = buildFileTree(files.entries);
  const found = findSkillPlaces(root, nested);
  const places = new Map(found.places.map((place) => [folderPath(place.folder), place]));
  const market =
    plugin === undefined
      ? await readMarketplaces(files, (path) => entryAt(root, path))
      : { plugins: [asPlugin(plugin)], elsewhere: [], diagnostics: [] };
  const brought = await bringSkills(files, root, market.plugins, plugin === undefined);
  const owners = new Map<string, string>();
  const twice = assignOwners(owners, brought.skills);
  for (const folder of owners.keys()) addPlace(places, root, folder, nested);
  const taken = plugin === undefined ? places : new Map([...places].filter(([folder]) => owners.has(folder)));
  const skills: FoundSkill[] = [];
  const ofSkills: Diagnostic[] = [];
  for (const [folder, place] of [...taken].toSorted(([a], [b]) => compareCodePoints(a, b))) {
    const listed = listSkillEntries(place.folder);
    ofSkills.push(...listed.diagnostics);
    const owner = owners.get(folder);
    if (listed.files !== undefined)
      skills.push({
        folder,
        skillFile: place.skillFile,
        ...(owner === undefined ? {} : { plugin: owner }),
        files: listed.files,
      });
  }
  return {
    skills,
    elsewhere: market.elsewhere,
    diagnostics: [
      ...diagnostics,
      ...found.diagnostics,
      ...market.diagnostics,
      ...brought.diagnostics,
      ...twice,
      ...ofSkills,
      ...notOfPlugin([...places.keys()].filter((folder) => !taken.has(folder))),
      ...(await namePointers(files, skills)),
    ],
  };
}

async function bringSkills(
  files: SourceFiles,
  root: SourceFolder,
  plugins: readonly Plugin[],
  withUnlisted: boolean,
): Promise<{ skills: PluginSkills[]; diagnostics: Diagnostic[] }> {
  const skills: PluginSkills[] = [];
  const diagnostics: Diagnostic[] = [];
  const known = new Set<string>();
  const bring = async (plugin: Plugin): Promise<void> => {
    const brought = await findPluginSkills(files, root, plugin);
    if (brought.folder !== undefined) known.add(brought.folder);
    if (brought.found !== undefined) skills.push(brought.found);
    diagnostics.push(...brought.diagnostics);
  };
  for (const plugin of plugins) await bring(plugin);
  for (const plugin of withUnlisted ? unlistedPlugins(root, known) : []) await bring(plugin);
  return { skills, diagnostics };
}

/** Assigns each skill to a plugin. A listing by a plugin counts before another plugin's default folder. */
function assignOwners(owners: Map<string, string>, plugins: readonly PluginSkills[]): Diagnostic[] {
  const twice = new Map<string, Set<string>>();
  const take = (folder: string, plugin: string, isListed: boolean): void => {
    const owner = owners.get(folder);
    if (owner === undefined) owners.set(folder, plugin);
    else if (owner !== plugin && isListed) twice.set(folder, (twice.get(folder) ?? new Set()).add(plugin));
  };
  for (const { plugin, listed } of plugins) for (const folder of listed) take(folder, plugin, true);
  for (const { plugin, usual } of plugins) for (const folder of usual) take(folder, plugin, false);
  return [...twice].map(([path, others]) => {
    const named = listNames([...others], NAMED, quotedText);
    const message = `More than one plugin lists the skill; it is taken once, for ${quotedText(owners.get(path) ?? '')} and not for ${named}.`;
    return libraryDiagnostic('source.twice', message, { path });
  });
}

/** A plugin may list folders that are deeper than the search goes. */
function addPlace(places: Map<string, SkillPlace>, root: SourceFolder, path: string, nested: boolean): void {
  const folder = places.has(path) ? undefined : folderIn(root, path);
  const skillFile = folder === undefined ? undefined : skillFileIn(folder);
  if (folder === undefined || skillFile === undefined || (!nested && isBelowSkill(root, path))) return;
  places.set(path, { folder, skillFile });
}

function isBelowSkill(root: SourceFolder, path: string): boolean {
  const names = path.split('/');
  return ['.', ...names.slice(1).map((_, index) => names.slice(0, index + 1).join('/'))].some((above) => {
    const folder = above === path ? undefined : folderIn(root, above);
    return folder !== undefined && skillFileIn(folder) !== undefined;
  });
}

function asPlugin({ plugin, skills = [], strict }: NonNullable<FindOptions['plugin']>): Plugin {
  return { name: plugin, folders: ['.'], skills, strict, described: '.' };
}

function notOfPlugin(folders: readonly string[]): Diagnostic[] {
  const [first] = folders;
  if (first === undefined) return [];
  const message = `Skills that the plugin does not bring are left out: ${listNames(folders, NAMED)}.`;
  return [libraryDiagnostic('source.left-out', message, { path: first })];
}

function entryAt(root: SourceFolder, path: string): ReturnType<SourceFolder['files']['get']> {
  const slash = path.lastIndexOf('/');
  return folderIn(root, path.slice(0, slash))?.files.get(path.slice(slash + 1));
}
