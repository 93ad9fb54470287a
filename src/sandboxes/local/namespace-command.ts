import { lstatSync, readdirSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { executorWords, shellWords, waitingProgram } from '../../contracts/jobs/language.ts';
import type { SandboxSpec } from '../runner.ts';
import { requireInterpreter } from './require-interpreter.ts';
import { CODE_CACHE } from './runtime-cache.ts';

const MIB = 1024 * 1024;
/** An id that no account has: what root's sandboxes run as. */
const SANDBOX_UID = '61184';
/** The bundle's own files in /etc: an image for containers has the same. */
const OWN_ETC = ['passwd', 'group', 'hosts', 'host.conf', 'nsswitch.conf', 'gai.conf'];
/** What programs and packages in /usr read from this machine's /etc: how they are found, and what they cannot work without. */
const HOST_ETC =
  'ld.so.cache alternatives fonts matplotlibrc mime.types protocols services ssl/certs ssl/openssl.cnf'.split(' ');
/** Where the sandbox sees the runtime bundle. */
const RUNTIME = '/opt/skillcell';
/** Where the entry sees the memory counters of the sandbox's group. */
const GROUP = '/sys/fs/cgroup';
/** Skills that a job may carry, and room for their folders. */
const SKILLS_MIB = 96;

/** What the command of a sandbox at level namespace is made of. */
export interface NamespaceCommandParts {
  /** Path of bubblewrap. */
  bubblewrap: string;
  /** The folder that the sandbox reads Node and the runtime bundle from. */
  runtime: string;
  /** The first executor, by {@link namespaceExecutor}. */
  executor: string;
  spec: SandboxSpec;
  /** Folder with the memory counters of the control group that counts and limits what the sandbox uses; null without one. */
  memoryGroup: string | null;
}

/** The words that start a sandbox at level namespace: bubblewrap around the entry, without privileges. Says nothing of a job. */
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
    // A control group counts all processes of the sandbox; without one the kernel counts those of the inner user.
    memoryGroup === null ? `${limits.pids}` : '0',
    `${RUNTIME}/launch/start-entry.cjs`,
    `--code-cache=${RUNTIME}/${CODE_CACHE}`,
    '--level=namespace',
    `--language=${spec.language}`,
    `--memory-mib=${limits.memoryMib}`,
    `--memory-group=${memoryGroup === null ? '' : GROUP}`,
  ];
}

/** Without privileges before bubblewrap: a job that is root's uid may write root's files in /proc/sys. */
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
    // To mount the workspace with a limit of inodes, and to map the inner user: in a user namespace that owns nothing.
    ...['--cap-drop', 'ALL', '--cap-add', 'CAP_SYS_ADMIN', '--cap-add', 'CAP_SETFCAP', '--clearenv'],
    ...['--setenv', 'PATH', '/usr/local/bin:/usr/bin:/bin:/opt/skillcell/bin', '--setenv', 'LANG', 'C.UTF-8'],
    ...['--ro-bind', '/usr', '/usr', '--ro-bind', runtime, RUNTIME],
    ...topFolders(),
    ...etcOptions(runtime),
    // For the entry, to see what user code holds; user code itself does not see it.
    ...(memoryGroup === null ? [] : ['--ro-bind', memoryGroup, GROUP]),
    ...['--proc', '/proc', '--dev', '/dev'],
    ...['--size', `${MIB}`, '--tmpfs', '/run', '--size', `${16 * MIB}`, '--tmpfs', '/tmp'],
    ...['--size', `${SKILLS_MIB * MIB}`, '--tmpfs', '/skills'],
    ...['/workspace', '/value', '/inner/tmp', '/inner/shm'].flatMap((path) => ['--dir', path]),
    ...['--chdir', '/', '--remount-ro', '/dev', '--remount-ro', '/'],
  ];
}

/** Options of bubblewrap for the links or folders at the top of a file system that programs in /usr are found through. */
export function topFolders(root = '/'): string[] {
  return ['bin', 'sbin', 'lib', 'lib32', 'lib64'].flatMap((name) => {
    const path = join(root, name);
    const status = lstatSync(path, { throwIfNoEntry: false });
    if (status === undefined) return [];
    return status.isSymbolicLink() ? ['--symlink', readlinkSync(path), `/${name}`] : ['--ro-bind', path, `/${name}`];
  });
}

/** The sandbox's /etc: own files, files of this machine, and the zone of the image for containers. */
function etcOptions(runtime: string): string[] {
  return [
    ...OWN_ETC.flatMap((name) => ['--ro-bind', `${runtime}/etc/${name}`, `/etc/${name}`]),
    ...[...HOST_ETC, ...pythonFolders()].flatMap((name) => ['--ro-bind-try', `/etc/${name}`, `/etc/${name}`]),
    ...['--symlink', '/usr/share/zoneinfo/Etc/UTC', '/etc/localtime'],
  ];
}

/** Debian's Python reads its `sitecustomize.py` there. */
function pythonFolders(): string[] {
  return readdirSync('/etc').filter((name) => /^python3(?:\.\d+)?$/.test(name));
}

/** The words that start the first executor, as a shell reads them. Throws where its interpreter is missing. */
export function namespaceExecutor({ language, limits }: SandboxSpec): string {
  const { definition, interpreter } = requireInterpreter(language, `${RUNTIME}/bin/node`, isVisible);
  const start = { program: waitingProgram(definition, '/workspace'), env: {} };
  return shellWords(executorWords(definition, interpreter, RUNTIME, limits.memoryMib, start));
}

/** All that a sandbox sees of this machine. */
function isVisible(path: string): boolean {
  return /^\/(usr|bin)\//.test(path);
}
