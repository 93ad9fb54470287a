import type { ContainerCreateOptions } from 'dockerode';
import { seccompEngineProfile } from '../seccomp/seccomp-engine-profile.ts';
import type { SandboxSpec } from '../runner.ts';
import { largestFileBytes, sandboxMemoryMib, SKILLS_MIB } from '../sandbox-sizes.ts';

const MIB = 1024 * 1024;
/** The supervisor's share beside user code. */
const SUPERVISOR_PIDS = 24;
/** A kernel of a sandbox's own is a program of the host, whose memory and threads count as well; it ends without them. */
const OWN_KERNEL_MIB = 128;
const OWN_KERNEL_PIDS = 256;
/** The accounts of the image. */
const SUPERVISOR_UID = 10_001;
const USER_UID = 10_002;
const VALUE_MIB = 1;
const OPEN_FILES = 1_024;

/** Labels of all that we make at an engine. No text of a user goes in. */
export const LABEL = {
  managed: 'skillcell.managed',
  owner: 'skillcell.owner',
  job: 'skillcell.job',
  attempt: 'skillcell.attempt',
} as const;

/** What one container is made from. */
export interface ContainerParts {
  name: string;
  owner: string;
  /** Image id or digest, never a tag that may move. */
  image: string;
  /** The engine's name of the OCI runtime; at level kernel one that brings a kernel of its own. Undefined: the engine's default. */
  runtime: string | undefined;
  /** Whether the engine has AppArmor. */
  appArmor: boolean;
}

/**
 * The whole configuration of a sandbox's container. No caller can add to it: every line is here, a test asserts each on
 * what the engine reports, and an attack shows what each is for.
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
    // Fewer threads: a change of the user id waits for each. And no debugger that a signal opens.
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
    // The channel's end ends the supervisor: stdin closes when the one client that attached goes away.
    StdinOnce: true,
    AttachStdin: true,
    AttachStdout: true,
    AttachStderr: true,
    NetworkDisabled: true,
    HostConfig: {
      NetworkMode: 'none',
      Privileged: false,
      CapDrop: ['ALL'],
      // For the supervisor, to start executors as user code and to kill them. User code has none, and cannot gain any.
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
        // The filter refuses mq_open, but a file made in /dev/mqueue is a queue too, and outside of every tmpfs.
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
