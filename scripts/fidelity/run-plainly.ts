import { spawn } from 'node:child_process';
import {
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { text } from 'node:stream/consumers';
import type { Readable, Writable } from 'node:stream';
import { findLanguage } from '../../src/languages/languages.ts';
import { findInterpreter } from '../../src/contracts/jobs/language.ts';
import { placeOptions, type PlainPlace } from './plain-place.ts';
import { endOfStatus } from '../../runtime/run/program/wait-status.ts';
import type { Program, ProgramRun } from './program.ts';

/** An id that no account has, so that root's plain runs own nothing of the machine. */
const PLAIN_ID = 61_184;
/** Ends programs that never end by themselves. */
const TIMEOUT_MS = 300_000;

/** The Perl program that starts the program inside of bubblewrap. */
const START = readFileSync(new URL('start-plainly.pl', import.meta.url), 'utf8');

/** The first file that a plain run needs and this machine lacks; `undefined` if all are present. */
export function missingForPlainRuns(): string | undefined {
  return ['/usr/bin/bwrap', '/usr/bin/perl', '/usr/bin/setpriv'].find((path) => !existsSync(path));
}

/** Runs a program with its own interpreter alone: in a folder of its own, without network, with the variables and paths of a job. */
export async function runPlainly(program: Program, place: PlainPlace): Promise<ProgramRun> {
  const root = mkdtempSync(join(tmpdir(), 'fidelity-'));
  try {
    layOut(root, program, place);
    const [command = '', ...args] = plainCommand(root, program, place);
    const child = spawn(command, args, {
      env: {},
      cwd: '/',
      stdio: ['pipe', 'pipe', 'pipe', 'pipe'],
      timeout: TIMEOUT_MS,
      killSignal: 'SIGKILL',
    });
    const [stdin, out, err, end] = child.stdio as unknown as [Writable, Readable, Readable, Readable];
    // A program may end before it has read all of its stdin.
    stdin.on('error', () => undefined);
    stdin.end(program.stdin);
    const [stdout, stderr, status] = await Promise.all([text(out), text(err), text(end)]);
    if (status === '')
      throw new Error(`it did not end within ${TIMEOUT_MS / 1000} s, or could not be started: ${stderr}`);
    const { code: exitCode, signal } = endOfStatus(Number(status));
    return { stdout, stderr, exitCode, signal, files: filesBelow(join(root, 'workspace', 'out')) };
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}

function layOut(root: string, { fileName, code, files }: Program, place: PlainPlace): void {
  const workspace = join(root, 'workspace');
  mkdirSync(join(workspace, 'out'), { recursive: true });
  for (const [name, content] of Object.entries({ [fileName]: code, ...files })) {
    mkdirSync(dirname(join(workspace, name)), { recursive: true });
    writeFileSync(join(workspace, name), content);
  }
  const textOf = (name: string): string => readFileSync(join(place.root, 'etc', name), 'utf8').trimEnd();
  const account = `sandbox:x:1000:1000:sandbox:${join(place.folder, 'workspace')}:/bin/bash`;
  writeFileSync(join(root, 'passwd'), `${textOf('passwd')}\n${account}\n`);
  writeFileSync(join(root, 'group'), `${textOf('group')}\nsandbox:x:1000:\n`);
  writeFileSync(join(root, 'hosts'), '127.0.0.1 localhost sandbox\n::1 localhost ip6-localhost ip6-loopback\n');
  if (process.getuid?.() !== 0) return;
  chownSync(root, PLAIN_ID, PLAIN_ID);
  for (const entry of readdirSync(root, { recursive: true, encoding: 'utf8' }))
    chownSync(join(root, entry), PLAIN_ID, PLAIN_ID);
}

function plainCommand(root: string, { language, fileName, args, env }: Program, place: PlainPlace): string[] {
  const definition = findLanguage(language);
  const interpreter = definition === undefined ? undefined : findInterpreter(definition, place.node.path);
  if (interpreter === undefined) throw new Error(`this machine lacks the interpreter of ${language}`);
  const [workspace, value, skills] = ['workspace', 'value', 'skills'].map((name) => join(place.folder, name)) as [
    string,
    string,
    string,
  ];
  const variables = Object.entries({
    PATH: place.searchPath,
    LANG: 'C.UTF-8',
    HOME: workspace,
    TMPDIR: place.temporary,
    WORKSPACE: workspace,
    SKILLCELL_OUTPUT: join(workspace, 'out'),
    SKILLCELL_VALUE: join(value, 'value.json'),
    SKILLS_DIR: skills,
    ...env,
  });
  return [
    ...(process.getuid?.() === 0 ? asNobody() : []),
    '/usr/bin/bwrap',
    ...['--unshare-user', '--uid', '1000', '--gid', '1000', '--unshare-pid', '--unshare-net', '--unshare-ipc'],
    ...['--unshare-uts', '--hostname', 'sandbox', '--die-with-parent', '--new-session', '--cap-drop', 'ALL'],
    ...['--proc', '/proc', '--dev', '/dev', ...placeOptions(place)],
    ...['passwd', 'group', 'hosts'].flatMap((name) => ['--ro-bind', join(root, name), `/etc/${name}`]),
    ...['--tmpfs', '/tmp', '--dir', place.temporary, '--tmpfs', value, '--dir', skills],
    ...['--bind', join(root, 'workspace'), workspace, '--chdir', workspace, '--clearenv'],
    ...variables.flatMap(([name, value]) => ['--setenv', name, value]),
    // Perl would warn about a missing locale.
    ...['--setenv', 'PERL_BADLANG', '0', '--', '/usr/bin/perl', '-e', START],
    ...[interpreter, join(workspace, fileName), ...args],
  ];
}

function asNobody(): string[] {
  const ids = [`--reuid=${PLAIN_ID}`, `--regid=${PLAIN_ID}`, '--clear-groups'];
  return ['/usr/bin/setpriv', ...ids, '--inh-caps=-all', '--bounding-set=-all', '--no-new-privs'];
}

function filesBelow(folder: string): Record<string, string> {
  if (!existsSync(folder)) return {};
  const found = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const paths = found.map((entry) => relative(folder, join(entry.parentPath, entry.name))).toSorted();
  return Object.fromEntries(paths.map((path) => [path, readFileSync(join(folder, path), 'latin1')]));
}
