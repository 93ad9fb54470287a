/** True if the lower 32 bits of an argument, masked, equal the value. */
export interface ArgumentTest {
  readonly index: number;
  readonly mask: number;
  readonly value: number;
}

/**
 * A system call that is allowed only for some arguments. The kernel reads each of these arguments as a type of at most 32 bits, so the
 * upper half must be ignored: a comparison of 64 bits would pass a forbidden value with extra upper bits.
 */
export type ArgumentRule = {
  readonly names: readonly string[];
  readonly why: string;
} & (
  | {
      /** Allowed if all tests of at least one list hold. */
      readonly allowWhen: readonly (readonly ArgumentTest[])[];
    }
  | {
      /** Allowed unless the argument is one of the values. */
      readonly refuseValues: { readonly index: number; readonly values: readonly number[] };
    }
);

const ALL_BITS = 0xffff_ffff;

function equals(index: number, value: number): ArgumentTest {
  return { index, mask: ALL_BITS, value };
}

const AF_UNIX = 1;
const AF_INET = 2;
const AF_INET6 = 10;
const AF_NETLINK = 16;
const NETLINK_ROUTE = 0;

/** CLONE_NEW{TIME,NS,CGROUP,UTS,IPC,USER,PID,NET} of `linux/sched.h`. */
const NAMESPACE_FLAGS = 0x7e02_0080;

const PERSONALITY_LINUX = 0;
const PERSONALITY_UNAME26 = 0x0002_0000;
const PERSONALITY_QUERY = 0xffff_ffff;

const FILE_TYPE_MASK = 0o170_000;
/** No type (which means a regular file), regular file, fifo and socket; device nodes and whiteouts stay out. */
const FILE_TYPES = [0, 0o100_000, 0o010_000, 0o140_000];

const TIOCSTI = 0x5412;
const TIOCLINUX = 0x541c;
const TIOCSETD = 0x5423;

function fileTypeAt(index: number): ArgumentTest[][] {
  return FILE_TYPES.map((value) => [{ index, mask: FILE_TYPE_MASK, value }]);
}

/** The system calls that are allowed only for some arguments. */
export const ARGUMENT_RULES: readonly ArgumentRule[] = [
  {
    names: ['clone'],
    why: 'Processes and threads, but no new namespace, in which the caller would be privileged.',
    allowWhen: [[{ index: 0, mask: NAMESPACE_FLAGS, value: 0 }]],
  },
  {
    names: ['socket'],
    why: 'Local, IPv4 and IPv6 sockets, and the route family of netlink, which lists network interfaces.',
    allowWhen: [
      [equals(0, AF_UNIX)],
      [equals(0, AF_INET)],
      [equals(0, AF_INET6)],
      [equals(0, AF_NETLINK), equals(2, NETLINK_ROUTE)],
    ],
  },
  {
    names: ['socketpair'],
    why: 'Pairs of local sockets: the standard streams of a Node child process.',
    allowWhen: [[equals(0, AF_UNIX)]],
  },
  {
    names: ['ioctl'],
    why: 'Terminals, pipes and file clones, but no typing into a terminal (TIOCSTI, TIOCLINUX) and no line disciplines (TIOCSETD).',
    refuseValues: { index: 1, values: [TIOCSTI, TIOCLINUX, TIOCSETD] },
  },
  {
    names: ['personality'],
    why: 'Query the personality or set a usual value; address randomisation stays on.',
    allowWhen: [PERSONALITY_LINUX, PERSONALITY_UNAME26, PERSONALITY_QUERY].map((value) => [equals(0, value)]),
  },
  { names: ['mknod'], why: 'Files, fifos and sockets, but no devices.', allowWhen: fileTypeAt(1) },
  { names: ['mknodat'], why: 'Files, fifos and sockets, but no devices.', allowWhen: fileTypeAt(2) },
];

/**
 * System calls that fail with ENOSYS. The flags of clone3 are behind a pointer, which a filter cannot follow. On ENOSYS, libc falls back to
 * clone; on EPERM, every start of a thread or child process would fail.
 */
export const UNIMPLEMENTED_CALLS: readonly string[] = ['clone3'];
