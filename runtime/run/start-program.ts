import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { writeFileBelow } from '../files/incoming-streams.ts';
import type { SandboxLayout } from '../sandbox/sandbox-layout.ts';
import { type ExecutorProcess, markerVariable } from './executor-process.ts';
import type { RunInput, RunSurroundings } from './run-input.ts';
import { scriptVariables } from './skill-script.ts';

/**
 * Writes the program to the workspace byte for byte; a script of a skill stays where it lies. What an earlier run left at its
 * place is removed, not followed.
 */
export function placeProgram(
  layout: SandboxLayout,
  { program, fileName, files }: Pick<RunInput, 'program' | 'fileName' | 'files'>,
): string {
  makeUserFolders(layout);
  if (typeof program !== 'string') return join(program.folder, program.name);
  const path = join(layout.workspace, fileName);
  rmSync(path, { force: true, recursive: true });
  for (const file of [{ path: fileName, code: program }, ...files]) {
    writeFileBelow(layout.workspace, { path: file.path, bytes: Buffer.from(file.code), executable: false });
  }
  return path;
}

/** Makes the folders that user code is told of, where a runner or an earlier run left none. */
export function makeUserFolders({ level, output, temporary }: SandboxLayout): void {
  mkdirSync(output, { recursive: true });
  if (level === 'none') mkdirSync(temporary, { recursive: true });
}

/** Hands the program to its executor, and its stdin to the program. */
export function startProgram(input: RunInput, { layout, marker }: RunSurroundings, path: string): void {
  sendRun(input, layout, marker, path);
  feedStdin(input.executor, input.stdin);
}

function sendRun(input: RunInput, layout: SandboxLayout, marker: string, path: string): void {
  const { link } = input.executor;
  const script = typeof input.program === 'string' ? undefined : input.program;
  const cwd = script?.folder ?? layout.workspace;
  const env = programVariables(layout, marker, input.env, script === undefined ? {} : scriptVariables(script, layout));
  if (input.executor.language.reads === 'strings') {
    const variables = Object.entries(env).map(([name, value]) => `${name}=${value}`);
    const words = script?.interpreter ?? [];
    link.sendStrings([...counted(variables), ...counted(input.args), path, cwd, ...counted(words)]);
    return;
  }
  const inPlace = script === undefined ? {} : { inPlace: true };
  link.send({ type: 'run', path, args: input.args, env, cwd, skills: layout.skills, ...inPlace });
}

/** The environment of user code: what every program finds, then what the job gives it. */
export function programVariables(
  layout: SandboxLayout,
  marker: string,
  given: Record<string, string>,
  ofScript: Record<string, string> = {},
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
    ...ofScript,
    ...given,
    NODE_OPTIONS: nodeOptions(layout, given),
    ...(layout.level === 'none' ? markerVariable(marker) : {}),
  };
}

/** Strings behind their number, for an executor that reads strings. */
export function counted(strings: readonly string[]): string[] {
  return [`${strings.length}`, ...strings];
}

/** What makes each Node that a program starts write all of its output, and then what the job asks for. */
function nodeOptions(layout: SandboxLayout, env: Record<string, string>): string {
  const wholeOutput = `--require=${JSON.stringify(join(layout.runtime, 'launch', 'whole-output.cjs'))}`;
  const { NODE_OPTIONS: own } = env;
  return own === undefined ? wholeOutput : `${wholeOutput} ${own}`;
}

function feedStdin(executor: ExecutorProcess, stdin: Readable | undefined): void {
  // A program may end, or close its stdin, before all of it is written.
  executor.stdin.on('error', () => undefined);
  if (stdin === undefined) executor.stdin.end();
  else stdin.pipe(executor.stdin);
}
