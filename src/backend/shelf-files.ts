import { quotedText } from '../contracts/text/quoted-text.ts';
import { SkillcellError } from '../contracts/errors/skillcell-error.ts';
import { READ_LIMIT } from '../skills/load/files/read-skill-file.ts';
import type { MountedFile, MountedFiles } from './mounted-files.ts';
import { type ShelvedSkill, type SkillShelf, viewedBytes } from './skill-shelf.ts';

/** Options of {@link shelfFiles}. */
export interface ShelfFilesOptions {
  shelf: SkillShelf;
  /** Whether the files of a skill are shown. */
  shows(skill: ShelvedSkill): boolean;
}

/** The files of skills: those on their lists, but no others beside them. */
export function shelfFiles({ shelf, shows }: ShelfFilesOptions): MountedFiles {
  /** The skill that a path leads into, and the rest of the path. */
  const find = async (
    path: string,
    signal?: AbortSignal,
  ): Promise<{ skill: ShelvedSkill; file: string } | undefined> => {
    for (const skills of [shelf.known, shelf.look]) {
      const all = await skills(signal);
      const names = path.split('/');
      for (let count = 1; count < names.length; count += 1) {
        const skill = all.get(names.slice(0, count).join('/'));
        if (skill === undefined) continue;
        const file = names.slice(count).join('/');
        if (!shows(skill)) return undefined;
        if (skill.head.names.some((each) => each.path === file)) return { skill, file };
      }
    }
    return undefined;
  };

  return {
    async list(folder, signal) {
      const files: MountedFile[] = [];
      const below = folder === '' ? '' : `${folder}/`;
      for (const skill of (await shelf.look(signal)).values()) {
        if (!shows(skill)) continue;
        for (const { path, bytes } of skill.head.names) {
          const whole = `${skill.path}/${path}`;
          if (whole.startsWith(below)) files.push({ path: whole, bytes });
        }
      }
      // The shelf reports its own diagnostics.
      return { files, diagnostics: [] };
    },
    async has(path, signal) {
      return (await find(path, signal)) !== undefined;
    },
    async read(path, signal) {
      const found = await find(path, signal);
      if (found === undefined) return undefined;
      const { skill, file } = found;
      const { bytes = 0 } = skill.head.names.find((each) => each.path === file) ?? {};
      if (bytes > READ_LIMIT) {
        const message = `Cannot read ${quotedText(path)}: the limit is ${READ_LIMIT} bytes, got ${bytes}.`;
        throw new SkillcellError('file.unreadable', message);
      }
      const content = viewedBytes(await shelf.open(skill, signal), file);
      return content === undefined ? undefined : { content };
    },
  };
}
