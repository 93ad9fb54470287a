import type { ContainerChange } from '../fixtures/changed-container.ts';
import { CALL_ATTACKS, CALL_CHANGES } from './container-calls.ts';
import { CONTAINER_CHANGES } from './container-changes.ts';
import { ISOLATION_ATTACKS } from './container-isolation.ts';
import { LIFE_ATTACKS } from './container-life.ts';
import { LIMIT_ATTACKS } from './container-limits.ts';
import type { ContainerAttack } from './container-scene.ts';
import { SEPARATION_ATTACKS } from './container-separation.ts';

/** Every attack that one change of a container lets through. */
export const ALL_CONTAINER_ATTACKS: readonly ContainerAttack[] = [
  ...ISOLATION_ATTACKS,
  ...LIMIT_ATTACKS,
  ...SEPARATION_ATTACKS,
  ...LIFE_ATTACKS,
  ...CALL_ATTACKS,
];

/** Every removed line, and every allowed class of system calls. */
export const ALL_CONTAINER_CHANGES: Record<string, ContainerChange> = { ...CONTAINER_CHANGES, ...CALL_CHANGES };

/**
 * The changes for each field of the engine's options; a text gives the reason why it is missing. The test of this table fails if a field is added
 * without a change.
 */
export const CHANGES_OF_FIELDS: Record<string, readonly string[] | string> = {
  name: 'a name, known before the engine answers: test/sandboxes/docker',
  Image: 'A35',
  Hostname: ['Hostname'],
  User: ['User 0:0'],
  WorkingDir: 'A13: the executor is started in the workspace',
  Entrypoint: 'the program itself',
  Cmd: 'the program itself',
  Env: 'A38: an image’s own variables never reach user code',
  Labels: ['Labels'],
  Tty: ['Tty false'],
  OpenStdin: 'without it there is no channel',
  StdinOnce: ['StdinOnce'],
  AttachStdin: 'without it there is no channel',
  AttachStdout: 'without it there is no channel',
  AttachStderr: 'without it there is no complaint',
  NetworkDisabled: ['NetworkDisabled'],
  NetworkMode: ['NetworkMode none', 'NetworkMode none (host instead)'],
  Privileged: ['Privileged false'],
  CapDrop: ['CapDrop ALL'],
  'CapAdd SETUID': ['CapAdd SETUID'],
  'CapAdd SETGID': ['CapAdd SETGID'],
  'CapAdd SETPCAP': ['CapAdd SETPCAP'],
  'CapAdd KILL': ['CapAdd KILL'],
  'SecurityOpt no-new-privileges': ['no-new-privileges'],
  'SecurityOpt seccomp': ['seccomp profile', 'seccomp at all'],
  'SecurityOpt apparmor': 'only engines that have it; test/sandboxes/docker/container-options.test.ts',
  ReadonlyRootfs: ['ReadonlyRootfs'],
  Memory: ['Memory'],
  MemorySwap: ['MemorySwap'],
  NanoCpus: ['NanoCpus'],
  PidsLimit: ['PidsLimit'],
  'Ulimits nofile': ['ulimit nofile'],
  'Ulimits core': ['ulimit core'],
  'Ulimits fsize': ['ulimit fsize'],
  'Ulimits msgqueue': ['ulimit msgqueue'],
  IpcMode: ['IpcMode private'],
  ShmSize: ['ShmSize'],
  Init: ['Init'],
  LogConfig: ['LogConfig none'],
  RestartPolicy: ['RestartPolicy no'],
  AutoRemove: ['AutoRemove false'],
  ...Object.fromEntries(
    ['/workspace', '/skills', '/value', '/tmp'].flatMap((path) => [
      [`Tmpfs ${path}`, [`tmpfs ${path}`]],
      [`Tmpfs ${path} rw`, `a tmpfs is: said for readers`],
      ...['nosuid', 'nodev', 'size', 'nr_inodes'].map((option) => [
        `Tmpfs ${path} ${option}`,
        [`tmpfs ${path} ${option}`],
      ]),
    ]),
  ),
  'Tmpfs /workspace exec': ['tmpfs /workspace exec'],
  'Tmpfs /skills exec': ['tmpfs /skills exec'],
  'Tmpfs /value noexec': ['tmpfs /value noexec'],
  'Tmpfs /tmp exec': ['tmpfs /tmp exec'],
  'Tmpfs /workspace uid': ['tmpfs /workspace uid, gid'],
  'Tmpfs /workspace gid': ['tmpfs /workspace uid, gid'],
  'Tmpfs /skills uid': ['tmpfs /skills uid, gid of the supervisor'],
  'Tmpfs /skills gid': ['tmpfs /skills uid, gid of the supervisor'],
  'Tmpfs /value uid': ['tmpfs /value uid, gid'],
  'Tmpfs /value gid': ['tmpfs /value uid, gid'],
  'Tmpfs /tmp uid': ['tmpfs /tmp uid, gid'],
  'Tmpfs /tmp gid': ['tmpfs /tmp uid, gid'],
};
