import { basename } from 'node:path';
import { withoutArchiveEnding } from '../contracts/skills/archive-ending.ts';

/** What a source is called that is one skill itself: the last name of its path or address, without what says that it is an archive or a repository. */
export function sourceName(source: string): string {
  const name = basename(source);
  return /\.git$/i.test(name) ? name.slice(0, -'.git'.length) : withoutArchiveEnding(name);
}
