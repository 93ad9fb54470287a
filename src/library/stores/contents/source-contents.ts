import type { Diagnostic } from '../../../contracts/errors/diagnostic.ts';
import type { SourceEntry } from './source-files.ts';

/** A skill that a source holds. */
export interface FoundSkill {
  /** Path of its folder in the source, `.` for the root. */
  folder: string;
  /** `SKILL.md` or another spelling of it. */
  skillFile: string;
  /** Name of its plugin, from the marketplace or from the plugin itself. */
  plugin?: string;
  /** Its regular files, with their paths below the folder, in code-point order. */
  files: readonly SourceEntry[];
}

/** A plugin that a marketplace lists and that another repository holds. */
export interface PluginElsewhere {
  plugin: string;
  /** An https address without a credential. */
  url: string;
  /** A branch or tag. */
  ref?: string;
  /** Full id of a commit; it counts before `ref`. */
  commit?: string;
  /** Folder of the plugin there, `.` for the root. */
  folder: string;
  /** Folders of its skills, relative to the plugin, where the marketplace lists them. */
  skills?: readonly string[];
  /** False: the plugin's own file does not define its skills. */
  strict: boolean;
}

/** Skills of a source, plugins in other repositories, and diagnostics about everything that is left out. */
export interface SourceContents {
  /** In code-point order of their folders, each once. */
  skills: FoundSkill[];
  elsewhere: PluginElsewhere[];
  diagnostics: Diagnostic[];
}
