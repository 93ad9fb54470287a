import { lstatSync, statSync } from 'node:fs';
import { basename, dirname, resolve } from 'node:path';
import type { SkillcellError } from '../../../contracts/errors/skillcell-error.ts';
import type { CliIo } from '../../terminal/cli-io.ts';
import { usageError } from '../../terminal/usage-error.ts';

/** Where something new is to be. */
export interface NewPlace {
  /** As it was given. */
  shown: string;
  /** Absolute path. */
  path: string;
  /** The folder that it will be in, which is there. */
  parent: string;
  name: string;
}

/**
 * Checks, before anything is read in vain, that nothing is there where something new is to be.
 *
 * @param mayStay says of what is there whether it may be the very thing that is to be written
 * @throws SkillcellError `usage.invalid`
 */
export function newPlace(value: string, io: CliIo, mayStay: (path: string) => boolean = () => false): NewPlace {
  const path = resolve(io.cwd(), value);
  const place = { shown: value, path, parent: dirname(path), name: basename(path) };
  if (value === '' || place.name === '' || !isFolder(place.parent))
    throw usageError('--output', 'it must be a new name in a folder that is there', value);
  if (isThere(path) && !mayStay(path)) throw takenPlace(place);
  return place;
}

/** Nothing is written over what is there. */
export function takenPlace({ shown }: NewPlace): SkillcellError {
  return usageError('--output', 'something is there already, and stays as it is', shown);
}

function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    // Not there, or out of reach.
    return false;
  }
}

function isThere(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch {
    // No name that this system takes: writing it says why.
    return false;
  }
}
