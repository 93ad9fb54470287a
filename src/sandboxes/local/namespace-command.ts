import { lstatSync, readdirSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { executorWords, shellWords, waitingProgram } from '../../contracts/jobs/language.ts';
import type { SandboxSpec } from '../runner.ts';
import { SKILLS_MIB } from '../sandbox-sizes.ts';
import { requireInterpreter } from './require-interpreter.ts';
import { CODE_CACHE } from './runtime-cache.ts';

const MIB = 1024 * 1024;
/** User id without an account, for sandboxes that root starts. */
const SANDBOX_UID = '61184';
/** Files of the bundle in /etc; the container image has the same. */
const OWN_ETC = ['passwd', 'group', 'hosts', 'host.conf', 'nsswitch.conf', 'gai.conf'];
/** Files of the host's /etc that programs and packages in /usr need. */
const HOST_ETC =
  'ld.so.cache alternatives fonts matplotlibrc mime.types protocols services ssl/certs ssl/openssl.cnf'.split(' ');
/** Path of the runtime bundle in the sandbox. */
const RUNTIME = '/opt/skillcell';
/** Path of the sandbox's memory counters for the entry. */
const GROUP = '/sys/fs/cgroup';

/** Parts of the command of a sandbox at level namespace. */
export interface NamespaceCommandParts {
  /** Path of bubblewrap. */
  bubblewrap: string;
  /** The folder with Node and the runtime bundle for the sandbox. */
  runtime: string;
  /** The first executor, by {@link namespaceExecutor}. */
  executor: string;
  spec: SandboxSpec;
  /** Folder with the memory counters of the sandbox's control group; null without a control group. */
  memoryGroup: string | null;
}

/** The command of a sandbox at level namespace: bubblewrap around the entry, without privileges. It depends on no job. */
export function namespaceCommand({
  bubblewrap,
  runtime,
  executor,
  spec,
  memoryGroup,
}: NamespaceCommandParts): string[] {
  const { limits } = spec;
  return [
    ...(process.getuid?.() === 0 ? dropPrivileges() : []),
    bubblewrap,
    ...outerArguments(runtime, memoryGroup),
    '--',
    '/bin/sh',
    `${RUNTIME}/launch/enter-namespace.sh`,
    executor,
    `${limits.workspaceMib * MIB}`,
    `${limits.workspaceInodes}`,
    `${limits.memoryMib * MIB}`,
    // A control group counts all processes of the sandbox. Without it, the kernel counts the processes of the inner user.
    memoryGroup === null ? `${limits.pids}` : '0',
    `${RUNTIME}/launch/start-entry.cjs`,
    `--code-cache=${RUNTIME}/${CODE_CACHE}`,
    '--level=namespace',
    `--language=${spec.language}`,
    `--memory-mib=${limits.memoryMib}`,
    `--memory-group=${memoryGroup === null ? '' : GROUP}`,
  ];
}

/** Drops privileges before bubblewrap: a job with the uid of root could write root's files in /proc/sys. */
function dropPrivileges(): string[] {
  return [
    '/usr/bin/setpriv',
    `--reuid=${SANDBOX_UID}`,
    `--regid=${SANDBOX_UID}`,
    '--clear-groups',
    '--inh-caps=-all',
    '--bounding-set=-all',
    '--no-new-privs',
  ];
}

function outerArguments(runtime: string, memoryGroup: string | null): string[] {
  return [
    ...['--unshare-user', '--uid', '0', '--gid', '0', '--unshare-pid', '--unshare-net', '--unshare-ipc'],
    ...['--unshare-uts', '--unshare-cgroup-try', '--hostname', 'sandbox', '--die-with-parent', '--new-session'],
    // To mount the workspace with an inode limit and to map the inner user, in a user namespace without any host rights.
    ...['--cap-drop', 'ALL', '--cap-add', 'CAP_SYS_ADMIN', '--cap-add', 'CAP_SETFCAP', '--clearenv'],
    ...['--setenv', 'PATH', '/usr/local/bin:/usr/bin:/bin:/opt/skillcell/bin', '--setenv', 'LANG', 'C.UTF-8'],
    ...['--ro-bind', '/usr', '/usr', '--ro-bind', runtime, RUNTIME],
    ...topFolders(),
    ...etcOptions(runtime),
    // For the entry, to read the memory of user code. User code does not see it.
    ...(memoryGroup === null ? [] : ['--ro-bind', memoryGroup, GROUP]),
    ...['--proc', '/proc', '--dev', '/dev'],
    ...['--size', `${MIB}`, '--tmpfs', '/run', '--size', `${16 * MIB}`, '--tmpfs', '/tmp'],
    ...['--size', `${SKILLS_MIB * MIB}`, '--tmpfs', '/skills'],
    ...['/workspace', '/value', '/inner/tmp', '/inner/shm'].flatMap((path) => ['--dir', path]),
    ...['--chdir', '/', '--remount-ro', '/dev', '--remount-ro', '/'],
  ];
}

/** Bubblewrap options for the top-level links or folders that lead to programs in /usr. */
export function topFolders(root = '/'): string[] {
  return ['bin', 'sbin', 'lib', 'lib32', 'lib64'].flatMap((name) => {
    const path = join(root, name);
    const status = lstatSync(path, { throwIfNoEntry: false });
    if (status === undefined) return [];
    return status.isSymbolicLink() ? ['--symlink', readlinkSync(path), `/${name}`] : ['--ro-bind', path, `/${name}`];
  });
}

/** The sandbox's /etc: files of the bundle, files of the host, and the time zone UTC like in the container image. */
function etcOptions(runtime: string): string[] {
  return [
    ...OWN_ETC.flatMap((name) => ['--ro-bind', `${runtime}/etc/${name}`, `/etc/${name}`]),
    ...[...HOST_ETC, ...pythonFolders()].flatMap((name) => ['--ro-bind-try', `/etc/${name}`, `/etc/${name}`]),
    ...['--symlink', '/usr/share/zoneinfo/Etc/UTC', '/etc/localtime'],
  ];
}

/** Folders with the `sitecustomize.py` of Debian's Python. */
function pythonFolders(): string[] {
  return readdirSync('/etc').filter((name) => /^python3(?:\.\d+)?$/.test(name));
}

/** The shell command of the first executor. Throws if its interpreter is missing. */
export function namespaceExecutor({ language, limits }: SandboxSpec): string {
  const { definition, interpreter } = requireInterpreter(language, `${RUNTIME}/bin/node`, isVisible);
  const start = { program: waitingProgram(definition, '/workspace'), env: {} };
  return shellWords(executorWords(definition, interpreter, RUNTIME, limits.memoryMib, start));
}

/** True for host paths that the sandbox can see. */
function isVisible(path: string): boolean {
  return /^\/(usr|bin)\//.test(path);
}
