import type { NamespaceChange } from '../fixtures/changed-namespace.ts';
import { replaceOption } from './namespace-words.ts';

type Changes = Record<string, NamespaceChange>;

/** Removes or replaces an option of the outer launcher. */
function outer(key: string, instead: readonly string[] = []): NamespaceChange {
  return { command: (words) => replaceOption(words, key, instead) };
}

/** The same in the script of the inner launcher. */
function inner(text: string, instead = ''): NamespaceChange {
  return { scripts: [['start-executor.sh', text, instead]] };
}

function mount(text: string, instead = ''): NamespaceChange {
  return { scripts: [['enter-namespace.sh', text, instead]] };
}

function outerChanges(keys: readonly string[]): Changes {
  return Object.fromEntries(keys.map((key) => [`outer ${key}`, outer(key)]));
}

function innerChanges(texts: Record<string, string>): Changes {
  return Object.fromEntries(Object.entries(texts).map(([key, text]) => [`inner ${key}`, inner(text)]));
}

/** Rights that `setpriv` drops before bubblewrap starts. It requires an explicit choice about groups. */
const DROP: Changes = {
  ...outerChanges(['--reuid', '--regid', '--inh-caps', '--bounding-set', '--no-new-privs']),
  'outer --clear-groups': outer('--clear-groups', ['--keep-groups']),
};

const OUTER: Changes = outerChanges([
  '--uid',
  '--gid',
  '--unshare-pid',
  '--unshare-net',
  '--unshare-ipc',
  '--unshare-uts',
  '--unshare-cgroup-try',
  '--hostname',
  '--die-with-parent',
  '--new-session',
  '--cap-add CAP_SYS_ADMIN',
  '--cap-add CAP_SETFCAP',
  '--clearenv',
  '--setenv PATH',
  '--setenv LANG',
  '--ro-bind /usr',
  '--ro-bind /opt/skillcell',
  'top folders',
  '--ro-bind in /etc',
  '--ro-bind-try in /etc',
  '--symlink /etc/localtime',
  '--ro-bind /sys/fs/cgroup',
  '--proc /proc',
  '--dev /dev',
  '--size /run',
  '--tmpfs /run',
  '--size /tmp',
  '--tmpfs /tmp',
  '--size /skills',
  '--tmpfs /skills',
  '--dir /workspace',
  '--dir /value',
  '--dir /inner/tmp',
  '--dir /inner/shm',
  '--remount-ro /dev',
  '--remount-ro /',
]);

const INNER: Changes = innerChanges({
  '--unshare-user': '--unshare-user ',
  '--uid': '--uid 1000 ',
  '--gid': '--gid 1000 ',
  '--unshare-pid': '--unshare-pid ',
  '--unshare-ipc': '--unshare-ipc ',
  '--unshare-uts': '--unshare-uts --unshare-cgroup-try \\\n  --hostname sandbox',
  '--unshare-cgroup-try': '--unshare-cgroup-try ',
  '--hostname': '--hostname sandbox ',
  '--die-with-parent': '--die-with-parent ',
  '--new-session': '--new-session ',
  '--cap-drop ALL': '--cap-drop ALL ',
  '--clearenv': '--clearenv ',
  '--setenv PATH': '--setenv PATH /usr/local/bin:/usr/bin:/bin:/opt/skillcell/bin ',
  '--setenv LANG': '--setenv LANG C.UTF-8 ',
  '--setenv HOME': '--setenv HOME /workspace ',
  '--setenv TMPDIR': '--setenv TMPDIR /tmp ',
  '--ro-bind /usr': '--ro-bind /usr /usr ',
  '--ro-bind /etc': '--ro-bind /etc /etc ',
  '--ro-bind /opt/skillcell': '--ro-bind /opt/skillcell /opt/skillcell ',
  '--ro-bind /node_modules/skillcell': '--ro-bind /opt/skillcell/languages/javascript/guest /node_modules/skillcell ',
  '--bind /workspace': '--bind /workspace /workspace ',
  '--bind /value': '--bind /value /value ',
  '--ro-bind /skills': '--ro-bind /skills /skills ',
  '--proc /proc': '--proc /proc ',
  '--ro-bind /proc/sys': '--ro-bind /proc/sys /proc/sys ',
  '--dev /dev': '--dev /dev ',
  '--bind /dev/shm': '--bind /inner/shm /dev/shm ',
  '--bind /tmp': '--bind /inner/tmp /tmp ',
  '--json-status-fd': 'set -- --json-status-fd "$SKILLCELL_STATUS_FD" "$@"',
  '--remount-ro /dev': '--remount-ro /dev ',
  '--remount-ro /': '--remount-ro / ',
  '--seccomp': '--seccomp 9 ',
});

const SPECIAL: Changes = {
  'inner --chdir /': inner('--chdir / ', '--chdir /opt '),
  'inner top folders': inner('for folder in bin sbin lib lib32 lib64', 'for folder in'),
  'inner --json-status-fd': inner('--json-status-fd 5 '),
  // Without a host name, because bubblewrap sets none without a new namespace.
  'inner --unshare-uts': inner(
    '--unshare-uts --unshare-cgroup-try \\\n  --hostname sandbox',
    '--unshare-cgroup-try \\\n ',
  ),
  'outer --unshare-uts': {
    command: (words) => replaceOption(replaceOption(words, '--unshare-uts'), '--hostname'),
  },
  'outer --cap-drop ALL': outer('--cap-drop ALL', ['--cap-add', 'ALL']),
  'outer --chdir /': outer('--chdir /', ['--chdir', '/opt']),
};

