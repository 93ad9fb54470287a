/** A plugin in this source, as a marketplace or its own file describes it. */
export interface Plugin {
  name: string;
  /** Folders to try; the first that exists is the plugin's. */
  folders: readonly string[];
  /** Folders of its skills, relative to the plugin, as the marketplace lists them. */
  skills: readonly string[];
  /** False: the list of the marketplace is complete; the plugin's own file is not read. */
  strict: boolean;
  /** Path of the file that describes it. */
  described: string;
  /** True: the name in the plugin's own file counts. */
  namesItself?: boolean;
}

/** Paths of a plugin's own file, below its folder. */
export const PLUGIN_FILES: readonly string[] = ['.claude-plugin/plugin.json', '.codex-plugin/plugin.json'];

const NAME_CHARACTERS = 200;
const SKILL_PATHS = 1_000;

/** The name of a plugin; undefined where the value is not a valid name. */
export function pluginName(value: unknown): string | undefined {
  return typeof value === 'string' && value.trim() !== '' && value.length <= NAME_CHARACTERS ? value : undefined;
}

/** The `skills` of a plugin: a text, a list of texts, or absent. Undefined for any other value. */
export function skillPaths(value: unknown): string[] | undefined {
  if (value === undefined || value === null) return [];
  if (typeof value === 'string') return [value];
  if (!Array.isArray(value) || value.length > SKILL_PATHS) return undefined;
  const paths = value.filter((path) => typeof path === 'string');
  return paths.length === value.length ? paths : undefined;
}
