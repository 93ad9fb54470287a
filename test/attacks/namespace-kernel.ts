import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { DEFAULT_LIMITS } from '../../src/contracts/jobs/limits.ts';
import { controlGroupLayout } from '../../src/sandboxes/local/control-group.ts';
import { largestFileBytes } from '../../src/sandboxes/sandbox-sizes.ts';
import { NAMESPACE_SPEC } from '../fixtures/changed-namespace.ts';
import { read } from './leftovers.ts';
import { lookAtProcess, type KernelView } from './namespace-look.ts';
import { replaceOption } from './namespace-words.ts';
import { asExpected, type NamespaceAttack } from './namespace-scene.ts';

const MIB = 1024 * 1024;
const NONE = '0'.repeat(16);
const CAPABILITIES = ['CapInh', 'CapPrm', 'CapEff', 'CapBnd', 'CapAmb'] as const;

/** The file for the status of the process that becomes bubblewrap. */
const LAUNCHED = join(mkdtempSync(join(tmpdir(), 'launched-')), 'status');
process.on('exit', () => rmSync(join(LAUNCHED, '..'), { recursive: true, force: true }));

const ids = (id: number): string => Array.from({ length: 4 }, () => id).join('\t');

function statusOf({ status }: KernelView, names: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(names.map((name) => [name, status[name]]));
}

/** The kinds of namespace that two processes share. */
function shared(one: KernelView, other: KernelView): string[] {
  return Object.keys(one.ns).filter((kind) => one.ns[kind] === other.ns[kind]);
}

function namesOf({ environment }: KernelView): string[] {
  return environment.map((entry) => entry.slice(0, entry.indexOf('='))).toSorted();
}

/** A writable file system and its size: the line is the same in the entry’s view and in its own, except for the path. */
function writable(size: number, inodes: number | undefined, mode: 'rw' | 'ro' = 'rw'): string {
  const files = inodes === undefined ? '' : `,nr_inodes=${inodes}`;
  return `tmpfs ${mode},nosuid,nodev,relatime rw,size=${size}k${files},mode=755,uid=61184,gid=61184`;
}

const OF_HOST = 'host ro,nosuid,nodev,relatime';
const DEVICES = ['null', 'zero', 'full', 'random', 'urandom', 'tty'].map((name) => `/dev/${name}`);
const { workspaceMib, workspaceInodes, memoryMib } = DEFAULT_LIMITS;
const WORKSPACE = writable(workspaceMib * 1024, workspaceInodes);
const EMPTY = 'nosuid,nodev,relatime rw,uid=61184,gid=61184';

/** Files through which programs in /usr are found, if this machine has them. Folders at the top are links on most machines. */
const HOST_ETC =
  'ld.so.cache alternatives fonts matplotlibrc mime.types protocols services ssl/certs ssl/openssl.cnf'.split(' ');
const OF_PYTHON = readdirSync('/etc').filter((name) => /^python3(\.\d+)?$/.test(name));
const OF_THIS_MACHINE = ['/bin', '/sbin', '/lib', '/lib32', '/lib64']
  .filter((path) => lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === false)
  .concat([...HOST_ETC, ...OF_PYTHON].map((name) => `/etc/${name}`).filter((path) => existsSync(path)))
  .map((path) => [path, OF_HOST] as const);

const OWN_ETC = ['passwd', 'group', 'hosts', 'host.conf', 'nsswitch.conf', 'gai.conf'];

const COMMON_MOUNTS: Record<string, string> = {
  ...Object.fromEntries(OF_THIS_MACHINE),
  '/': `tmpfs ro,${EMPTY}`,
  '/usr': OF_HOST,
  '/opt/skillcell': OF_HOST,
  ...Object.fromEntries(OWN_ETC.map((name) => [`/etc/${name}`, OF_HOST])),
  '/proc': 'proc rw,nosuid,nodev,noexec,relatime',
  '/dev': 'tmpfs ro,nosuid,nodev,relatime rw,mode=755,uid=61184,gid=61184',
  '/dev/pts': 'host rw,nosuid,noexec,relatime',
  ...Object.fromEntries(DEVICES.map((path) => [path, 'host rw,nosuid,relatime'])),
  '/workspace': WORKSPACE,
  '/value': writable(1024, 16),
};

