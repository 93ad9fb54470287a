import type { SandboxLayout } from './sandbox-layout.ts';

/** User ids in a container. The image has accounts of these ids; neither is 0. */
export const SUPERVISOR_UID = 10_001;
/** The id of user code. */
export const USER_UID = 10_002;

/** Changes of the effective user id; most last for one synchronous call. */
export interface Privileges {
  /** With the rights of user code, so that files which user code made unreadable stay unreadable. */
  asUser<T>(action: () => T): T;
  /**
   * The same, but lasts until {@link restore}: for the end of a run, when no user code is left. Each change of id waits for all threads of this
   * process, and so for every process that occupies a processor.
   */
  asUserFromNow<T>(action: () => T): T;
  /** Takes the supervisor's own id again. */
  restore(): void;
  /** With the supervisor's own rights, also after {@link asUserFromNow}: user code cannot write to files of the supervisor. */
  asSupervisor<T>(action: () => T): T;
  /** With uid 0 and the container's four remaining capabilities: to start an executor and to kill. */
  asRoot<T>(action: () => T): T;
}

const NONE: Privileges = {
  asUser: (action) => action(),
  asUserFromNow: (action) => action(),
  restore: () => undefined,
  asSupervisor: (action) => action(),
  asRoot: (action) => action(),
};

/**
 * Gives up uid 0 for everything but {@link Privileges}: in a container the real id stays 0, and the effective capabilities follow the effective id.
 * At other levels supervisor and user code share an id, and nothing changes.
 */
export function takePrivileges(layout: SandboxLayout): Privileges {
  const { setegid, seteuid } = process;
  if (layout.level !== 'container' || setegid === undefined || seteuid === undefined) return NONE;
  if (!ownsProcessNamespace(process.pid, process.ppid)) {
    throw new Error('Cannot start the entry: the container has no process namespace of its own.');
  }
  let current = 0;
  const become = (uid: number): void => {
    if (uid === current) return;
    if (current !== 0) seteuid(0);
    setegid(uid);
    if (uid !== 0) seteuid(uid);
    current = uid;
  };
  const during = <T>(uid: number, action: () => T): T => {
    const before = current;
    become(uid);
    try {
      return action();
    } finally {
      become(before);
    }
  };
  become(SUPERVISOR_UID);
  return {
    asUser: (action) => during(USER_UID, action),
    asUserFromNow(action) {
      become(USER_UID);
      return action();
    },
    restore: () => become(SUPERVISOR_UID),
    asSupervisor: (action) => during(SUPERVISOR_UID, action),
    asRoot: (action) => during(0, action),
  };
}

/**
 * Whether a supervisor with these ids is the first process of its namespace, or the child of a first process that only reaps. Otherwise the kill of
 * all processes would reach processes of the host.
 */
export function ownsProcessNamespace(pid: number, parent: number): boolean {
  return pid === 1 || parent === 1;
}
