import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { writeFileBelow } from '../../files/incoming-streams.ts';
import type { SandboxLayout } from '../../sandbox/sandbox-layout.ts';
import { counted } from './executor-link.ts';
import { type ExecutorProcess, markerVariable } from './executor-process.ts';
import type { RunInput, RunSurroundings } from './run-input.ts';
import { scriptVariables, type SkillScript } from '../skill-script.ts';

/**
 * Writes the program to the workspace byte for byte. A script of a skill stays in place. A link from an earlier run at the program's path is removed,
 * not followed.
 */
export function placeProgram(
  layout: SandboxLayout,
  { program, path, fileName, files }: Pick<RunInput, 'program' | 'path' | 'fileName' | 'files'>,
): void {
  makeUserFolders(layout);
  if (typeof program !== 'string') return;
  rmSync(path, { force: true, recursive: true });
  for (const file of [{ path: fileName, code: program }, ...files]) {
    writeFileBelow(layout.workspace, { path: file.path, bytes: Buffer.from(file.code), executable: false });
  }
}

/** Creates the folders that user code may use, if a runner or an earlier run left none. */
export function makeUserFolders({ level, output, temporary }: SandboxLayout): void {
  mkdirSync(output, { recursive: true });
  if (level === 'none') mkdirSync(temporary, { recursive: true });
}

/** Hands the program to its executor, and its stdin to the program. */
export function startProgram(input: RunInput, { layout }: RunSurroundings): void {
  sendRun(input, layout);
  feedStdin(input.executor, input.stdin);
}

function sendRun({ executor, program, path, args, env }: RunInput, layout: SandboxLayout): void {
  const { link, language, starter } = executor;
  starter?.close();
  const script = typeof program === 'string' ? undefined : program;
  const cwd = script?.folder ?? layout.workspace;
  if (language.reads === 'strings') {
    const variables = Object.entries(env).map(([name, value]) => `${name}=${value}`);
    const words = script?.interpreter ?? [];
    link.sendStrings([...counted(variables), ...counted(args), path, cwd, ...counted(words)]);
    return;
  }
  link.send({ type: 'run', path, args, env, cwd, skills: layout.skills });
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

function feedStdin(executor: ExecutorProcess, stdin: Readable | undefined): void {
  // A program may end, or close its stdin, before all input is written.
  executor.stdin.on('error', () => undefined);
  if (stdin === undefined) executor.stdin.end();
  else stdin.pipe(executor.stdin);
}
