import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { writeFileBelow } from '../../files/incoming-streams.ts';
import type { SandboxLayout } from '../../sandbox/sandbox-layout.ts';
import { markerVariable } from './executor-process.ts';
import { scriptVariables, type SkillScript } from '../skill-script.ts';

/**
 * Writes a program and its further files to the workspace byte for byte. A link from an earlier run at the program's path is removed, not followed.
 *
 * @param path absolute path of the program
 * @param files by their path below the workspace
 */
export function placeProgram(
  { workspace }: SandboxLayout,
  path: string,
  files: readonly { path: string; code: string }[],
): void {
  rmSync(path, { force: true, recursive: true });
  for (const file of files)
    writeFileBelow(workspace, { path: file.path, bytes: Buffer.from(file.code), executable: false });
}

/** Creates the folders that user code may use, if a runner or an earlier run left none. */
export function makeUserFolders({ level, output, temporary }: SandboxLayout): void {
  mkdirSync(output, { recursive: true });
  if (level === 'none') mkdirSync(temporary, { recursive: true });
}

/** The environment of user code: the variables of every program, then those of the job. */
export function programVariables(
  layout: SandboxLayout,
  marker: string,
  given: Record<string, string>,
  script?: SkillScript,
): Record<string, string> {
  return {
    PATH: process.env['PATH'] ?? '/usr/local/bin:/usr/bin:/bin',
    LANG: 'C.UTF-8',
    HOME: layout.workspace,
    TMPDIR: layout.temporary,
    WORKSPACE: layout.workspace,
    SKILLCELL_OUTPUT: layout.output,
    SKILLCELL_VALUE: join(layout.value, 'value.json'),
    SKILLS_DIR: layout.skills,
    ...(script === undefined ? {} : scriptVariables(script, layout)),
    ...given,
    ...(layout.level === 'none' ? markerVariable(marker) : {}),
  };
}
