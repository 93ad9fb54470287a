import {
  SkillCatalog,
  SkillCatalogError,
  type SkillFileEntry,
  type SkillFiles,
} from '@modelcontextprotocol/server/ext/skills';
import type { Skill } from '../../contracts/skills/skill.ts';
import type { SkillsSubsystem } from '../../skills/index.ts';
import type { McpServerSettings } from './server-settings.ts';

/** The skills of a server, served by the protocol's extension. */
export interface ServedSkills {
  catalog: SkillCatalog;
  /**
   * Serves the current skills; if that fails, the earlier ones stay. Connected clients are notified.
   *
   * @returns whether the lists of clients have changed
   */
  renew(): Promise<boolean>;
}

/**
 * The skills of the server's consumer, served by the protocol's extension (SEP-2640), each below `skill://NAMESPACE/NAME/`. Files are
 * read when a client asks for them, and the policy is checked then as well.
 */
export async function loadSkillCatalog({ skills: source, consumer, log }: McpServerSettings): Promise<ServedSkills> {
  let files: SkillFiles;
  // Every file is listed with its digest, so every skill is fetched whole.
  const serve = async <Result>(scan: () => Promise<Result>): Promise<Result> => {
    const skills = await source.present({ consumer });
    const left = new Map(skills.visible({ consumer }).map((skill) => [folderOf(skill.id), skill]));
    const before = files;
    for (;;) {
      files = filesOf([...left.values()], skills, consumer);
      try {
        return await scan();
      } catch (error) {
        files = before;
        // A file that changed or vanished after it was loaded removes its own skill, and no other.
        const broken = SkillCatalogError.isInstance(error) ? error.problems : [];
        const dropped = broken.filter(({ path }) => left.delete(path.split('/').slice(0, 2).join('/')));
        if (dropped.length === 0) throw error;
        dropped.forEach(tell);
      }
    }
  };
  const tell = ({ path, message }: { path: string; message: string }): void =>
    log(`${path} is not served as a skill: ${message}`);
  const present: SkillFiles = { list: (folder) => files.list(folder), read: (path) => files.read(path) };
  const catalog = await serve(() => SkillCatalog.load(present, { onWarning: tell }));
  let renewing: Promise<unknown> = Promise.resolve();
  return {
    catalog,
    renew() {
      const renewed = renewing.then(() => serve(() => catalog.reload())).then(({ listChanged }) => listChanged);
      renewing = renewed.catch(() => undefined);
      return renewed;
    },
  };
}

/** The address of a file of a skill. */
export function skillFileUri(id: string, path: string): string {
  return `skill://${folderOf(id)}/${path.split('/').map(encodeURIComponent).join('/')}`;
}

/** `custom.our-style` lies in `custom/our-style`. */
function folderOf(id: string): string {
  return id.replace('.', '/');
}

function filesOf(shown: readonly Skill[], skills: SkillsSubsystem, consumer: string): SkillFiles {
  const files = new Map<string, { id: string; path: string }>();
  const folders = new Map<string, Map<string, SkillFileEntry['kind']>>([['', new Map()]]);
  for (const { id, files: listed } of shown) {
    for (const { path } of listed) {
      const whole = `${folderOf(id)}/${path}`;
      files.set(whole, { id, path });
      enter(folders, whole.split('/'));
    }
  }
  return {
    list: async (folder) => Array.from(folders.get(folder) ?? [], ([name, kind]) => ({ name, kind })),
    async read(path) {
      const file = files.get(path);
      if (file === undefined) throw new Error('no skill has such a file');
      const read = skills.readSkillFile(file.id, file.path, { consumer, as: 'bytes' });
      return read.as === 'bytes' ? read.content : Buffer.from(read.text);
    },
  };
}

/** Enters each part of a path as a child of the part before it. */
function enter(folders: Map<string, Map<string, SkillFileEntry['kind']>>, parts: readonly string[]): void {
  let folder = '';
  for (const [depth, name] of parts.entries()) {
    const children = folders.get(folder) ?? new Map<string, SkillFileEntry['kind']>();
    children.set(name, depth === parts.length - 1 ? 'file' : 'directory');
    folders.set(folder, children);
    folder = folder === '' ? name : `${folder}/${name}`;
  }
}
