import { relativePathFault } from '../../../contracts/text/relative-path.ts';

/**
 * The reason why no skill may be at a path below a lock file. A repository cannot bring some files by itself, such as git hooks; a lock file in it
 * must not bring them either.
 */
export function placeFault(path: string): string | undefined {
  const isGit = path.split('/').some((part) => part.normalize('NFKC').toLowerCase() === '.git');
  return relativePathFault(path) ?? (isGit ? 'a folder of git' : undefined);
}