const ENTRY_MOUNTS: Record<string, string> = {
  ...COMMON_MOUNTS,
  // The counters of its own control group.
  '/sys/fs/cgroup': OF_HOST,
  '/run': writable(1024, undefined),
  '/tmp': writable(16 * 1024, undefined),
  '/skills': writable(72 * 1024, undefined),
  '/inner/tmp': WORKSPACE,
  '/inner/shm': writable(memoryMib * 1024, 1024),
};

const USER_MOUNTS: Record<string, string> = {
  ...COMMON_MOUNTS,
  '/node_modules/skillcell': OF_HOST,
  '/skills': writable(72 * 1024, undefined, 'ro'),
  '/proc/sys': 'proc ro,nosuid,nodev,noexec,relatime',
  '/etc': `tmpfs ro,${EMPTY}`,
  '/dev/shm': writable(memoryMib * 1024, 1024),
  '/tmp': WORKSPACE,
};

/** Polls a condition; `false` after three seconds. */
async function comes(condition: () => boolean): Promise<boolean> {
  for (let tries = 0; tries < 150; tries += 1) {
    if (condition()) return true;
    await pause(20);
  }
  return false;
}

/** The limits of a process's control group, in the same words for both versions. */
function groupOf(pid: number): Record<string, unknown> {
  const layout = controlGroupLayout();
  const name = /\/skillcell\/(\S+)/.exec(read(pid, 'cgroup'))?.[1] ?? '';
  const value = (controller: 'memory' | 'pids' | 'cpu', file: string): string => {
    const path = join(layout?.folders[controller] ?? '', name, file);
    return existsSync(path) ? readFileSync(path, 'latin1').trim() : 'missing';
  };
  const unified = layout?.unified === true;
  const memory = value('memory', unified ? 'memory.max' : 'memory.limit_in_bytes');
  const swap = value('memory', unified ? 'memory.swap.max' : 'memory.memsw.limit_in_bytes');
  const [quota = '', period = ''] = unified
    ? value('cpu', 'cpu.max').split(' ')
    : [value('cpu', 'cpu.cfs_quota_us'), value('cpu', 'cpu.cfs_period_us')];
  return {
    // A kernel that does not count swap has no file for it.
    swap: swap === 'missing' || swap === (unified ? '0' : memory) ? 'none' : swap,
    cpus: Number(quota) / Number(period),
    memory: Number(memory) < 64 * 1024 * MIB ? 'limited' : memory,
    pids: /^\d+$/.test(value('pids', 'pids.max')) ? 'limited' : value('pids', 'pids.max'),
  };
}

const isDead = (pid: number): boolean => /^(Z|X|)$/.test(/^State:\s+(\w)/m.exec(read(pid, 'status'))?.[1] ?? '');