/** A folder of the host is present, but writable. */
const WRITABLE: Changes = {
  'outer --ro-bind /usr (writable)': outer('--ro-bind /usr', ['--bind', '/usr', '/usr']),
  'outer --ro-bind /opt/skillcell (writable)': {
    command: (words) => words.with(words.lastIndexOf('/opt/skillcell') - 2, '--bind'),
  },
  'outer --ro-bind /sys/fs/cgroup (writable)': {
    command: (words) => words.with(words.indexOf('/sys/fs/cgroup') - 2, '--bind'),
  },
  'inner --ro-bind /usr (writable)': inner('--ro-bind /usr /usr', '--bind /usr /usr'),
  'inner --ro-bind /opt/skillcell (writable)': inner(
    '--ro-bind /opt/skillcell /opt/skillcell',
    '--bind /opt/skillcell /opt/skillcell',
  ),
  'inner --ro-bind /node_modules/skillcell (writable)': inner(
    '--ro-bind /opt/skillcell/languages/javascript/guest',
    '--bind /opt/skillcell/languages/javascript/guest',
  ),
  'inner --ro-bind /skills (writable)': inner('--ro-bind /skills /skills', '--bind /skills /skills'),
};

/** The file systems that user code can write to: each option that differs from the kernel's default. */
const MOUNTS: Changes = Object.fromEntries(
  [
    ['/workspace', 'workspace /workspace', 'size=$workspace_bytes', 'nr_inodes=$workspace_inodes'],
    ['/value', 'value /value', 'size=1m', 'nr_inodes=16'],
    ['/inner/tmp', 'tmp /inner/tmp', 'size=$workspace_bytes', 'nr_inodes=$workspace_inodes'],
    ['/inner/shm', 'shm /inner/shm', 'size=$shared_bytes', 'nr_inodes=1024'],
  ].flatMap(([place = '', name = '', size = '', inodes = '']) => {
    const line = `${name} tmpfs nosuid,nodev,mode=0755,${size},${inodes}`;
    const without = (text: string): NamespaceChange =>
      mount(line, line.replace(`${text},`, '').replace(`,${text}`, ''));
    return [
      [`mount ${place} nosuid`, without('nosuid')],
      [`mount ${place} nodev`, without('nodev')],
      [`mount ${place} mode`, mount(line, line.replace('0755', '0777'))],
      [`mount ${place} size`, without(size)],
      [`mount ${place} nr_inodes`, without(inodes)],
      [`mount ${place}`, mount(line, `${place} ${place} proc nosuid`)],
    ] as [string, NamespaceChange][];
  }),
);

/** The settings of the first shell, and the inherited environment. */
const PROCESS: Changes = {
  'start ulimit -c': { enter: [['ulimit -c 0;', '']] },
  'start ulimit -n': { enter: [['ulimit -n 1024;', '']] },
  'start ulimit -f': { enter: [['ulimit -f "$2"', '']] },
  'start entrances': { enter: [['for entrance in $1', 'for entrance in']] },
  'start env': { env: { SECRET_TOKEN: 'canary' } },
  'inner oom_score_adj': inner('echo 1000 >/proc/self/oom_score_adj', ':'),
  'inner prlimit --nproc': inner('if [ "${SKILLCELL_NPROC:-0}" -gt 0 ]', 'if false'),
  'mount umask': mount('umask 022', 'umask 000'),
};

/** Counts and limits of the kernel for a whole sandbox; files by their names in version 1. */
const GROUP: Changes = {
  'group pids.max': { group: { 'pids.max': 'max' } },
  // The watch of the supervisor would still be there.
  'group memory.limit_in_bytes': {
    group: { 'memory.memsw.limit_in_bytes': '-1', 'memory.limit_in_bytes': '-1' },
    command: (words) => replaceOption(words, '--ro-bind /sys/fs/cgroup'),
  },
  'group memory.memsw.limit_in_bytes': { group: { 'memory.memsw.limit_in_bytes': '-1' } },
  'group cpu.cfs_quota_us': { group: { 'cpu.cfs_quota_us': '-1' } },
};

/**
 * Each argument of both launchers, each option of the mounts, each limit of the first process and of the control group, removed alone or inverted.
 * The key is its name in the table of the ablation.
 */
export const NAMESPACE_CHANGES: Changes = {
  ...DROP,
  ...OUTER,
  ...INNER,
  ...SPECIAL,
  ...WRITABLE,
  ...MOUNTS,
  ...PROCESS,
  ...GROUP,
};

/** Arguments without a change, with the reason. */
export const UNCHANGED: Record<string, string> = {
  'start descriptors': 'A13 of test/attacks/a-isolation.test.ts: only another host is started with open descriptors',
  'outer --unshare-user':
    'bubblewrap creates a user namespace by itself for ordinary users, and root has dropped its id before',
};
