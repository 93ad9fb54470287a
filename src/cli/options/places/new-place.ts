import { lstatSync, statSync } from 'node:fs';
import { basename, dirname, resolve } from 'node:path';
import type { SkillcellError } from '../../../contracts/errors/skillcell-error.ts';
import type { CliIo } from '../../terminal/cli-io.ts';
import { usageError } from '../../terminal/usage-error.ts';

/** A place for new output. */
export interface NewPlace {
  /** As it was given. */
  shown: string;
  /** Absolute path. */
  path: string;
  /** The existing folder that will hold it. */
  parent: string;
  name: string;
}

/**
 * Checks that the place for new output is free, before any input is read.
 *
 * @param mayStay whether an existing file may stay, because it may equal the output
 * @throws SkillcellError `usage.invalid`
 */
export function newPlace(value: string, io: CliIo, mayStay: (path: string) => boolean = () => false): NewPlace {
  const path = resolve(io.cwd(), value);
  const place = { shown: value, path, parent: dirname(path), name: basename(path) };
  if (value === '' || place.name === '' || !isFolder(place.parent))
    throw usageError('--output', 'it must be a new name in an existing folder', value);
  if (isThere(path) && !mayStay(path)) throw takenPlace(place);
  return place;
}

/** The error for a taken place: nothing is overwritten. */
export function takenPlace({ shown }: NewPlace): SkillcellError {
  return usageError('--output', 'something is there already, and stays as it is', shown);
}

function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    // Missing or unreachable.
    return false;
  }
}

function isThere(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch {
    // Not a valid name: the write reports the reason.
    return false;
  }
}
