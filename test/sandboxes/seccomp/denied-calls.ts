/** An argument of a probe: a number, or a text, which is passed as a pointer. */
export type ProbeArgument = number | string;

/**
 * Rights of the caller, chosen so that the kernel itself does not return EPERM without the filter: the rights of user code, all
 * capabilities within a user namespace, or uid 0 of the machine (with arguments that fail before any effect).
 */
export type ProbeRights = 'user' | 'namespace' | 'root';

/** A call that the filter refuses with any arguments, and the arguments of its probe. */
export interface DeniedCall {
  name: string;
  arguments: readonly ProbeArgument[];
  rights: ProbeRights;
}

export interface DeniedClass {
  /** Matching attack ids of the list of threats. */
  attacks: readonly string[];
  title: string;
  calls: readonly DeniedCall[];
}

/** An address that is never mapped, and a descriptor that is never open. */
const NOWHERE = 1;
const CLOSED = 99;

function user(name: string, ...tried: ProbeArgument[]): DeniedCall {
  return { name, arguments: tried, rights: 'user' };
}

function namespace(name: string, ...tried: ProbeArgument[]): DeniedCall {
  return { name, arguments: tried, rights: 'namespace' };
}

function root(name: string, ...tried: ProbeArgument[]): DeniedCall {
  return { name, arguments: tried, rights: 'root' };
}

