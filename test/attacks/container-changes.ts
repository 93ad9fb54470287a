import type { HostConfig } from 'dockerode';
import type { EngineSeccompProfile } from '../../src/sandboxes/seccomp/seccomp-engine-profile.ts';
import type { ContainerChange, CreateOptions, Replacement } from '../fixtures/changed-container.ts';

const HOST = (change: (config: HostConfig) => void): Pick<ContainerChange, 'options'> => ({
  options: ({ HostConfig: config }) => change(config),
});

function without(key: keyof HostConfig): Pick<ContainerChange, 'options'> {
  return HOST((config) => void delete config[key]);
}

function withoutSecurity(prefix: string): Pick<ContainerChange, 'options'> {
  return HOST((config) => {
    config.SecurityOpt = config.SecurityOpt.filter((line: string) => !line.startsWith(prefix));
  });
}

function tmpfs(path: string, change: (line: string) => string): Pick<ContainerChange, 'options'> {
  return HOST((config) => {
    const line = config.Tmpfs?.[path] ?? '';
    const changed = change(line);
    if (changed === line) throw new Error(`Cannot change ${path}: ${line} stays as it is.`);
    config.Tmpfs = { ...config.Tmpfs, [path]: changed };
  });
}

function withoutTmpfsOption(path: string, pattern: RegExp): Pick<ContainerChange, 'options'> {
  return tmpfs(path, (line) => line.replace(pattern, ''));
}

function ulimit(name: string, value: number | undefined): Pick<ContainerChange, 'options'> {
  return HOST((config) => {
    config.Ulimits = (config.Ulimits ?? []).filter((row: { Name?: string | undefined }) => row.Name !== name);
    if (value !== undefined) config.Ulimits?.push({ Name: name, Soft: value, Hard: value });
  });
}

/** The project's seccomp profile with more calls allowed. */
export function allowing(options: CreateOptions, names: readonly string[]): void {
  options.HostConfig.SecurityOpt = (options.HostConfig.SecurityOpt as string[]).map((line) => {
    if (!line.startsWith('seccomp=')) return line;
    const profile = JSON.parse(line.slice('seccomp='.length)) as EngineSeccompProfile;
    profile.syscalls = profile.syscalls
      .map((rule) => ({ ...rule, names: rule.names.filter((name) => !names.includes(name)) }))
      .filter((rule) => rule.names.length > 0);
    profile.syscalls.push({ names: [...names], action: 'SCMP_ACT_ALLOW' });
    return `seccomp=${JSON.stringify(profile)}`;
  });
}

/** The rights of `Privileged`, written out: an engine that itself lacks one capability refuses the option. */
function privileged(config: HostConfig): void {
  config.CapAdd = PRIVILEGES_OF_ROOT;
  config.SecurityOpt = ['seccomp=unconfined'];
  config.MaskedPaths = [];
  config.ReadonlyPaths = [];
  config.Devices = [{ PathOnHost: '/dev/kmsg', PathInContainer: '/dev/kmsg', CgroupPermissions: 'rwm' }];
}

const PRIVILEGES_OF_ROOT =
  'CHOWN DAC_OVERRIDE DAC_READ_SEARCH FOWNER KILL SETGID SETUID SETPCAP NET_ADMIN NET_RAW SYS_MODULE SYS_RAWIO SYS_CHROOT SYS_PTRACE SYS_ADMIN SYS_BOOT SYS_NICE SYS_TIME MKNOD SYSLOG SYS_TTY_CONFIG'.split(
    ' ',
  );

function unconfined(config: HostConfig): void {
  config.SecurityOpt = ['seccomp=unconfined'];
}

const EXECUTOR = 'executor-process.ts';
const PRIVILEGES = 'privileges.ts';

/** User code that stays root cannot write files of others: it has no capability for that. */
function ownedByRoot(config: HostConfig): void {
  for (const [path, line] of Object.entries(config.Tmpfs ?? {})) {
    config.Tmpfs = { ...config.Tmpfs, [path]: line.replace(/1000[12]/g, '0') };
  }
}

/** User code keeps the id of the supervisor's start, and the supervisor changes no id. */
const UNDROPPED: readonly Replacement[] = [
  [EXECUTOR, "'/usr/bin/setpriv', ...ids, ...sets,", "'/usr/bin/env',"],
  [PRIVILEGES, 'seteuid(uid)', 'seteuid(0)'],
  [PRIVILEGES, 'setegid(uid)', 'setegid(0)'],
];

const SETUID_PROGRAM = 'RUN cp /usr/bin/id /usr/local/bin/raised && chmod 4755 /usr/local/bin/raised';

