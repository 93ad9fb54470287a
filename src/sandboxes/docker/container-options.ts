import type { ContainerCreateOptions } from 'dockerode';
import { seccompEngineProfile } from '../seccomp/seccomp-engine-profile.ts';
import type { SandboxSpec } from '../runner.ts';
import { largestFileBytes, sandboxMemoryMib, SKILLS_MIB, SUPERVISOR_PIDS } from '../sandbox-sizes.ts';

const MIB = 1024 * 1024;
/** The sandbox's own kernel is a host program. Its memory and threads count, and it needs them to run. */
const OWN_KERNEL_MIB = 128;
const OWN_KERNEL_PIDS = 256;
/** User ids in the image. */
const SUPERVISOR_UID = 10_001;
const USER_UID = 10_002;
const VALUE_MIB = 1;
const OPEN_FILES = 1_024;

/** Labels of all objects that skillcell creates in an engine. They hold no user text. */
export const LABEL = {
  managed: 'skillcell.managed',
  owner: 'skillcell.owner',
  job: 'skillcell.job',
  attempt: 'skillcell.attempt',
} as const;

/** Parts of one container. */
export interface ContainerParts {
  name: string;
  owner: string;
  /** Image id or digest, never a tag that may move. */
  image: string;
  /** The engine's name of the OCI runtime; at level kernel, a runtime with its own kernel. Undefined: the engine's default. */
  runtime: string | undefined;
  /** True if the engine has AppArmor. */
  appArmor: boolean;
}

/**
 * The whole configuration of a sandbox container. No caller can add to it. A test checks each line in the report of the engine, and an
 * attack shows the purpose of each line.
 */
export function containerOptions(spec: SandboxSpec, parts: ContainerParts): ContainerCreateOptions {
  const { limits } = spec;
  const ownKernel = spec.isolation === 'kernel';
  const memory = (sandboxMemoryMib(limits) + (ownKernel ? OWN_KERNEL_MIB : 0)) * MIB;
  const files = `size=${limits.workspaceMib * MIB},nr_inodes=${limits.workspaceInodes},uid=${USER_UID},gid=${USER_UID}`;
  const writable = 'rw,nosuid,nodev';
  return {
    name: parts.name,
    Image: parts.image,
    Hostname: 'sandbox',
    User: '0:0',
    WorkingDir: '/',
    // Few V8 threads, because a change of the user id waits for each thread. No debugger on SIGUSR1.
    Entrypoint: [
      '/usr/local/bin/node',
      '--v8-pool-size=1',
      '--disable-sigusr1',
      '/opt/skillcell/launch/start-entry.cjs',
    ],
    Cmd: [
      '--code-cache=/opt/skillcell/code-cache',
      '--level=container',
      `--language=${spec.language}`,
      `--memory-mib=${limits.memoryMib}`,
    ],
    Env: ['PATH=/usr/local/bin:/usr/bin:/bin', 'LANG=C.UTF-8'],
    Labels: { [LABEL.managed]: 'true', [LABEL.owner]: parts.owner, [LABEL.job]: parts.name, [LABEL.attempt]: '1' },
    Tty: false,
    OpenStdin: true,
    // Stdin closes when the only attached client disconnects. The end of the channel then ends the supervisor.
    StdinOnce: true,
    AttachStdin: true,
    AttachStdout: true,
    AttachStderr: true,
    NetworkDisabled: true,
    HostConfig: {
      NetworkMode: 'none',
      Privileged: false,
      CapDrop: ['ALL'],
      // The supervisor needs them to start executors as the user and to kill them. User code has none and cannot gain any.
      CapAdd: ['SETUID', 'SETGID', 'SETPCAP', 'KILL'],
      SecurityOpt: [
        'no-new-privileges',
        `seccomp=${JSON.stringify(seccompEngineProfile())}`,
        ...(parts.appArmor ? ['apparmor=docker-default'] : []),
      ],
      ReadonlyRootfs: true,
      Tmpfs: {
        '/workspace': `${writable},exec,${files}`,
        '/skills': `${writable},exec,size=${SKILLS_MIB * MIB},nr_inodes=32768,uid=${SUPERVISOR_UID},gid=${SUPERVISOR_UID}`,
        '/value': `${writable},noexec,size=${VALUE_MIB * MIB},nr_inodes=16,uid=${USER_UID},gid=${USER_UID}`,
        '/tmp': `${writable},exec,${files}`,
      },
      Memory: memory,
      MemorySwap: memory,
      NanoCpus: Math.round(limits.cpus * 1e9),
      PidsLimit: limits.pids + SUPERVISOR_PIDS + (ownKernel ? OWN_KERNEL_PIDS : 0),
      Ulimits: [
        { Name: 'nofile', Soft: OPEN_FILES, Hard: OPEN_FILES },
        { Name: 'core', Soft: 0, Hard: 0 },
        { Name: 'fsize', Soft: largestFileBytes(limits), Hard: largestFileBytes(limits) },
        // The filter refuses mq_open, but a file in /dev/mqueue is a queue too, and no tmpfs limits it.
        { Name: 'msgqueue', Soft: 0, Hard: 0 },
      ],
      IpcMode: 'private',
      ShmSize: limits.memoryMib * MIB,
      Init: true,
      LogConfig: { Type: 'none', Config: {} },
      RestartPolicy: { Name: 'no' },
      AutoRemove: false,
      ...(parts.runtime === undefined ? {} : { Runtime: parts.runtime }),
    },
  };
}
