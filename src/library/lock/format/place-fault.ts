import { relativePathFault } from '../../../contracts/text/relative-path.ts';

/**
 * Says why no skill may lie at a path below a lock file. What a repository cannot bring by itself, such as hooks of git, a lock file in it must
 * not bring either.
 */
export function placeFault(path: string): string | undefined {
  const isGit = path.split('/').some((part) => part.normalize('NFKC').toLowerCase() === '.git');
  return relativePathFault(path) ?? (isGit ? 'a folder of git' : undefined);
}
