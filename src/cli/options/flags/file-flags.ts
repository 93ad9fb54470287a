import { statSync } from 'node:fs';
import { basename, resolve } from 'node:path';
import type { InputFile } from '../../../contracts/jobs/job.ts';
import { shownPathFault } from '../../../protocol/files/shown-path.ts';
import type { CliIo } from '../../terminal/cli-io.ts';
import { checkInput, unreadable } from '../../terminal/input-file.ts';
import { usageError } from '../../terminal/usage-error.ts';

const MIB = 1024 * 1024;

/**
 * Reads `--file SRC[:DEST]` flags; SRC is a file or a folder. Every source is checked, none is read.
 *
 * @param workspaceMib the most MiB of all files together
 * @throws SkillcellError `usage.invalid` for a destination, `file.unreadable` for a source
 */
export function inputFiles(values: readonly string[], workspaceMib: number, io: CliIo): InputFile[] {
  const files: { destination: string; source: string }[] = [];
  let total = 0;
  for (const value of values) {
    const { path, destination } = splitFileFlag(value, io);
    const fault = shownPathFault(destination);
    if (fault !== undefined) {
      throw usageError(
        '--file',
        `DEST must be a relative path below the working folder, without . and .. (${fault})`,
        value,
      );
    }
    checkAgainst(files, destination, value);
    const { source, bytes } = checkInput('--file', path, io);
    total += bytes;
    if (total > workspaceMib * MIB) {
      throw unreadable('--file', `all files must fit into the workspace of ${workspaceMib} MiB (--workspace)`, path);
    }
    files.push({ destination, source });
  }
  return files;
}

/** Paths may hold colons: the longest prefix that exists is the source. */
function splitFileFlag(value: string, io: CliIo): { path: string; destination: string } {
  const colons = [...value.matchAll(/:/g)].map(({ index }) => index).reverse();
  const last = colons[0];
  if (last === undefined || exists(value, io)) {
    return { path: value, destination: value === '' ? '' : basename(resolve(io.cwd(), value)) };
  }
  const at = colons.find((colon) => exists(value.slice(0, colon), io)) ?? last;
  return { path: value.slice(0, at), destination: value.slice(at + 1) };
}

function exists(path: string, io: CliIo): boolean {
  if (path === '') return false;
  try {
    statSync(resolve(io.cwd(), path));
    return true;
  } catch {
    // Missing, unreachable or no path: the check of the chosen source reports the reason.
    return false;
  }
}

function checkAgainst(files: readonly { destination: string }[], destination: string, value: string): void {
  for (const other of files) {
    const [shorter, longer] = [other.destination, destination].sort((a, b) => a.length - b.length) as [string, string];
    if (shorter === longer || longer.startsWith(`${shorter}/`)) {
      throw usageError('--file', `two files need two destinations, and ${JSON.stringify(shorter)} is taken`, value);
    }
  }
}
