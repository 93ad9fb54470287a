import { existsSync, lstatSync, readlinkSync } from 'node:fs';
import { SkillcellError } from '../../contracts/skillcell-error.ts';
import type { RuntimeBundle } from '../runtime-bundle.ts';
import type { Sandbox, SandboxSpec } from '../runner.ts';
import { createControlGroup } from './control-group.ts';
import { unenforcedLimits } from './limit-enforcement.ts';
import { localSandbox } from './local-sandbox.ts';
import { CODE_CACHE, cachedRuntime } from './runtime-cache.ts';
import { startProcess } from './start-process.ts';

const MIB = 1024 * 1024;
/** An id that no account has: what root's sandboxes run as. */
const SANDBOX_UID = '61184';
/** What programs in /usr are found through. */
const NEEDED_OF_ETC = ['/etc/ld.so.cache', '/etc/alternatives'];
/** Skills that a job may carry, and room for their folders. */
const SKILLS_MIB = 96;

/** Starts a sandbox at level namespace: bubblewrap around the entry, and a second one inside it around user code. */
export async function startNamespace(spec: SandboxSpec, bundle: RuntimeBundle, name: string): Promise<Sandbox> {
  const bubblewrap = requirePrograms(spec);
  const runtime = await cachedRuntime(bundle);
  const group = createControlGroup(name, spec.limits);
  const { limits } = spec;
  const command = [
    ...(process.getuid?.() === 0 ? dropPrivileges() : []),
    bubblewrap,
    ...outerArguments(runtime),
    '--',
    '/bin/sh',
    '/opt/skillcell/launch/enter-namespace.sh',
    spec.language,
    `${limits.workspaceMib * MIB}`,
    `${limits.workspaceInodes}`,
    // A control group counts all processes of the sandbox; without one the kernel counts those of the inner user.
    group === null ? `${limits.pids}` : '0',
    '/opt/skillcell/launch/start-entry.cjs',
    `--code-cache=/opt/skillcell/${CODE_CACHE}`,
    '--level=namespace',
    `--language=${spec.language}`,
    `--watch-memory=${group === null ? 1 : 0}`,
  ];
  const child = startProcess(command, { group, fileBytes: limits.workspaceMib * MIB, env: {} });
  return localSandbox({
    isolation: 'namespace',
    child,
    group,
    diagnostics: unenforcedLimits('namespace', group !== null),
    cleanUp: () => Promise.resolve(),
  });
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

function outerArguments(runtime: string): string[] {
  return [
    ...['--unshare-user', '--uid', '0', '--gid', '0', '--unshare-pid', '--unshare-net', '--unshare-ipc'],
    ...['--unshare-uts', '--unshare-cgroup-try', '--hostname', 'sandbox', '--die-with-parent', '--new-session'],
    // To mount the workspace with a limit of inodes, and to map the inner user: in a user namespace that owns nothing.
    ...['--cap-drop', 'ALL', '--cap-add', 'CAP_SYS_ADMIN', '--cap-add', 'CAP_SETFCAP', '--clearenv'],
    ...['--setenv', 'PATH', '/usr/local/bin:/usr/bin:/bin:/opt/skillcell/bin', '--setenv', 'LANG', 'C.UTF-8'],
    ...['--ro-bind', '/usr', '/usr', '--ro-bind', runtime, '/opt/skillcell'],
    ...topFolders(),
    ...NEEDED_OF_ETC.flatMap((path) => ['--ro-bind-try', path, path]),
    ...['--proc', '/proc', '--dev', '/dev'],
    ...['--size', `${MIB}`, '--tmpfs', '/run', '--size', `${16 * MIB}`, '--tmpfs', '/tmp'],
    ...['--size', `${SKILLS_MIB * MIB}`, '--tmpfs', '/skills'],
    ...['/workspace', '/value', '/inner/tmp', '/inner/shm'].flatMap((path) => ['--dir', path]),
    ...['--chdir', '/', '--remount-ro', '/dev', '--remount-ro', '/'],
  ];
}

/** The links or folders at the top that programs in /usr are found through. */
function topFolders(): string[] {
  return ['bin', 'sbin', 'lib', 'lib32', 'lib64'].flatMap((name) => {
    const path = `/${name}`;
    const status = lstatSync(path, { throwIfNoEntry: false });
    if (status === undefined) return [];
    return status.isSymbolicLink() ? ['--symlink', readlinkSync(path), path] : ['--ro-bind', path, path];
  });
}

const INTERPRETERS: Partial<Record<SandboxSpec['language'], string>> = {
  python: '/usr/bin/python3',
  bash: '/bin/bash',
};

function requirePrograms(spec: SandboxSpec): string {
  if (process.platform !== 'linux') {
    throw unmet(`namespaces are a feature of Linux, got ${process.platform}`);
  }
  const bubblewrap = ['/usr/bin/bwrap', '/bin/bwrap', '/usr/local/bin/bwrap'].find((path) => existsSync(path));
  if (bubblewrap === undefined) throw unmet('bubblewrap (bwrap) is not installed');
  for (const program of ['/usr/bin/setpriv', '/usr/bin/prlimit']) {
    if (!existsSync(program)) throw unmet(`util-linux is not complete, got no ${program}`);
  }
  const interpreter = INTERPRETERS[spec.language];
  if (interpreter !== undefined && !existsSync(interpreter)) {
    throw new SkillcellError(
      'runtime.missing',
      `Cannot run ${spec.language}: its interpreter is missing, got no ${interpreter}.`,
    );
  }
  return bubblewrap;
}

function unmet(reason: string): SkillcellError {
  return new SkillcellError('runner.isolation-unmet', `Cannot start a sandbox at level namespace: ${reason}.`);
}
