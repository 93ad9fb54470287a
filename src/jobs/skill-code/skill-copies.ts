import { existsSync, realpathSync } from 'node:fs';
import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, isAbsolute, join, resolve } from 'node:path';
import type { Skill, SkillTree } from '../../contracts/skills/skill.ts';
import { SkillcellError } from '../../contracts/errors/skillcell-error.ts';
import { WORK_FOLDER_PREFIX } from '../../sandboxes/local/start-direct.ts';
import { fileSystemFault } from '../../durable/file-system-fault.ts';
import { currentOwner, ownerName } from '../../durable/owner.ts';
import { digestOf, skillDigest } from '../../skills/text/digest.ts';

/** Copies of skills whose code this process loads. */
export interface SkillCopies {
  /**
   * A folder with the files of the skill as they were when it was loaded, even if they changed on the disk since.
   *
   * @throws SkillcellError `skills.digest-mismatch` if the bytes of `tree` differ from the loaded ones
   */
  folderOf(skill: Skill, tree: SkillTree): Promise<string>;
  /** Removes all copies. Idempotent. */
  close(): Promise<void>;
}

/**
 * Creates a place for copies, in a folder of this process. A sweep removes the folder if the process was killed. A copy is named by the
 * skill's digest: Node caches modules by path, so a new version must have a new path.
 */
export function createSkillCopies(): SkillCopies {
  let root: Promise<string> | undefined;
  const made = new Map<string, Promise<string>>();

  const makeRoot = async (): Promise<string> => {
    try {
      return realpathSync(await mkdtemp(join(tmpdir(), `${WORK_FOLDER_PREFIX}${ownerName(currentOwner())}-code-`)));
    } catch (error) {
      throw fileSystemFault(error) ?? error;
    }
  };

  const make = async (digest: string, tree: SkillTree): Promise<string> => {
    const folder = join(await (root ??= makeRoot()), digest.slice('sha256:'.length));
    const staging = await mkdtemp(`${folder}.making-`);
    for (const [path, { bytes }] of tree) {
      await mkdir(dirname(join(staging, path)), { recursive: true });
      await writeFile(join(staging, path), bytes, { flag: 'wx', mode: 0o400 });
    }
    await rename(staging, folder);
    return folder;
  };

  return {
    async folderOf(skill, tree) {
      const files = Array.from(tree, ([path, { bytes, executable }]) => ({
        path,
        executable,
        digest: digestOf(bytes),
      }));
      const digest = skillDigest(files);
      if (digest !== skill.digest) {
        const message = `Cannot load the code of ${skill.id}: its files changed after it was loaded, got digest ${digest}.`;
        throw new SkillcellError('skills.digest-mismatch', message);
      }
      const known = made.get(digest) ?? make(digest, tree);
      made.set(digest, known);
      return await known;
    },
    async close() {
      const folder = await root?.catch(() => undefined);
      if (folder !== undefined) await rm(folder, { recursive: true, force: true });
    },
  };
}

/**
 * Whether the code of a skill may be loaded into this process: built-in skills, and skills of roots that the caller trusts. Skills of a
 * caller's store are never trusted, whatever root kind they claim.
 */
export function isTrusted(skill: Skill, trustedRoots: readonly string[]): boolean {
  // A skill rebuilt from bytes has no root; an empty path would resolve to the working folder.
  if (skill.ofStore === true || !isAbsolute(skill.rootPath)) return false;
  return skill.rootKind === 'builtin' || trustedRoots.some((root) => place(root) === place(skill.rootPath));
}

function place(path: string): string {
  const absolute = resolve(path);
  return existsSync(absolute) ? realpathSync(absolute) : absolute;
}
