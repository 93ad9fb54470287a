/** A plugin in this source, as a marketplace or its own file describes it. */
export interface Plugin {
  name: string;
  /** Folders that it may lie in, the first that is there. */
  folders: readonly string[];
  /** Folders of its skills below its own, as the marketplace lists them. */
  skills: readonly string[];
  /** False: what the marketplace lists is all; the plugin's own file is not read. */
  strict: boolean;
  /** Path of the file that describes it. */
  described: string;
  /** True: it is called what it calls itself. */
  namesItself?: boolean;
}

/** Where a plugin describes itself, below its folder. */
export const PLUGIN_FILES: readonly string[] = ['.claude-plugin/plugin.json', '.codex-plugin/plugin.json'];

const NAME_CHARACTERS = 200;
const SKILL_PATHS = 1_000;

/** The name of a plugin, where a value can be one. */
export function pluginName(value: unknown): string | undefined {
  return typeof value === 'string' && value.trim() !== '' && value.length <= NAME_CHARACTERS ? value : undefined;
}

/** The `skills` of a plugin: a text, a list of texts, or nothing. Undefined where it is something else. */
export function skillPaths(value: unknown): string[] | undefined {
  if (value === undefined || value === null) return [];
  if (typeof value === 'string') return [value];
  if (!Array.isArray(value) || value.length > SKILL_PATHS) return undefined;
  const paths = value.filter((path) => typeof path === 'string');
  return paths.length === value.length ? paths : undefined;
}
