import { join } from 'node:path';
import { findInterpreter } from '../../src/contracts/jobs/language.ts';
import type { InstalledPackage } from '../../src/contracts/network/job-packages.ts';
import { readLanguage } from '../languages/read-language.ts';
import { isExecutable } from '../sandbox/is-executable.ts';
import type { SandboxLayout } from '../sandbox/sandbox-layout.ts';
import { npmRows, pypiRows, type ReadRows } from './installed-rows.ts';

/** An installer as the sandbox runs it. */
export interface Installer {
  registry: InstalledPackage['registry'];
  /** The command; undefined if the sandbox lacks it. */
  command: string[] | undefined;
  /** Reads the installed packages, as the owner of the workspace. */
  rows(): ReadRows;
  /** Whether its output says that it is missing. */
  isMissing(output: string): boolean;
}

const PATHS = ['/usr/local/bin', '/usr/bin', '/bin'];

/** The folder of Python's packages. `PYTHONPATH` names it. */
export function pythonFolder({ workspace }: SandboxLayout): string {
  return join(workspace, '.packages', 'python');
}

/** npm, in the workspace. Scripts of packages are not run; programs may load the packages themselves. */
export function npmInstaller({ workspace }: SandboxLayout, specs: readonly string[]): Installer {
  const isThere = PATHS.some((folder) => isExecutable(join(folder, 'npm')));
  const flags = ['--ignore-scripts', '--no-audit', '--no-fund'];
  return {
    registry: 'npm',
    command: isThere ? ['npm', 'install', ...flags, '--', ...specs] : undefined,
    rows: () => npmRows(join(workspace, 'node_modules', '.package-lock.json')),
    isMissing: () => false,
  };
}

/**
 * pip of the interpreter that runs Python's programs. Only wheels are taken, since a source archive runs its own code when it is installed.
 *
 * @param report file for the report of pip
 */
export function pypiInstaller(layout: SandboxLayout, specs: readonly string[], report: SharedFile): Installer {
  const python = findInterpreter(readLanguage(layout.runtime, 'python'), process.execPath);
  const flags = ['--only-binary=:all:', '--target', pythonFolder(layout), '--upgrade', '--no-cache-dir'];
  return {
    registry: 'pypi',
    command:
      python === undefined
        ? undefined
        : [python, '-m', 'pip', 'install', ...flags, '--report', report.seenByUser, '--', ...specs],
    rows: () => pypiRows(report.seenHere),
    isMissing: (output) => /No module named '?pip'?\b/.test(output),
  };
}

/** A file of user code. The supervisor sees it below another path at level namespace. */
export interface SharedFile {
  seenByUser: string;
  seenHere: string;
}