/** Every system call of the number table that is refused with any arguments, grouped as in docs/seccomp.md. */
export const DENIED_CLASSES: readonly DeniedClass[] = [
  {
    attacks: ['A21'],
    title: 'new namespaces and roots',
    calls: [
      user('unshare', 0x1000_0000),
      user('setns', CLOSED, 0),
      namespace('chroot', '/'),
      namespace('pivot_root', NOWHERE, NOWHERE),
      user('listns', NOWHERE, NOWHERE, 0, 0),
    ],
  },
  {
    attacks: ['A22'],
    title: 'mounts',
    calls: [
      user('mount', NOWHERE, NOWHERE, NOWHERE, 0, 0),
      user('umount2', '/proc', 0xff00),
      user('fsconfig', CLOSED, 0, NOWHERE, NOWHERE, 0),
      namespace('fsopen', NOWHERE, 0),
      namespace('fsmount', CLOSED, 0, 0),
      namespace('fspick', CLOSED, NOWHERE, 0),
      namespace('move_mount', CLOSED, NOWHERE, CLOSED, NOWHERE, 0),
      user('open_tree', CLOSED, NOWHERE, 0),
      user('open_tree_attr', CLOSED, NOWHERE, 0, NOWHERE, 1),
      namespace('mount_setattr', CLOSED, NOWHERE, 0xf0_0000, NOWHERE, 1),
      user('statmount', NOWHERE, NOWHERE, 0, 0),
      user('listmount', NOWHERE, NOWHERE, 0, 0),
    ],
  },
  {
    attacks: ['A24'],
    title: 'programs and modules for the kernel',
    calls: [
      root('bpf', 9999, NOWHERE, 0),
      user('perf_event_open', NOWHERE, 0, 0, -1, 0xffff),
      root('init_module', NOWHERE, 0, NOWHERE),
      root('finit_module', CLOSED, NOWHERE, 0xffff),
      root('delete_module', NOWHERE, 0),
      root('kexec_load', 0, 0, 0, 0x8000),
      root('kexec_file_load', CLOSED, CLOSED, 0, NOWHERE, 0xff00),
    ],
  },
  {
    attacks: ['A24', 'A30'],
    title: 'keyrings',
    calls: [
      user('keyctl', 9999),
      user('add_key', NOWHERE, NOWHERE, 0, 0, 0),
      user('request_key', NOWHERE, NOWHERE, NOWHERE, 0),
    ],
  },
  {
    attacks: ['A24'],
    title: 'page faults handled by programs',
    calls: [user('userfaultfd', 1)],
  },
  {
    attacks: ['A24'],
    title: 'files by handle',
    calls: [
      root('open_by_handle_at', CLOSED, NOWHERE, 0),
      user('name_to_handle_at', CLOSED, NOWHERE, NOWHERE, 0, 0xff),
    ],
  },
  {
    attacks: ['A25'],
    title: 'asynchronous input and output',
    calls: [
      user('io_uring_setup', 1, NOWHERE),
      user('io_uring_enter', CLOSED, 0, 0, 0, 0, 0),
      user('io_uring_register', CLOSED, 0, 0, 0),
      user('io_setup', 1, NOWHERE),
      user('io_destroy', 0),
      user('io_submit', 0, 0, 0),
      user('io_cancel', 0, NOWHERE, NOWHERE),
      user('io_getevents', 0, 0, 0, 0, 0),
      user('io_pgetevents', 0, 0, 0, 0, 0, 0),
    ],
  },
  {
    attacks: ['A26', 'A27'],
    title: 'other processes from inside',
    calls: [
      user('ptrace', 0, 0, 0, 0),
      user('process_vm_readv', 1, 0, 0, 0, 0, 1),
      user('process_vm_writev', 1, 0, 0, 0, 0, 1),
      user('process_madvise', CLOSED, NOWHERE, 1, 0, 0),
      user('process_mrelease', CLOSED, 0),
      user('pidfd_getfd', CLOSED, 0, 0),
      user('kcmp', 9999, 9999, 0, 0, 0),
      user('get_robust_list', 0, NOWHERE, NOWHERE),
    ],
  },
  {
    attacks: ['A32'],
    title: 'clock, names and state of the machine',
    calls: [
      user('settimeofday', NOWHERE, 0),
      user('clock_settime', 99, NOWHERE),
      user('adjtimex', NOWHERE),
      user('clock_adjtime', 0, NOWHERE),
      namespace('sethostname', 'renamed', 7),
      namespace('setdomainname', 'renamed', 7),
      namespace('reboot', 0, 0, 0, 0),
      root('swapon', NOWHERE, 0x7f_0000),
      root('swapoff', NOWHERE),
      root('acct', NOWHERE),
      user('quotactl', 0xff, NOWHERE, 0, NOWHERE),
      user('quotactl_fd', CLOSED, 0, 0, 0),
      root('syslog', 99, NOWHERE, 0),
      root('vhangup'),
      user('iopl', 99),
      user('ioperm', 0xffff_ffff, 10, 1),
      user('sync'),
      user('syncfs', CLOSED),
    ],
  },
  {
    attacks: ['A30'],
    title: 'message queues and shared memory by key',
    calls: [
      user('msgget', 0, 0o1600),
      user('msgsnd', -1, NOWHERE, 0, 0),
      user('msgrcv', -1, NOWHERE, 0, 0, 0),
      user('msgctl', 0, 99, NOWHERE),
      user('semget', 0, 1, 0o1600),
      user('semop', -1, NOWHERE, 0),
      user('semtimedop', -1, NOWHERE, 0, 0),
      user('semctl', 0, 0, 99, 0),
      user('shmget', 0, 4096, 0o1600),
      user('shmat', -1, 0, 0),
      user('shmdt', NOWHERE),
      user('shmctl', 0, 99, NOWHERE),
      user('mq_open', NOWHERE, 0, 0, 0),
      user('mq_unlink', NOWHERE),
      user('mq_timedsend', CLOSED, NOWHERE, 0, 0, 0),
      user('mq_timedreceive', CLOSED, NOWHERE, 0, 0, 0),
      user('mq_notify', CLOSED, NOWHERE),
      user('mq_getsetattr', CLOSED, NOWHERE, NOWHERE),
    ],
  },
  {
    attacks: [],
    title: 'rare memory calls',
    calls: [
      user('memfd_secret', 0xff),
      user('remap_file_pages', NOWHERE, 0, 0, 0, 0),
      user('vmsplice', CLOSED, NOWHERE, 1, 0xff),
      user('cachestat', CLOSED, NOWHERE, NOWHERE, 0),
      user('modify_ldt', 0, NOWHERE, 8),
      user('mbind', NOWHERE, 0, 0, 0, 0, 0),
      user('set_mempolicy', 99, 0, 0),
      user('get_mempolicy', NOWHERE, 0, 0, 0, 0),
      user('set_mempolicy_home_node', NOWHERE, 0, 0, 0),
      user('migrate_pages', 0, 0, NOWHERE, NOWHERE),
      user('move_pages', 0, 1, NOWHERE, 0, NOWHERE, 0),
    ],
  },
  {
    attacks: [],
    title: 'rare file, scheduling and security calls',
    calls: [
      root('fanotify_init', 0xffff_ffff, 0),
      user('fanotify_mark', CLOSED, 0, 0, 0, NOWHERE),
      user('file_getattr', CLOSED, NOWHERE, NOWHERE, 1, 0),
      user('file_setattr', CLOSED, NOWHERE, NOWHERE, 1, 0),
      user('ioprio_get', 1, 0),
      user('ioprio_set', 99, 0, 0),
      user('lsm_get_self_attr', 0, NOWHERE, NOWHERE, 0xff),
      user('lsm_set_self_attr', 0, NOWHERE, 1, 0xff),
      user('lsm_list_modules', NOWHERE, NOWHERE, 1),
    ],
  },
  {
    attacks: [],
    title: 'obsolete calls',
    calls: [
      user('uselib', NOWHERE),
      user('ustat', 0, NOWHERE),
      user('sysfs', 99),
      user('_sysctl', NOWHERE),
      user('create_module'),
      user('get_kernel_syms'),
      user('query_module'),
      user('nfsservctl'),
      user('getpmsg'),
      user('putpmsg'),
      user('afs_syscall'),
      user('tuxcall'),
      user('security'),
      user('set_thread_area'),
      user('get_thread_area'),
      user('lookup_dcookie'),
      user('epoll_ctl_old'),
      user('epoll_wait_old'),
      user('vserver'),
    ],
  },
];

