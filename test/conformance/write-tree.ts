import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { SkillTree } from '../../src/contracts/skills/skill.ts';
import { contentBytes, type Content } from './content-bytes.ts';

/** Files of a folder by path; the target of a link is kept exactly. */
export type Tree = Record<string, Content | { symlink: string }>;

/** Writes a tree into a folder, with unchanged names and bytes. */
export function writeTree(folder: string, tree: Tree): void {
  mkdirSync(folder, { recursive: true });
  for (const [path, content] of Object.entries(tree)) {
    const target = join(folder, path);
    mkdirSync(dirname(target), { recursive: true });
    if (typeof content === 'object' && 'symlink' in content) {
      symlinkSync(content.symlink, target);
      continue;
    }
    writeFileSync(target, contentBytes(content));
    chmodSync(target, isExecutable(content) ? 0o755 : 0o644);
  }
}

/** Converts a tree to the in-memory form of a skill. */
export function skillTreeOf(tree: Tree): SkillTree {
  return new Map(
    Object.entries(tree).map(([path, content]) => {
      if (typeof content === 'object' && 'symlink' in content)
        throw new Error(`A skill tree cannot hold a link: ${path}`);
      return [path, { bytes: contentBytes(content), executable: isExecutable(content) }];
    }),
  );
}

function isExecutable(content: Content): boolean {
  return typeof content === 'object' && 'executable' in content && content.executable;
}
