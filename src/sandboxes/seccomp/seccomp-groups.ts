/** System calls that every sandboxed program may make with any argument, and the reason. */
export interface SeccompGroup {
  readonly purpose: string;
  readonly why: string;
  readonly names: readonly string[];
}

function group(purpose: string, why: string, names: string): SeccompGroup {
  return { purpose, why, names: names.trim().split(/\s+/) };
}

/**
 * The allowed system calls. All calls outside of this list and `ARGUMENT_RULES` are refused. A call is listed only if Node, Python, bash, the
 * core utilities or their libc need it; a newer variant of a call is listed beside the old one. docs/seccomp.md explains the refused calls.
 */
export const SECCOMP_GROUPS: readonly SeccompGroup[] = [
  group(
    'open files',
    'Read, write and copy files and standard streams.',
    `read write readv writev pread64 pwrite64 preadv pwritev preadv2 pwritev2 lseek
     open openat openat2 creat close close_range dup dup2 dup3 fcntl flock umask
     fsync fdatasync sync_file_range truncate ftruncate fallocate fadvise64 readahead
     copy_file_range sendfile splice tee`,
  ),
  group(
    'paths',
    'Walk, create, rename and remove files and folders; mounts and file modes decide where.',
    `stat lstat fstat newfstatat statx statfs fstatfs access faccessat faccessat2 readlink readlinkat
     getdents getdents64 getcwd chdir fchdir mkdir mkdirat rmdir unlink unlinkat
     rename renameat renameat2 link linkat symlink symlinkat`,
  ),
  group(
    'file attributes',
    'Copying tools keep modes, owners, times and extended attributes.',
    `chmod fchmod fchmodat fchmodat2 chown fchown lchown fchownat utime utimes utimensat futimesat
     getxattr lgetxattr fgetxattr getxattrat setxattr lsetxattr fsetxattr setxattrat
     listxattr llistxattr flistxattr listxattrat removexattr lremovexattr fremovexattr removexattrat`,
  ),
  group(
    'memory',
    'Allocators, just-in-time compilers and their protection of code pages.',
    `brk mmap munmap mremap mprotect madvise mincore msync mlock mlock2 munlock mlockall munlockall
     pkey_alloc pkey_free pkey_mprotect mseal map_shadow_stack memfd_create membarrier`,
  ),
  group(
    'processes',
    'Start programs and wait for them; clone has a rule of its own.',
    `fork vfork execve execveat exit exit_group wait4 waitid pidfd_open
     getpid getppid gettid getpgid getpgrp setpgid getsid setsid prctl arch_prctl`,
  ),
  group(
    'threads and scheduling',
    'Threads of libc, their locks, and the number of processors.',
    `set_tid_address set_robust_list rseq rseq_slice_yield futex futex_waitv futex_wait futex_wake futex_requeue
     sched_yield sched_getaffinity sched_setaffinity sched_getparam sched_setparam sched_getscheduler sched_setscheduler
     sched_getattr sched_setattr sched_get_priority_max sched_get_priority_min sched_rr_get_interval
     getpriority setpriority getcpu`,
  ),
  group(
    'signals',
    'Handle and send signals; the pid namespace or the other user id limits the targets.',
    `rt_sigaction rt_sigprocmask rt_sigreturn rt_sigpending rt_sigsuspend rt_sigtimedwait rt_sigqueueinfo
     rt_tgsigqueueinfo sigaltstack kill tkill tgkill pidfd_send_signal pause signalfd signalfd4`,
  ),
  group(
    'time',
    'Read clocks, sleep and set timers; no call that sets a clock.',
    `time gettimeofday clock_gettime clock_getres nanosleep clock_nanosleep alarm getitimer setitimer
     timer_create timer_delete timer_settime timer_gettime timer_getoverrun
     timerfd_create timerfd_settime timerfd_gettime`,
  ),
  group(
    'events',
    'Event loops: wait for descriptors, pipes, counters and changes of files.',
    `poll ppoll select pselect6 epoll_create epoll_create1 epoll_ctl epoll_wait epoll_pwait epoll_pwait2
     pipe pipe2 eventfd eventfd2 inotify_init inotify_init1 inotify_add_watch inotify_rm_watch`,
  ),
  group(
    'sockets',
    'Use sockets that the rule for socket allows; Node calls getsockname at each start.',
    `bind connect listen accept accept4 shutdown getsockname getpeername getsockopt setsockopt
     sendto recvfrom sendmsg recvmsg sendmmsg recvmmsg`,
  ),
  group(
    'identity',
    'Query user ids, and drop privileges: the supervisor of a container starts user code this way.',
    `getuid geteuid getgid getegid getresuid getresgid getgroups setuid setgid setreuid setregid
     setresuid setresgid setfsuid setfsgid setgroups capget capset`,
  ),
  group(
    'system facts and limits',
    'Random bytes, the kernel version, load, usage and resource limits.',
    'getrandom uname sysinfo times getrusage getrlimit setrlimit prlimit64',
  ),
  group(
    'self-restriction',
    'A program may give up more of its own rights; no call here gives any back.',
    'seccomp landlock_create_ruleset landlock_add_rule landlock_restrict_self',
  ),
  group(
    'kernel trampolines',
    'Made by code that the kernel itself puts into a process; refusing them breaks the process.',
    'restart_syscall uprobe uretprobe',
  ),
];