/** A call that the filter allows, but not with these arguments. */
export interface DeniedArguments extends DeniedCall {
  /** Begins with the attack id of the list of threats, if one matches. */
  title: string;
  /** Error of the call under the filter. */
  answer: 'EPERM' | 'ENOSYS';
}

const SIGCHLD = 17;
/** Bits above the 32 bits that the kernel reads. A filter that compares all 64 bits would pass the forbidden value. */
const NOISE_ABOVE = 2 ** 32;

export const DENIED_ARGUMENTS: readonly DeniedArguments[] = [
  { title: 'A07 AF_VSOCK', ...user('socket', 40, 1, 0), answer: 'EPERM' },
  { title: 'A07 AF_VSOCK with noise above', ...user('socket', NOISE_ABOVE + 40, 1, 0), answer: 'EPERM' },
  { title: 'A06 AF_PACKET', ...namespace('socket', 17, 3, 0), answer: 'EPERM' },
  { title: 'netlink beyond the route family', ...user('socket', 16, 3, 15), answer: 'EPERM' },
  { title: 'a pair of IPv4 sockets', ...user('socketpair', 2, 1, 0, NOWHERE), answer: 'EPERM' },
  { title: 'A21 CLONE_NEWUSER', ...user('clone', 0x1000_0000 + SIGCHLD, 0, 0, 0, 0), answer: 'EPERM' },
  { title: 'A21 CLONE_NEWNS', ...namespace('clone', 0x0002_0000 + SIGCHLD, 0, 0, 0, 0), answer: 'EPERM' },
  {
    title: 'A21 CLONE_NEWPID',
    ...namespace('clone', 0x2000_0000 + SIGCHLD, 0, 0, 0, 0),
    answer: 'EPERM',
  },
  {
    title: 'A21 CLONE_NEWNET',
    ...namespace('clone', 0x4000_0000 + SIGCHLD, 0, 0, 0, 0),
    answer: 'EPERM',
  },
  { title: 'A21 flags behind a pointer', ...user('clone3', 0, 0), answer: 'ENOSYS' },
  { title: 'A23 a whiteout device', ...user('mknodat', -100, 'whiteout', 0o020_600, 0), answer: 'EPERM' },
  {
    title: 'A23 a character device',
    ...root('mknodat', -100, 'null', 0o020_600, 0x103),
    answer: 'EPERM',
  },
  { title: 'A23 a block device', ...root('mknodat', -100, 'disk', 0o060_600, 0x800), answer: 'EPERM' },
  { title: 'A23 a whiteout device', ...user('mknod', 'old-whiteout', 0o020_600, 0), answer: 'EPERM' },
  { title: 'TIOCSTI', ...user('ioctl', CLOSED, 0x5412, NOWHERE), answer: 'EPERM' },
  {
    title: 'TIOCSTI with noise above',
    ...user('ioctl', CLOSED, NOISE_ABOVE + 0x5412, NOWHERE),
    answer: 'EPERM',
  },
  { title: 'TIOCLINUX', ...user('ioctl', CLOSED, 0x541c, NOWHERE), answer: 'EPERM' },
  { title: 'TIOCSETD', ...user('ioctl', CLOSED, 0x5423, NOWHERE), answer: 'EPERM' },
  { title: 'ADDR_NO_RANDOMIZE', ...user('personality', 0x0004_0000), answer: 'EPERM' },
];