/**
 * Each line of the configuration of a container, and each step of the drop of privileges, removed or inverted. The key is its name in the table of
 * the ablation.
 */
export const CONTAINER_CHANGES: Record<string, ContainerChange> = {
  // Network
  'NetworkMode none': {
    options: (options) => {
      options.NetworkDisabled = false;
      options.HostConfig.NetworkMode = 'bridge';
    },
  },
  'NetworkMode none (host instead)': {
    options: (options) => {
      options.NetworkDisabled = false;
      delete options.Hostname;
      options.HostConfig.NetworkMode = 'host';
    },
  },
  NetworkDisabled: { options: (options) => void (options.NetworkDisabled = false) },
  // Rights
  'Privileged false': HOST(privileged),
  'CapDrop ALL': without('CapDrop'),
  'CapAdd SETUID': HOST((config) => void (config.CapAdd = ['SETGID', 'SETPCAP', 'KILL'])),
  'CapAdd SETGID': HOST((config) => void (config.CapAdd = ['SETUID', 'SETPCAP', 'KILL'])),
  'CapAdd SETPCAP': HOST((config) => void (config.CapAdd = ['SETUID', 'SETGID', 'KILL'])),
  'CapAdd KILL': HOST((config) => void (config.CapAdd = ['SETUID', 'SETGID', 'SETPCAP'])),
  'User 0:0': { options: (options) => void (options.User = '10002:10002') },
  'no-new-privileges': withoutSecurity('no-new-privileges'),
  'no-new-privileges, and setpriv --no-new-privs': {
    ...withoutSecurity('no-new-privileges'),
    entry: [['executor-process.ts', ", '--no-new-privs'", '']],
    image: SETUID_PROGRAM,
  },
  'seccomp profile': withoutSecurity('seccomp='),
  'seccomp at all': HOST(unconfined),
  // Files
  ReadonlyRootfs: HOST((config) => void (config.ReadonlyRootfs = false)),
  'no Binds': HOST((config) => void (config.Binds = ['/:/host-of-the-engine'])),
  'tmpfs /workspace': HOST((config) => void delete config.Tmpfs?.['/workspace']),
  'tmpfs /workspace size': withoutTmpfsOption('/workspace', /,size=\d+/),
  'tmpfs /workspace nr_inodes': withoutTmpfsOption('/workspace', /,nr_inodes=\d+/),
  'tmpfs /workspace nosuid': tmpfs('/workspace', (line) => line.replace('nosuid', 'suid')),
  'tmpfs /workspace nodev': tmpfs('/workspace', (line) => line.replace('nodev', 'dev')),
  'tmpfs /workspace exec': tmpfs('/workspace', (line) => line.replace(',exec', ',noexec')),
  'tmpfs /workspace uid, gid': withoutTmpfsOption('/workspace', /,uid=\d+,gid=\d+/),
  'tmpfs /skills': HOST((config) => void delete config.Tmpfs?.['/skills']),
  'tmpfs /skills size': withoutTmpfsOption('/skills', /,size=\d+/),
  'tmpfs /skills nr_inodes': withoutTmpfsOption('/skills', /,nr_inodes=\d+/),
  'tmpfs /skills nosuid': tmpfs('/skills', (line) => line.replace('nosuid', 'suid')),
  'tmpfs /skills nodev': tmpfs('/skills', (line) => line.replace('nodev', 'dev')),
  'tmpfs /skills exec': tmpfs('/skills', (line) => line.replace(',exec', ',noexec')),
  'tmpfs /skills uid, gid of the supervisor': tmpfs('/skills', (line) => line.replace(/10001/g, '10002')),
  'tmpfs /value': HOST((config) => void delete config.Tmpfs?.['/value']),
  'tmpfs /value size': withoutTmpfsOption('/value', /,size=\d+/),
  'tmpfs /value nr_inodes': withoutTmpfsOption('/value', /,nr_inodes=\d+/),
  'tmpfs /value nosuid': tmpfs('/value', (line) => line.replace('nosuid', 'suid')),
  'tmpfs /value nodev': tmpfs('/value', (line) => line.replace('nodev', 'dev')),
  'tmpfs /value noexec': tmpfs('/value', (line) => line.replace('noexec', 'exec')),
  'tmpfs /value uid, gid': withoutTmpfsOption('/value', /,uid=\d+,gid=\d+/),
  'tmpfs /tmp': HOST((config) => void delete config.Tmpfs?.['/tmp']),
  'tmpfs /tmp size': withoutTmpfsOption('/tmp', /,size=\d+/),
  'tmpfs /tmp nr_inodes': withoutTmpfsOption('/tmp', /,nr_inodes=\d+/),
  'tmpfs /tmp nosuid': tmpfs('/tmp', (line) => line.replace('nosuid', 'suid')),
  'tmpfs /tmp nodev': tmpfs('/tmp', (line) => line.replace('nodev', 'dev')),
  'tmpfs /tmp exec': tmpfs('/tmp', (line) => line.replace(',exec', ',noexec')),
  'tmpfs /tmp uid, gid': withoutTmpfsOption('/tmp', /,uid=\d+,gid=\d+/),
  // Limits
  Memory: HOST((config) => {
    delete config.Memory;
    delete config.MemorySwap;
  }),
  // The supervisor's watch reads the counters of the group, and would still be there.
  'Memory (unwatched)': HOST((config) => {
    delete config.Memory;
    delete config.MemorySwap;
    config.Tmpfs = { ...config.Tmpfs, '/sys/fs/cgroup': 'ro,size=4k' };
  }),
  MemorySwap: without('MemorySwap'),
  NanoCpus: without('NanoCpus'),
  PidsLimit: without('PidsLimit'),
  'ulimit nofile': ulimit('nofile', undefined),
  'ulimit core': ulimit('core', -1),
  'ulimit fsize': ulimit('fsize', undefined),
  'ulimit msgqueue': ulimit('msgqueue', undefined),
  // Kernel objects
  'IpcMode private': HOST((config) => void (config.IpcMode = 'host')),
  ShmSize: without('ShmSize'),
  Hostname: { options: (options) => void delete options.Hostname },
  // Life
  Init: without('Init'),
  'LogConfig none': without('LogConfig'),
  'RestartPolicy no': HOST((config) => void (config.RestartPolicy = { Name: 'always' })),
  'AutoRemove false': HOST((config) => {
    config.AutoRemove = true;
  }),
  StdinOnce: { options: (options) => void (options.StdinOnce = false) },
  'Tty false': { options: (options) => void (options.Tty = true) },
  Labels: { options: (options) => void delete options.Labels },
  // The drop of privileges
  'setpriv --reuid': { entry: [[EXECUTOR, '`--reuid=${USER_UID}`, ', '']] },
  'setpriv --regid': { entry: [[EXECUTOR, '`--regid=${USER_UID}`, ', '']] },
  'setpriv --clear-groups': { entry: [[EXECUTOR, "'--clear-groups'", "'--keep-groups'"]] },
  'setpriv --bounding-set=-all': { entry: [[EXECUTOR, "'--bounding-set=-all', ", '']] },
  'setpriv --inh-caps=-all': {
    entry: [[EXECUTOR, "'--inh-caps=-all', '--ambient-caps=-all', '--bounding-set=-all'", "'--inh-caps=+kill'"]],
  },
  'setpriv --ambient-caps=-all': {
    entry: [
      [
        EXECUTOR,
        "'--inh-caps=-all', '--ambient-caps=-all', '--bounding-set=-all'",
        "'--inh-caps=+kill', '--ambient-caps=+kill'",
      ],
    ],
  },
  'fixed environment of the launcher': {
    // Like a launcher that received the job's own variables.
    entry: [[EXECUTOR, "TMPDIR: '/tmp',", "TMPDIR: '/tmp', LD_PRELOAD: '/workspace/preload.so',"]],
  },
  'oom_score_adj 1000': { entry: [[EXECUTOR, "writeFileSync(OWN_SCORE, '1000');", '']] },
  'effective id of the supervisor': { entry: [[PRIVILEGES, 'SUPERVISOR_UID = 10_001', 'SUPERVISOR_UID = 0']] },
  'the supervisor’s own id for each attempt': { entry: [['run-program.ts', 'privileges.restore();', '']] },
  'the kill of user code': {
    entry: [['user-processes.ts', "asUserFromNow(() => signal(-1, 'SIGKILL'))", 'undefined']],
  },
  // All of it at once: user code without any drop of privileges.
  'the drop of privileges': { entry: UNDROPPED, ...HOST(ownedByRoot) },
  everything: {
    entry: UNDROPPED,
    ...HOST((config) => {
      ownedByRoot(config);
      privileged(config);
      config.ReadonlyRootfs = false;
    }),
  },
};

/** All rights, but under the project's filter of system calls. */
export const ALL_RIGHTS: ContainerChange = {
  entry: UNDROPPED,
  ...HOST((config) => {
    const filter = config.SecurityOpt.filter((line: string) => line.startsWith('seccomp='));
    ownedByRoot(config);
    privileged(config);
    config.SecurityOpt = filter;
  }),
};
