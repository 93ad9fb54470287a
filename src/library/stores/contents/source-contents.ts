import type { Diagnostic } from '../../../contracts/errors/diagnostic.ts';
import type { SourceEntry } from './source-files.ts';

/** A skill that a source holds. */
export interface FoundSkill {
  /** Path of its folder in the source, `.` for the whole. */
  folder: string;
  /** `SKILL.md` or another spelling of it. */
  skillFile: string;
  /** The plugin that brings it, as a marketplace or the plugin itself is called. */
  plugin?: string;
  /** Its regular files, with their paths below the folder, in code-point order. */
  files: readonly SourceEntry[];
}

/** A plugin that a marketplace lists and that lies in another repository. */
export interface PluginElsewhere {
  plugin: string;
  /** An https address without a credential. */
  url: string;
  /** A branch or tag. */
  ref?: string;
  /** Full id of the commit that is asked for; it counts before `ref`. */
  commit?: string;
  /** Folder of the plugin there, `.` for the whole. */
  folder: string;
  /** Folders of its skills below its own, where the marketplace lists them. */
  skills?: readonly string[];
  /** False: the plugin's own file says nothing of its skills. */
  strict: boolean;
}

/** What skills a source holds, where others lie, and what is not taken and why. */
export interface SourceContents {
  /** In code-point order of their folders, each once. */
  skills: FoundSkill[];
  elsewhere: PluginElsewhere[];
  diagnostics: Diagnostic[];
}
