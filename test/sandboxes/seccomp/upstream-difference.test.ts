import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { ARGUMENT_RULES } from '../../../src/sandboxes/seccomp/argument-rules.ts';
import { SECCOMP_GROUPS } from '../../../src/sandboxes/seccomp/seccomp-groups.ts';
import { systemCallNumbers } from '../../../src/sandboxes/seccomp/system-call-numbers.ts';

/** Calls that upstream allows and skillcell refuses. */
const ONLY_UPSTREAM: readonly [reason: string, names: string][] = [
  [
    'A26: reads and writes other processes, and can freeze the init of a container',
    'ptrace process_vm_readv process_vm_writev',
  ],
  ['A24, A30: keys outlast a job and have no namespace of their own', 'add_key keyctl request_key'],
  ['A32: also sets the clock, and a filter cannot see which of the two a call does', 'adjtimex clock_adjtime'],
  [
    'A25: the older sibling of io_uring; neither Node nor Python uses it',
    'io_setup io_destroy io_submit io_cancel io_getevents io_pgetevents',
  ],
  [
    'A30: outlasts its processes, and its memory counts for none of them',
    'shmget shmat shmdt shmctl semget semop semtimedop semctl',
  ],
  [
    'A30: carries messages between processes; its kernel objects are a favourite tool of kernel exploits',
    'msgget msgsnd msgrcv msgctl mq_open mq_unlink mq_timedsend mq_timedreceive mq_notify mq_getsetattr',
  ],
  ['flushes the disks of the whole machine; files of a job lie in memory', 'sync syncfs'],
  [
    'A22, A24: tells of mounts and file handles, which only a mount or open_by_handle_at could use',
    'listmount statmount name_to_handle_at',
  ],
  ['of no use without fanotify_init, which needs a capability', 'fanotify_mark'],
  ['hides memory even from the kernel', 'memfd_secret'],
  ['reaches into the memory of another process, or asks for its addresses', 'process_mrelease get_robust_list'],
  ['tells which host files lie in the page cache', 'cachestat'],
  ['for 16-bit code, with a history of kernel faults', 'modify_ldt'],
  ['moves pages into pipes, with a history of kernel faults; no program here uses it', 'vmsplice'],
  ['the priority of disk access; files of a job lie in memory', 'ioprio_get ioprio_set'],
  ['obsolete: emulated or gone', 'remap_file_pages epoll_ctl_old epoll_wait_old set_thread_area get_thread_area'],
];

/** Calls that skillcell allows and upstream refuses. */
const ONLY_OURS: readonly [reason: string, names: string][] = [
  ['made by the trampoline of a uprobe of the host, as uretprobe, which upstream allows', 'uprobe'],
  ['a thread gives back the rest of a longer time slice; newer than the upstream list', 'rseq_slice_yield'],
];

function names(table: readonly [string, string][]): string[] {
  return table.flatMap(([, listed]) => listed.split(' ')).toSorted();
}

const upstream = new Set(
  readFileSync(new URL('upstream-allowed-names.txt', import.meta.url), 'utf8')
    .split('\n')
    .filter((line) => !line.startsWith('#'))
    .flatMap((line) => line.split(' ').filter((name) => name !== '')),
);
const known = new Set([...systemCallNumbers('x64').keys(), ...systemCallNumbers('arm64').keys()]);
const ours = new Set([...SECCOMP_GROUPS, ...ARGUMENT_RULES].flatMap((entry) => [...entry.names]));

test('each call that upstream allows and skillcell refuses has a reason in the table', () => {
  const refused = [...upstream].filter((name) => known.has(name) && !ours.has(name));
  expect(refused.toSorted()).toEqual(names(ONLY_UPSTREAM));
});

test('each call that skillcell allows and upstream refuses has a reason in the table', () => {
  expect([...ours].filter((name) => !upstream.has(name)).toSorted()).toEqual(names(ONLY_OURS));
});

test('the upstream names that the number table lacks belong to 32-bit interfaces and other processors', () => {
  const unknown = [...upstream].filter((name) => !known.has(name)).toSorted();
  const of32Bits =
    /(32|64)$|^(arm_|_llseek|_newselect)|^(sig|riscv_)|^(ipc|recv|send|socketcall|ugetrlimit|waitpid|mmap2)$/;
  const ofArm = ['breakpoint', 'cacheflush', 'set_tls', 'sync_file_range2'];
  expect(unknown.filter((name) => !of32Bits.test(name))).toEqual(ofArm);
});
