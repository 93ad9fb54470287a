import { spawn } from 'node:child_process';
import {
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { constants, tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { text } from 'node:stream/consumers';
import type { Readable, Writable } from 'node:stream';
import { findLanguage } from '../../src/languages/languages.ts';
import { findInterpreter } from '../../src/contracts/language.ts';
import { cachedRuntime } from '../../src/runners/local/runtime-cache.ts';
import { ensureRuntime } from '../../src/runners/runtime-bundle.ts';
import type { Program, ProgramRun } from './program.ts';

/** Where a plain run and a job see the same things. */
const NODE = '/opt/skillcell/bin/node';
const WORKSPACE = '/workspace';
/** An id that no account has, so that root's plain runs own nothing of the machine. */
const PLAIN_ID = 61_184;
/** For what never ends. */
const TIMEOUT_MS = 300_000;

/** Starts the program inside. */
const START = readFileSync(new URL('start-plainly.pl', import.meta.url), 'utf8');

/** What a plain run needs of the machine and is not there; undefined where it has all. */
export function missingForPlainRuns(): string | undefined {
  return ['/usr/bin/bwrap', '/usr/bin/perl', '/usr/bin/setpriv'].find((path) => !existsSync(path));
}

/** Runs a program with its own interpreter alone, in an empty folder, without network, with the variables and paths that a job has. */
export async function runPlainly(program: Program): Promise<ProgramRun> {
  const root = mkdtempSync(join(tmpdir(), 'fidelity-'));
  try {
    layOut(root, program);
    const [command = '', ...args] = plainCommand(root, program, await nodeOfSandboxes());
    const child = spawn(command, args, {
      env: {},
      cwd: '/',
      stdio: ['pipe', 'pipe', 'pipe', 'pipe'],
      timeout: TIMEOUT_MS,
      killSignal: 'SIGKILL',
    });
    const [stdin, out, err, end] = child.stdio as unknown as [Writable, Readable, Readable, Readable];
    // A program may end before all of it is read.
    stdin.on('error', () => undefined);
    stdin.end(program.stdin);
    const [stdout, stderr, status] = await Promise.all([text(out), text(err), text(end)]);
    if (status === '')
      throw new Error(`it did not end within ${TIMEOUT_MS / 1000} s, or could not be started: ${stderr}`);
    return { stdout, stderr, ...ending(Number(status)), files: filesBelow(join(root, 'workspace', 'out')) };
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}

function layOut(root: string, { fileName, code, files }: Program): void {
  const workspace = join(root, 'workspace');
  mkdirSync(join(workspace, 'out'), { recursive: true });
  for (const [name, content] of Object.entries({ [fileName]: code, ...files })) {
    mkdirSync(dirname(join(workspace, name)), { recursive: true });
    writeFileSync(join(workspace, name), content);
  }
  const account = `${readFileSync('/etc/passwd', 'utf8').trimEnd()}\nsandbox:x:1000:1000:sandbox:${WORKSPACE}:/bin/bash\n`;
  writeFileSync(join(root, 'passwd'), account);
  writeFileSync(join(root, 'group'), `${readFileSync('/etc/group', 'utf8').trimEnd()}\nsandbox:x:1000:\n`);
  writeFileSync(join(root, 'hosts'), '127.0.0.1 localhost sandbox\n::1 localhost ip6-localhost ip6-loopback\n');
  if (process.getuid?.() !== 0) return;
  chownSync(root, PLAIN_ID, PLAIN_ID);
  for (const entry of readdirSync(root, { recursive: true, encoding: 'utf8' }))
    chownSync(join(root, entry), PLAIN_ID, PLAIN_ID);
}

let node: Promise<string> | undefined;

/** The Node that sandboxes have, where every account can read it. */
function nodeOfSandboxes(): Promise<string> {
  return (node ??= ensureRuntime()
    .then((bundle) => cachedRuntime(bundle))
    .then((folder) => join(folder, 'bin', 'node')));
}

function plainCommand(root: string, { language, fileName, args, env }: Program, node: string): string[] {
  const definition = findLanguage(language);
  const interpreter = definition === undefined ? undefined : findInterpreter(definition, NODE);
  if (interpreter === undefined) throw new Error(`this machine lacks the interpreter of ${language}`);
  const variables = Object.entries({
    PATH: '/usr/local/bin:/usr/bin:/bin:/opt/skillcell/bin',
    LANG: 'C.UTF-8',
    HOME: WORKSPACE,
    TMPDIR: '/tmp',
    WORKSPACE,
    SKILLCELL_OUTPUT: `${WORKSPACE}/out`,
    SKILLCELL_VALUE: '/value/value.json',
    SKILLS_DIR: '/skills',
    ...env,
  });
  return [
    ...(process.getuid?.() === 0 ? asNobody() : []),
    '/usr/bin/bwrap',
    ...['--unshare-user', '--uid', '1000', '--gid', '1000', '--unshare-pid', '--unshare-net', '--unshare-ipc'],
    ...['--unshare-uts', '--hostname', 'sandbox', '--die-with-parent', '--new-session', '--cap-drop', 'ALL'],
    ...['--ro-bind', '/usr', '/usr', '--ro-bind', '/etc', '/etc', '--proc', '/proc', '--dev', '/dev'],
    ...topFolders(),
    ...['passwd', 'group', 'hosts'].flatMap((name) => ['--ro-bind', join(root, name), `/etc/${name}`]),
    ...['--tmpfs', '/tmp', '--tmpfs', '/value', '--dir', '/skills', '--ro-bind', node, NODE],
    ...['--bind', join(root, 'workspace'), WORKSPACE, '--chdir', WORKSPACE, '--clearenv'],
    ...variables.flatMap(([name, value]) => ['--setenv', name, value]),
    // Perl would say something of a locale that isn't there.
    ...['--setenv', 'PERL_BADLANG', '0', '--', '/usr/bin/perl', '-e', START],
    ...[interpreter, join(WORKSPACE, fileName), ...args],
  ];
}

function asNobody(): string[] {
  const ids = [`--reuid=${PLAIN_ID}`, `--regid=${PLAIN_ID}`, '--clear-groups'];
  return ['/usr/bin/setpriv', ...ids, '--inh-caps=-all', '--bounding-set=-all', '--no-new-privs'];
}

function topFolders(): string[] {
  return ['bin', 'sbin', 'lib', 'lib32', 'lib64'].flatMap((name) => {
    const status = lstatSync(`/${name}`, { throwIfNoEntry: false });
    if (status === undefined) return [];
    return status.isSymbolicLink()
      ? ['--symlink', readlinkSync(`/${name}`), `/${name}`]
      : ['--ro-bind', `/${name}`, `/${name}`];
  });
}

/** What `wait` says, as exit code or signal. */
function ending(status: number): Pick<ProgramRun, 'exitCode' | 'signal'> {
  const number = status & 0x7f;
  if (number === 0) return { exitCode: status >> 8, signal: null };
  const [name] = Object.entries(constants.signals).find(([, value]) => value === number) ?? [`${number}`];
  return { exitCode: null, signal: name };
}

function filesBelow(folder: string): Record<string, string> {
  if (!existsSync(folder)) return {};
  const found = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const paths = found.map((entry) => relative(folder, join(entry.parentPath, entry.name))).toSorted();
  return Object.fromEntries(paths.map((path) => [path, readFileSync(join(folder, path), 'latin1')]));
}
