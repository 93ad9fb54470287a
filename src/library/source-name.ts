import { basename } from 'node:path';
import { withoutArchiveEnding } from '../contracts/skills/archive-ending.ts';

/** The name of a source that is itself one skill: the last part of its path or address, without an ending of an archive or a repository. */
export function sourceName(source: string): string {
  const name = basename(source);
  return /\.git$/i.test(name) ? name.slice(0, -'.git'.length) : withoutArchiveEnding(name);
}