/** The kernel's view of a sandbox at level namespace, argument by argument, for cases in which another layer stops the attack itself. */
export const KERNEL_VIEWS: readonly NamespaceAttack[] = [
  {
    id: 'A17',
    title: 'starts bubblewrap as an ordinary user without groups, capabilities or a way to gain them',
    opens: ['--regid', '--clear-groups', '--inh-caps', '--bounding-set', '--no-new-privs'].map((key) => `outer ${key}`),
    // A host with groups that hands capabilities on.
    host: {
      command(words) {
        const at = words.findIndex((word) => word.endsWith('/bwrap'));
        const note = ['/bin/sh', '-c', `cat /proc/self/status >${LAUNCHED}; exec "$@"`, 'sh'];
        const generous = ['/usr/bin/setpriv', '--groups=4,24', '--inh-caps=+kill'];
        return [...generous, ...words.slice(0, at), ...note, ...words.slice(at)];
      },
    },
    async attempt({ look }) {
      writeFileSync(LAUNCHED, '');
      chmodSync(LAUNCHED, 0o666);
      chmodSync(join(LAUNCHED, '..'), 0o755);
      await look(() => undefined);
      const names = ['Uid', 'Gid', 'Groups', ...CAPABILITIES, 'NoNewPrivs'];
      const text = readFileSync(LAUNCHED, 'latin1');
      const seen = names.map((name) => [name, new RegExp(`^${name}:(.*)$`, 'm').exec(text)?.[1]?.trim()]);
      return asExpected(Object.fromEntries(seen) as Record<string, unknown>, {
        Uid: ids(61184),
        Gid: ids(61184),
        Groups: '',
        ...Object.fromEntries(CAPABILITIES.map((name) => [name, NONE])),
        NoNewPrivs: '1',
      });
    },
  },
  {
    id: 'A21',
    title: 'shares no namespace with the host, and user code only the network with its supervisor',
    opens: [
      ...['pid', 'net', 'ipc', 'uts', 'cgroup-try'].map((kind) => `outer --unshare-${kind}`),
      ...['pid', 'ipc', 'uts', 'cgroup-try'].map((kind) => `inner --unshare-${kind}`),
    ],
    attempt: ({ look }) =>
      look(({ entry, executor, innerMonitor }) => {
        const host = lookAtProcess(process.pid);
        // The namespaces that a process shares with itself show that sharing would be noticed.
        const seen = { itself: shared(entry, innerMonitor).length, host: shared(entry, host) };
        return asExpected({ ...seen, user: shared(executor, entry) }, { itself: 7, host: [], user: ['net'] });
      }),
  },
  {
    id: 'A17',
    title: 'maps only one id, which differs between user code and its supervisor',
    opens: ['inner --uid', 'inner --gid'],
    attempt: ({ look }) =>
      look(({ entry, executor }) =>
        asExpected(
          { entry: [entry.uidMap, entry.gidMap], user: [executor.uidMap, executor.gidMap] },
          { entry: ['0 61184 1', '0 61184 1'], user: ['1000 61184 1', '1000 61184 1'] },
        ),
      ),
  },
  {
    id: 'A18',
    title: 'leaves user code no capability, and its supervisor only the two for mounts and id maps',
    opens: ['outer --cap-drop ALL', 'inner --cap-drop ALL'],
    attempt: ({ look }) =>
      look(({ entry, executor }) =>
        asExpected(
          { entry: statusOf(entry, ['CapPrm', 'CapBnd']), user: statusOf(executor, CAPABILITIES) },
          {
            entry: { CapPrm: '0000000080200000', CapBnd: '0000000080200000' },
            user: Object.fromEntries(CAPABILITIES.map((name) => [name, NONE])),
          },
        ),
      ),
  },
  {
    id: 'A20-A25',
    title: 'puts user code under the filter permanently',
    opens: ['inner --seccomp'],
    attempt: ({ look }) =>
      look(({ entry, executor }) =>
        asExpected(
          { entry: entry.status['Seccomp'], user: statusOf(executor, ['NoNewPrivs', 'Seccomp']) },
          { entry: '0', user: { NoNewPrivs: '1', Seccomp: '2' } },
        ),
      ),
  },
  {
    id: 'A27',
    title: 'gives supervisor and user code their own sessions, without a terminal',
    opens: ['outer --new-session', 'inner --new-session'],
    attempt: ({ look }) =>
      look(({ monitor, entry, executor, innerMonitor }) =>
        asExpected(
          { entry: entry.session === monitor.session, user: executor.session === innerMonitor.session },
          { entry: false, user: false },
        ),
      ),
  },
  {
    id: 'A38',
    title: 'starts every program with a fixed environment, independent of the environment of its host',
    opens: ['outer --clearenv', 'outer --setenv PATH', 'outer --setenv LANG', 'inner --clearenv'].concat(
      ['PATH', 'LANG', 'HOME', 'TMPDIR'].map((name) => `inner --setenv ${name}`),
    ),
    // The variable is set between the launcher's clean environment and bubblewrap.
    host: { command: (words) => ['/usr/bin/env', 'SECRET_TOKEN=canary', ...words] },
    attempt: ({ look }) =>
      look(({ monitor, entry, executor }) =>
        asExpected(
          {
            given: monitor.environment.includes('SECRET_TOKEN=canary'),
            entry: namesOf(entry),
            user: namesOf(executor),
          },
          {
            given: true,
            entry: ['LANG', 'PATH', 'PWD', 'SKILLCELL_FIRST_EXECUTOR', 'SKILLCELL_NPROC'],
            user: ['HOME', 'LANG', 'PATH', 'PWD', 'PYTHONPATH', 'TMPDIR'],
          },
        ),
      ),
  },
  {
    id: 'A38',
    title: 'hands its launcher no variable of the host’s environment',
    opens: ['start env'],
    attempt: ({ look }) =>
      look(({ monitor }) =>
        asExpected({ names: namesOf(monitor).filter((name) => !/^(PWD|SHLVL|_)$/.test(name)) }, { names: [] }),
      ),
  },
  {
    id: 'A02',
    title: 'does not know the name of the host',
    opens: ['outer --hostname', 'outer --unshare-uts'],
    attempt: ({ look }) =>
      look(({ entry, executor }) =>
        asExpected({ entry: entry.hostName, user: executor.hostName }, { entry: 'sandbox', user: 'sandbox' }),
      ),
  },
  {
    id: 'A02',
    title: 'does not know the name of its supervisor',
    opens: ['inner --hostname'],
    host: { command: (words) => replaceOption(words, '--hostname', ['--hostname', 'supervisor']) },
    attempt: ({ look }) =>
      look(({ entry, executor }) =>
        asExpected({ entry: entry.hostName, user: executor.hostName }, { entry: 'supervisor', user: 'sandbox' }),
      ),
  },
  {
    id: 'A14',
    title: 'has exactly these mounts, each with its options and its size',
    opens: [
      ...['outer --ro-bind in /etc', 'outer --ro-bind-try in /etc', 'inner --ro-bind /etc'],
      ...['--ro-bind /usr', '--ro-bind /opt/skillcell', '--ro-bind /sys/fs/cgroup'].map(
        (key) => `outer ${key} (writable)`,
      ),
      'inner --ro-bind /skills (writable)',
      ...['--size /run', '--tmpfs /run', '--size /tmp', '--tmpfs /tmp', '--size /skills', '--tmpfs /skills'].map(
        (key) => `outer ${key}`,
      ),
      ...['--remount-ro /dev', '--remount-ro /', '--proc /proc', '--dev /dev'].flatMap((key) => [
        `outer ${key}`,
        `inner ${key}`,
      ]),
      ...['--ro-bind /node_modules/skillcell', '--bind /workspace', '--bind /value', '--ro-bind /skills'].map(
        (key) => `inner ${key}`,
      ),
      ...['--ro-bind /proc/sys', '--bind /dev/shm', '--bind /tmp'].map((key) => `inner ${key}`),
      ...['/workspace', '/value', '/inner/tmp', '/inner/shm'].flatMap((place) =>
        ['', ' nosuid', ' nodev', ' mode', ' size', ' nr_inodes'].map((option) => `mount ${place}${option}`),
      ),
    ],
    // A missing mount can also prevent a sandbox from starting.
    starts: true,
    attempt: ({ look }) =>
      look(({ entry, executor }) => {
        const named = (who: string, mounts: Record<string, string>): Record<string, string> =>
          Object.fromEntries(Object.entries(mounts).map(([path, how]) => [`${who} ${path}`, how]));
        return asExpected(
          { ...named('entry', entry.mounts), ...named('user', executor.mounts) },
          { ...named('entry', ENTRY_MOUNTS), ...named('user', USER_MOUNTS) },
        );
      }),
  },
  {
    id: 'A14',
    title: 'leaves user code no writable path of the host, even if its supervisor had one',
    opens: ['/usr', '/opt/skillcell', '/node_modules/skillcell'].map((path) => `inner --ro-bind ${path} (writable)`),
    host: {
      command: (words) =>
        words.map((word, at) =>
          /^\/(usr|opt\/skillcell)$/.test(words[at + 2] ?? '') && word === '--ro-bind' ? '--bind' : word,
        ),
    },
    attempt: ({ look }) =>
      look(({ entry, executor }) => {
        const paths = ['/usr', '/opt/skillcell', '/node_modules/skillcell'];
        return asExpected(
          { entry: entry.mounts['/usr'], user: paths.map((path) => executor.mounts[path]) },
          { entry: OF_HOST.replace('ro', 'rw'), user: paths.map(() => OF_HOST) },
        );
      }),
  },
  {
    id: 'A13',
    title: 'waits in / like its supervisor, with a umask that denies write access to others',
    opens: ['outer --chdir /', 'mount umask', 'inner --chdir /'],
    attempt: ({ look }) =>
      look(({ entry, executor }) =>
        asExpected(
          { entry: entry.folder, user: executor.folder, mask: executor.status['Umask'] },
          { entry: '/', user: '/', mask: '0022' },
        ),
      ),
  },
  {
    id: 'B01',
    title: 'starts no more processes than it may without a control group',
    opens: ['inner prlimit --nproc'],
    host: { uncounted: true },
    attempt: ({ look }) =>
      look(({ executor: { limits } }) => {
        const most = `${NAMESPACE_SPEC.limits.pids}`;
        return asExpected({ most: limits['Max processes'] }, { most: `${most} ${most}` });
      }),
  },
  {
    id: 'B03',
    title: 'has a group without swap beside its memory, and with its share of the processors',
    opens: [
      'group memory.memsw.limit_in_bytes',
      'group cpu.cfs_quota_us',
      'group memory.limit_in_bytes',
      'group pids.max',
    ],
    attempt: ({ look }) =>
      look(({ executor }) => {
        const { cpus } = NAMESPACE_SPEC.limits;
        return asExpected(groupOf(executor.pid), {
          swap: 'none',
          cpus,
          memory: 'limited',
          pids: 'limited',
        });
      }),
  },
  {
    id: 'B12',
    title: 'has the limits of one process: descriptors, cores, the largest file',
    opens: ['start ulimit -c', 'start ulimit -n', 'start ulimit -f'],
    attempt: ({ look }) =>
      look(({ executor: { limits } }) => {
        const names = ['Max core file size', 'Max open files', 'Max file size'];
        const size = `${largestFileBytes(NAMESPACE_SPEC.limits)}`;
        return asExpected(Object.fromEntries(names.map((name) => [name, limits[name]])), {
          'Max core file size': '0 0',
          'Max open files': '1024 1024',
          'Max file size': `${size} ${size}`,
        });
      }),
  },
  {
    id: 'B06',
    title: 'is killed by the kernel for lack of memory before its supervisor',
    opens: ['inner oom_score_adj'],
    attempt: ({ look }) =>
      look(({ entry, executor }) =>
        asExpected(
          { entry: entry.oomScore, user: executor.oomScore },
          { entry: read(process.pid, 'oom_score_adj').trim(), user: '1000' },
        ),
      ),
  },
  {
    id: 'B01',
    title: 'has all of its processes counted in its own group',
    opens: ['start entrances'],
    attempt: ({ look }) =>
      look(({ all }) => {
        const outside = all.filter(({ pid }) => {
          const lines = read(pid, 'cgroup').split('\n');
          return !lines.some((line) => /memory|^0::/.test(line) && line.includes('/skillcell/'));
        });
        return asExpected(
          { seen: all.length > 4, outside: outside.map(({ words }) => words[0]) },
          { seen: true, outside: [] },
        );
      }),
  },
  {
    id: 'F02',
    title: 'ends user code with its bubblewrap, even if its supervisor does nothing',
    opens: ['inner --die-with-parent'],
    attempt: ({ look }) =>
      look(async ({ entry, innerMonitor, executor }) => {
        const before = isDead(executor.pid);
        process.kill(entry.pid, 'SIGSTOP');
        process.kill(innerMonitor.pid, 'SIGKILL');
        return asExpected({ before, after: await comes(() => isDead(executor.pid)) }, { before: false, after: true });
      }),
  },
];
