import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { hostname, networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { writeFile } from 'node:fs/promises';
import { expect } from 'vitest';
import { startQuietClock } from '../fixtures/quiet-clock.ts';
import { until } from '../fixtures/until.ts';
import { systemCallNumbers } from '../../src/sandboxes/seccomp/system-call-numbers.ts';
import { processesWith, read, sandboxProcesses } from './leftovers.ts';
import { at, attempts, plainly, reachedPlainly, reportOf, runCommand } from './plainly.ts';
import { runSeparateHost } from './separate-host.ts';
import { attack } from './surroundings.ts';

const isRoot = process.getuid?.() === 0;
/** Error codes of refused calls: no permission, missing, read-only or not implemented. */
const REFUSED = /^(EPERM|EACCES|ENOENT|EROFS|ENOSYS|ENOTDIR)$/;
const UNREACHABLE = /^(ENETUNREACH|EHOSTUNREACH|ECONNREFUSED|EADDRNOTAVAIL)$/;

async function listening(options: { host: string } | { path: string }): Promise<Server> {
  const server = createServer((socket) => {
    // Most programs only connect and leave.
    socket.on('error', () => undefined);
    socket.end('you reached the host');
  });
  await new Promise<void>((resolve) =>
    'path' in options ? server.listen(options.path, resolve) : server.listen(0, options.host, resolve),
  );
  return server;
}

/** A file of /etc from the bundle. */
function ownFile(name: string): string {
  return readFileSync(new URL(`../../runtime/etc/${name}`, import.meta.url), 'utf8');
}

function portOf(server: Server): string {
  const address = server.address();
  return typeof address === 'object' && address !== null ? `${address.port}` : '';
}

function hostAddress(): string {
  const found = Object.values(networkInterfaces()).flatMap((rows) => rows ?? []);
  return found.find((row) => row.family === 'IPv4' && !row.internal)?.address ?? '127.0.0.1';
}

/** Targets that a plain run reaches as well: this test's own listener. No packet leaves the machine. */
const OWN_LISTENER = {
  host: 'connected(socket.AF_INET, socket.SOCK_STREAM, (host, port))',
  interfaces: '[name for _, name in socket.if_nameindex()]',
};

attack('A01', 'makes no connection to the outside, by TCP, IPv6 or UDP', {}, async ({ job, evidence }) => {
  const host = hostAddress();
  await using server = await listening({ host });
  const setUp = 'port, host = int(sys.argv[1]), sys.argv[2]';
  const code = attempts(setUp, {
    ...OWN_LISTENER,
    outside: 'connected(socket.AF_INET, socket.SOCK_STREAM, ("1.1.1.1", 443))',
    six: 'connected(socket.AF_INET6, socket.SOCK_STREAM, ("2606:4700:4700::1111", 443))',
    datagram: 'socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"x", ("1.1.1.1", 53)) and None',
  });
  const args = [portOf(server), host];
  const open = reportOf((await plainly('python', attempts(setUp, OWN_LISTENER), { args })).stdout);
  expect(open['host']).toBe('reached');
  expect(open['interfaces']).not.toEqual(['lo']);
  const inside = reportOf((await job({ code, args })).stdout.text);
  for (const name of ['host', 'outside', 'six', 'datagram']) expect(inside[name]).toMatch(UNREACHABLE);
  expect(inside['interfaces']).toEqual(['lo']);
  evidence(`plainly the host's address was reached; inside ${inside['host']}, and only lo is there`);
});

attack('A02', 'resolves only its own name, and fails at once for others', {}, async ({ job, evidence }) => {
  const local = { local: 'socket.getaddrinfo("localhost", 80) and None' };
  const code = attempts('', {
    local: '" ".join(sorted({row[4][0] for row in socket.getaddrinfo("localhost", 80)}))',
    host: 'socket.getaddrinfo(sys.argv[1], 80) and None',
    other: 'socket.getaddrinfo("example.com", 80) and None',
    hosts: 'content("/etc/hosts")',
    resolver: 'content("/etc/resolv.conf")',
  });
  expect(reportOf((await plainly('python', attempts('', local))).stdout)['local']).toBe('reached');
  const elapsedMs = startQuietClock();
  const inside = reportOf((await job({ code, args: [hostname()] })).stdout.text);
  expect(inside).toEqual({
    local: '127.0.0.1 ::1',
    host: 'gaierror',
    other: 'gaierror',
    hosts: ownFile('hosts'),
    resolver: 'ENOENT',
  });
  expect(elapsedMs()).toBeLessThan(5_000);
  evidence('gaierror for example.com and the name of the host: no resolver, and a hosts file of our own');
});

attack('A03', 'reaches no port of the host by bash', {}, async ({ job, evidence }) => {
  await using server = await listening({ host: '127.0.0.1' });
  const code = 'exec 5<>/dev/tcp/127.0.0.1/$1 && head -c 20 <&5';
  const args = [portOf(server)];
  expect((await plainly('bash', code, { args })).stdout).toBe('you reached the host');
  const result = await job({ language: 'bash', code, args });
  expect(result).toMatchObject({ outcome: 'failed', exitCode: 1, stdout: { text: '' } });
  evidence(result.stderr.text.split('\n')[0] ?? '');
});

attack('A04', 'reaches no metadata service and no gateway', {}, async ({ job, evidence }) => {
  const host = hostAddress();
  await using server = await listening({ host });
  const gateway = host.replace(/\.\d+$/, '.1');
  const setUp = 'port, host, gateway = int(sys.argv[1]), sys.argv[2], sys.argv[3]';
  const { host: own } = OWN_LISTENER;
  const code = attempts(setUp, {
    host: own,
    gateway: 'connected(socket.AF_INET, socket.SOCK_STREAM, (gateway, 80))',
    metadata: 'connected(socket.AF_INET, socket.SOCK_STREAM, ("169.254.169.254", 80))',
    bridge: 'connected(socket.AF_INET, socket.SOCK_STREAM, ("172.17.0.1", 80))',
  });
  const args = [portOf(server), host, gateway];
  expect(reportOf((await plainly('python', attempts(setUp, { host: own }), { args })).stdout)['host']).toBe('reached');
  const inside = reportOf((await job({ code, args })).stdout.text);
  for (const value of Object.values(inside)) expect(value).toMatch(UNREACHABLE);
  evidence(`metadata ${inside['metadata']}, gateway ${inside['gateway']}`);
});

attack('A06', 'opens neither raw nor packet sockets', { needs: ['root'] }, async ({ job, evidence }) => {
  const code = attempts('', {
    raw: 'socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP) and None',
    packet: 'socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0) and None',
  });
  expect(reportOf((await plainly('python', code)).stdout)).toEqual({ raw: 'reached', packet: 'reached' });
  const inside = reportOf((await job({ code })).stdout.text);
  expect(inside).toEqual({ raw: 'EPERM', packet: 'EPERM' });
  evidence('EPERM for both; root opens both plainly');
});

attack('A07', 'opens no socket to the virtual machine’s host', {}, async ({ job, evidence }) => {
  const code = attempts('', { vsock: 'socket.socket(40, socket.SOCK_STREAM) and None' });
  // A kernel without the family answers EAFNOSUPPORT; EPERM can only come from the filter.
  expect(reportOf((await plainly('python', code)).stdout)['vsock']).toMatch(/^(reached|EAFNOSUPPORT)$/);
  expect(reportOf((await job({ code })).stdout.text)).toEqual({ vsock: 'EPERM' });
  evidence('EPERM by the filter');
});

attack('A08', 'finds no socket of the host, by path or by abstract name', {}, async ({ job, folder, evidence }) => {
  const path = join(folder, 'engine.sock');
  const abstract = `\0attack-${process.pid}`;
  await using byPath = await listening({ path });
  await using byName = await listening({ path: abstract });
  expect([byPath.listening, byName.listening]).toEqual([true, true]);
  const setUp = 'path, name = sys.argv[1], "\\0" + sys.argv[2]';
  const ours = {
    path: 'connected(socket.AF_UNIX, socket.SOCK_STREAM, path)',
    abstract: 'connected(socket.AF_UNIX, socket.SOCK_STREAM, name)',
  };
  const code = attempts(setUp, {
    ...ours,
    docker: 'connected(socket.AF_UNIX, socket.SOCK_STREAM, "/var/run/docker.sock")',
  });
  const args = [path, abstract.slice(1)];
  const open = reportOf((await plainly('python', attempts(setUp, ours), { args })).stdout);
  expect(open).toEqual({ path: 'reached', abstract: 'reached' });
  const inside = reportOf((await job({ code, args })).stdout.text);
  expect(inside).toEqual({ path: 'ENOENT', abstract: 'ECONNREFUSED', docker: 'ENOENT' });
  evidence('path ENOENT, abstract ECONNREFUSED; both reached plainly');
});

attack('A11', 'reads no file of the host by any path', {}, async ({ job, folder, evidence }) => {
  const path = join(folder, 'sentinel');
  await writeFile(path, 'sentinel of the host');
  const ways = {
    absolute: 'content(path)',
    dots: 'content("../" * 30 + path[1:])',
    own: 'content("/proc/self/root" + path)',
    parent: 'content(f"/proc/{os.getppid()}/root" + path)',
    folder: 'content("/proc/self/cwd/" + "../" * 30 + path[1:])',
  };
  const code = attempts('path = sys.argv[1]', {
    ...ways,
    reaper: 'content("/proc/1/root" + path)',
    shadow: 'content("/etc/shadow")',
    name: 'content("/etc/hostname")',
    homes: 'os.listdir("/home")',
    root: 'os.listdir("/root")',
  });
  // The accounts are not the host's: the file comes from the bundle.
  const accounts = await job({ language: 'bash', code: 'cat /etc/passwd' });
  expect(accounts.stdout.text).toBe(ownFile('passwd'));
  const open = reportOf((await plainly('python', attempts('path = sys.argv[1]', ways), { args: [path] })).stdout);
  expect(Object.values(open)).toEqual(Object.keys(ways).map(() => 'sentinel of the host'));
  const inside = reportOf((await job({ code, args: [path] })).stdout.text);
  for (const [name, value] of Object.entries(inside)) expect(value, name).toMatch(REFUSED);
  evidence(
    `plainly 5 ways led to the file; inside ${[...new Set(Object.values(inside))].join(', ')} for all ${Object.keys(inside).length}`,
  );
});

/** Paths of each kind; not every machine has all. */
const PARTS_OF_THE_MACHINE = {
  memory: ['/proc/kcore', '/dev/mem', '/proc/kpageflags', '/proc/kpagecount'],
  log: ['/dev/kmsg'],
  'log of the kernel': ['/proc/kmsg'],
  firmware: ['/sys/firmware/acpi', '/sys/firmware', '/sys/kernel/debug', '/sys/kernel/notes'],
  disk: ['/dev/vda', '/dev/sda', '/dev/nvme0n1', '/dev/loop0'],
  generator: ['/dev/hwrng', '/dev/kvm', '/dev/net/tun', '/dev/fuse'],
};

attack(
  'A12',
  'reads no memory, log, firmware or disk of the machine',
  { needs: ['root'] },
  async ({ job, evidence }) => {
    const read = 'opened(path, os.O_RDONLY)';
    const reached = await reachedPlainly(PARTS_OF_THE_MACHINE, read);
    // A user without all rights sees fewer of them, but a path that no program reaches proves nothing.
    expect(Object.keys(reached).length).toBeGreaterThanOrEqual(3);
    const code = attempts(
      '',
      Object.fromEntries(Object.entries(reached).map(([kind, path]) => [kind, at(path, read)])),
    );
    const inside = reportOf((await job({ code })).stdout.text);
    expect(Object.keys(inside)).toEqual(Object.keys(reached));
    for (const [kind, value] of Object.entries(inside)) expect(value, `${kind} ${reached[kind]}`).toMatch(REFUSED);
    evidence(
      `${Object.keys(reached).join(', ')}: opened plainly; inside ${[...new Set(Object.values(inside))].join(', ')}`,
    );
  },
);

const DESCRIPTORS: Record<'bash' | 'python' | 'javascript', string> = {
  bash: 'for name in /proc/$$/fd/*; do echo "${name##*/} $(readlink "$name")"; done; pwd -P >&2',
  python: `
import os, sys
for name in os.listdir('/proc/self/fd'):
    try: print(name, os.readlink('/proc/self/fd/' + name))
    except FileNotFoundError: pass
print(os.getcwd(), file=sys.stderr)`,
  javascript: `
import { readdirSync, readlinkSync } from 'node:fs';
for (const name of readdirSync('/proc/self/fd')) {
  try { console.log(name, readlinkSync('/proc/self/fd/' + name)); } catch {}
}
console.error(process.cwd());`,
};
/** Descriptors of an executor itself: its channel to the entry, removed pipes, its own event loop, and the listing process. */
const OWN_DESCRIPTOR =
  /^\d+ (\/run\/(std(in|out|err)|to-executor|from-executor)|anon_inode:\[\w+\]|\/proc\/.*|socket:\[\d+\]|pipe:\[\d+\]|.*\/\.pipes-\w+\/(std(out|err)|(to|from)-program) \(deleted\)|\/dev\/null|.*(executor|main)\.(m?js|sh|py))$/;

for (const language of ['bash', 'python', 'javascript'] as const) {
  attack(
    'A13',
    `inherits no descriptor above 2 in ${language}, and works in its workspace`,
    { levels: ['namespace', 'none'] },
    async ({ folder, level, evidence }) => {
      const path = join(folder, 'sentinel');
      await writeFile(path, 'sentinel of the host');
      // A host that was itself started with open files, for example by a shell or a service manager.
      const careless = ['/bin/bash', '-c', 'exec 3<"$0" 9<"$0" 57<"$0" 200<"$0" 201>>"$0"; exec "$@"', path];
      const code = DESCRIPTORS[language];
      expect((await plainly('bash', 'cat <&200', { launcher: careless })).stdout).toBe('sentinel of the host');
      expect((await plainly(language, code, { launcher: careless })).stdout).toContain(path);
      const { runs } = await runSeparateHost({ jobs: [{ code, language, isolation: level }] }, { launcher: careless });
      const result = runs[0]?.result;
      expect(result?.outcome).toBe('succeeded');
      const lines = (result?.stdout.text ?? '').trim().split('\n');
      expect(lines.length).toBeGreaterThan(2);
      for (const line of lines) {
        expect(line).not.toContain('sentinel');
        expect(line).toMatch(OWN_DESCRIPTOR);
      }
      expect(
        lines.filter(
          (line) =>
            /^(9|57|200|201) /.test(line) && !/anon_inode|socket|pipe|(to|from)-executor|\/dev\/null/.test(line),
        ),
      ).toEqual([]);
      expect(result?.stderr.text.trim()).toMatch(
        level === 'none' ? /^\/tmp\/skillcell-[^/]+\/workspace$/ : /^\/workspace$/,
      );
      evidence(`five descriptors of the host to its own file; none of them inside`);
    },
  );
}

attack('A14', 'writes into no folder of the system or of programs', {}, async ({ job, evidence }) => {
  const folders = [
    '/',
    '/etc',
    '/usr',
    '/usr/bin',
    '/usr/local/bin',
    '/bin',
    '/opt',
    '/root',
    '/var',
    '/run',
    '/dev',
    '/skills',
    '/opt/skillcell',
    '/node_modules/skillcell',
    '/home',
  ];
  const code = attempts(
    `name = f"attack-{os.getpid()}"`,
    Object.fromEntries(folders.map((folder) => [folder, `created("${folder}/" + name)`])),
  );
  if (isRoot)
    expect(reportOf((await plainly('python', code)).stdout)).toMatchObject({
      '/usr/bin': 'reached',
      '/etc': 'reached',
      '/root': 'reached',
    });
  const inside = reportOf((await job({ code })).stdout.text);
  for (const [name, value] of Object.entries(inside)) expect(value, name).toMatch(REFUSED);
  evidence(`${[...new Set(Object.values(inside))].join(', ')} for ${folders.length} folders`);
});

const SWITCHES = {
  'pattern of core files': ['/proc/sys/kernel/core_pattern'],
  overcommitment: ['/proc/sys/vm/overcommit_memory'],
  'requests to the kernel': ['/proc/sysrq-trigger', '/proc/sys/vm/drop_caches'],
  'helper of events': ['/sys/kernel/uevent_helper', '/sys/kernel/mm/ksm/run', '/sys/power/state'],
  'agent of control groups': [
    '/sys/fs/cgroup/release_agent',
    '/sys/fs/cgroup/memory/release_agent',
    '/sys/fs/cgroup/cgroup.procs',
  ],
  interrupts: ['/proc/irq/default_smp_affinity'],
  network: ['/proc/sys/net/ipv4/ip_forward'],
};

attack('A15', 'writes no switch of the kernel', { needs: ['root'] }, async ({ job, evidence }) => {
  const write = 'opened(path, os.O_WRONLY)';
  const reached = await reachedPlainly(SWITCHES, write);
  expect(Object.keys(reached).length).toBeGreaterThanOrEqual(4);
  const code = attempts('', Object.fromEntries(Object.entries(reached).map(([kind, path]) => [kind, at(path, write)])));
  const inside = reportOf((await job({ code })).stdout.text);
  expect(Object.keys(inside)).toEqual(Object.keys(reached));
  for (const [kind, value] of Object.entries(inside)) expect(value, `${kind} ${reached[kind]}`).toMatch(REFUSED);
  evidence(
    `${Object.keys(reached).length} switches that root writes plainly; inside ${[...new Set(Object.values(inside))].join(', ')}`,
  );
});

attack('A16', 'writes nothing through a link out of the workspace', {}, async ({ job, folder, evidence }) => {
  const code = attempts('os.symlink(sys.argv[1], "out-of-here"); os.symlink("/usr/bin", "programs")', {
    host: 'created("out-of-here/written")',
    programs: 'created("programs/written")',
    through: 'created("/proc/self/cwd/programs/written")',
  });
  const args = [folder];
  expect(reportOf((await plainly('python', code, { args })).stdout)).toMatchObject({ host: 'reached' });
  const inside = reportOf((await job({ code, args })).stdout.text);
  expect(inside).toEqual({ host: 'ENOENT', programs: 'EROFS', through: 'EROFS' });
  evidence('the host’s folder is not there, the programs’ is read-only');
});

attack('A17', 'is an ordinary user with no other groups', { needs: ['root'] }, async ({ job, evidence }) => {
  const code = attempts('', {
    ids: '[*os.getresuid(), *os.getresgid()]',
    groups: 'os.getgroups()',
    root: 'os.setuid(0)',
    group: 'os.setgroups([0])',
  });
  expect(reportOf((await plainly('python', code)).stdout)).toMatchObject({ ids: [0, 0, 0, 0, 0, 0], root: 'reached' });
  const inside = reportOf((await job({ code })).stdout.text);
  expect(inside).toEqual({ ids: [1000, 1000, 1000, 1000, 1000, 1000], groups: [], root: 'EINVAL', group: 'EPERM' });
  evidence('uid 1000, no group; setuid(0) EINVAL: no such uid in its namespace');
});

attack('A18', 'has no capability in any of the five sets', {}, async ({ job, evidence }) => {
  const code = 'grep -E "^Cap(Inh|Prm|Eff|Bnd|Amb)" /proc/self/status | cut -f2';
  if (isRoot) expect((await plainly('bash', code)).stdout).toMatch(/[1-9a-f]/);
  const result = await job({ language: 'bash', code });
  expect(result.stdout.text).toBe('0000000000000000\n'.repeat(5));
  evidence('five times 0000000000000000');
});

attack(
  'A19',
  'gains nothing from programs with another owner’s rights',
  { needs: ['root'] },
  async ({ job, evidence }) => {
    const code = attempts('', {
      su: `effective(["/usr/bin/su", "-c", "true"])`,
      newgrp: `effective(["/usr/bin/newgrp", "root"])`,
      locked: `[line.split()[1] for line in open("/proc/self/status") if line.startswith("NoNewPrivs")][0]`,
    });
    const program = code.replace(
      'def attempt(',
      // A program that has just started still lacks its name and its owner's rights, and a program without a question may end too early.
      `import time
def effective(command):
    seen = "never seen"
    for _ in range(20):
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for _ in range(20):
            status = content(f"/proc/{process.pid}/status")
            if "Z (zombie)" in status:
                break
            if command[0].split("/")[-1] in status.splitlines()[0]:
                seen = int([line for line in status.splitlines() if line.startswith("Uid")][0].split()[2])
                if seen == 0:
                    break
            time.sleep(0.01)
        process.stdin.close()
        if seen != "never seen":
            break
    return seen
def attempt(`,
    );
    const ordinary = [
      '/usr/bin/setpriv',
      '--reuid=61183',
      '--regid=61183',
      '--clear-groups',
      '/usr/bin/python3',
      '-B',
      '-c',
      program,
    ];
    const open = await runCommand(ordinary, { cwd: '/' });
    expect(reportOf(open.stdout)).toMatchObject({ locked: '0' });
    expect([reportOf(open.stdout)['su'], reportOf(open.stdout)['newgrp']]).toContain(0);
    const inside = reportOf((await job({ code: program })).stdout.text);
    expect(inside['locked']).toBe('1');
    expect([inside['su'], inside['newgrp']]).not.toContain(0);
    evidence(`NoNewPrivs 1; su runs as ${String(inside['su'])}, plainly as root`);
  },
);

const CALLS = systemCallNumbers(process.arch === 'arm64' ? 'arm64' : 'x64');
const number = (name: string): number => CALLS.get(name) ?? -1;
const NEW_NAMESPACES = { user: 0x10000000, mount: 0x00020000, pid: 0x20000000, network: 0x40000000, host: 0x04000000 };

attack('A20-A25', 'makes no call that the filter refuses', { needs: ['root'] }, async ({ job, evidence }) => {
  const expressions: Record<string, string> = {
    'A21 chroot': `syscall(${number('chroot')}, b".")`,
    'A21 setns': `syscall(${number('setns')}, os.open("/proc/self/ns/uts", os.O_RDONLY), 0)`,
    'A22 mount': `(libc.unshare(${NEW_NAMESPACES.mount}), libc.mount(None, b"/", None, 0x44000, None), called(libc.mount(b"tmpfs", os.getcwd().encode(), b"tmpfs", 0, None)))[2]`,
    'A23 mknod': 'os.mknod("device", 0o20600, os.makedev(1, 3))',
    'A25 io_uring_setup': `syscall(${number('io_uring_setup')}, 1, b"\\0" * 120)`,
    'A24 bpf': `syscall(${number('bpf')}, 0, b"\\0" * 64, 64)`,
    'A24 keyctl': `syscall(${number('keyctl')}, 0, -2, 1)`,
    'A24 add_key': `syscall(${number('add_key')}, b"user", b"token", b"x", 1, -2) or None`,
    'A24 userfaultfd': `syscall(${number('userfaultfd')}, 0x80000)`,
    'A24 perf_event_open': `syscall(${number('perf_event_open')}, b"\\1\\0\\0\\0\\x78" + b"\\0" * 115, 0, -1, -1, 0)`,
    'A24 swapon': `syscall(${number('swapon')}, b"/no/such/file", 0)`,
    'A24 open_by_handle_at': `syscall(${number('open_by_handle_at')}, 0, b"\\0" * 64, 0)`,
    'A26 process_vm_writev': `syscall(${number('process_vm_writev')}, os.getppid(), 0, 0, 0, 0, 0)`,
    'A32 sethostname': `(libc.unshare(${NEW_NAMESPACES.host}), called(libc.sethostname(b"changed", 7)))[1]`,
    'A32 clock': 'time.clock_settime(time.CLOCK_REALTIME, -1)',
  };
  for (const [name, flag] of Object.entries(NEW_NAMESPACES))
    expressions[`A21 unshare ${name}`] = `called(libc.unshare(${flag}))`;
  const code = attempts('', {
    ...expressions,
    mode: 'next(line.split()[1] for line in open("/proc/self/status") if line.startswith("Seccomp:"))',
  });
  const open = reportOf((await plainly('python', code)).stdout);
  expect(open['mode']).toBe('0');
  // Root never gets EPERM: the call succeeded, or the kernel examined its arguments.
  for (const name of Object.keys(expressions))
    expect(open[name], `${name}, plainly`).not.toMatch(/^(EPERM|ENOSYS|died)$/);
  const inside = reportOf((await job({ code })).stdout.text);
  expect(inside['mode']).toBe('2');
  for (const name of Object.keys(expressions)) expect(inside[name], name).toMatch(/^(EPERM|ENOSYS)$/);
  evidence(`seccomp mode 2; ${Object.keys(expressions).length} calls EPERM or ENOSYS, none of them plainly`);
});

attack('A26', 'traces no process, not even its own child', {}, async ({ job, evidence }) => {
  const code = attempts('child = subprocess.Popen(["sleep", "5"])\nimport atexit\natexit.register(child.kill)', {
    attach: 'called(libc.ptrace(16, child.pid, 0, 0))',
    seize: 'called(libc.ptrace(0x4206, child.pid, 0, 0))',
    me: 'called(libc.ptrace(0, 0, 0, 0))',
    other: 'called(libc.ptrace(0x4206, int(sys.argv[1]) or child.pid, 0, 0))',
  });
  if (isRoot)
    // Plainly only its own child: other processes of the machine must not be stopped.
    expect(reportOf((await plainly('python', code, { args: ['0'] })).stdout)).toEqual({
      attach: 'reached',
      seize: 'reached',
      me: 'reached',
      other: 'reached',
    });
  const inside = reportOf((await job({ code, args: ['1'] })).stdout.text);
  expect(inside).toEqual({ attach: 'EPERM', seize: 'EPERM', me: 'EPERM', other: 'EPERM' });
  evidence('EPERM four times');
});

/**
 * The processes that an attack examines: all that a job sees, and plainly only the given process, which belongs to this test. Other processes of the
 * machine must not be touched.
 */
const LOOKED_INTO = 'pids = list(map(int, sys.argv[1:])) or [int(pid) for pid in os.listdir("/proc") if pid.isdigit()]';

attack('A28', 'sees only its own processes', {}, async ({ job, evidence }) => {
  const code = attempts(LOOKED_INTO, {
    seen: '[content(f"/proc/{pid}/cmdline").split("\\0")[0] for pid in pids]',
  });
  const args = [`${process.pid}`];
  expect(reportOf((await plainly('python', code, { args })).stdout)['seen']).toHaveLength(1);
  expect(reportOf((await job({ code, args })).stdout.text)).toEqual({ seen: 'ENOENT' });
  const inside = reportOf((await job({ code })).stdout.text);
  expect(inside).toEqual({ seen: ['bwrap', '/usr/bin/perl', '/usr/bin/python3'] });
  evidence(`sees ${JSON.stringify(inside['seen'])}, and not this process, which is seen plainly`);
});

attack('A29', 'kills no outside process with kill(-1), and fails', {}, async ({ job, evidence }) => {
  const code = 'import os, time\nif os.fork() == 0:\n    os.kill(-1, 9)\n    os._exit(0)\ntime.sleep(9)';
  const victim = [
    '/usr/bin/bwrap',
    '--ro-bind',
    '/',
    '/',
    '--dev',
    '/dev',
    '--proc',
    '/proc',
    '--unshare-pid',
    '--as-pid-1',
    '--die-with-parent',
    '--',
  ];
  const script =
    'sleep 60 & victim=$!; python3 -c "import os; os.kill(-1, 9)"; wait $victim; echo "victim ended with $?"';
  expect(await runCommand([...victim, '/bin/sh', '-c', script])).toMatchObject({
    stdout: 'victim ended with 137\n',
    stderr: '',
  });
  const beside = job({ language: 'bash', code: 'sleep 1.5; echo alive' });
  const result = await job({ code });
  expect(result).toMatchObject({ outcome: 'failed', signal: 'SIGKILL', exitCode: null });
  expect(await beside).toMatchObject({ outcome: 'succeeded', stdout: { text: 'alive\n' } });
  evidence('the job ended by SIGKILL; the concurrent job and this process went on');
});

const LEAVE = attempts('shm = lambda: libc.shmget(0x5ce11, 4096, 0o1600)', {
  tmp: 'open("/tmp/attack-token", "w").write("token") and None',
  shm: 'open("/dev/shm/attack-token", "w").write("token") and None',
  segment: 'called(min(shm(), 0))',
  workspace: 'open("attack-token", "w").write("token") and None',
  varTmp: 'open("/var/tmp/attack-token", "w").write("token") and None',
});
const FIND = attempts('', {
  tmp: 'content("/tmp/attack-token")',
  shm: 'content("/dev/shm/attack-token")',
  segment: 'called(min(libc.shmget(0x5ce11, 4096, 0), 0))',
  workspace: 'content("attack-token")',
  varTmp: 'content("/var/tmp/attack-token")',
});

attack('A30', 'passes no data to a concurrent job', {}, async ({ job, evidence }) => {
  const open = await plainly('python', LEAVE);
  const openFound = reportOf((await plainly('python', FIND)).stdout);
  await plainly(
    'bash',
    'rm -f /tmp/attack-token /dev/shm/attack-token /var/tmp/attack-token; ipcrm -M 0x5ce11 2>/dev/null',
  );
  expect(reportOf(open.stdout)).toMatchObject({
    tmp: 'reached',
    shm: 'reached',
    segment: 'reached',
    varTmp: 'reached',
  });
  expect(openFound).toMatchObject({ tmp: 'token', shm: 'token', segment: 'reached', varTmp: 'token' });
  const first = job({ code: `${LEAVE}\nsys.stdout.flush()\ntime.sleep(1.2)` });
  const second = job({ code: `import time\ntime.sleep(0.4)\n${FIND}` });
  expect(reportOf((await first).stdout.text)).toMatchObject({ tmp: 'reached', shm: 'reached', workspace: 'reached' });
  expect(reportOf((await second).stdout.text)).toEqual({
    tmp: 'ENOENT',
    shm: 'ENOENT',
    segment: expect.stringMatching(REFUSED),
    workspace: 'ENOENT',
    varTmp: 'ENOENT',
  });
  evidence('five places: ENOENT or refused in the other job; plainly the second program found four');
});

attack('A31', 'leaves no data for the next job', {}, async ({ job, evidence }) => {
  expect(reportOf((await job({ code: LEAVE })).stdout.text)).toMatchObject({
    tmp: 'reached',
    shm: 'reached',
    workspace: 'reached',
  });
  expect(reportOf((await job({ code: FIND })).stdout.text)).toEqual({
    tmp: 'ENOENT',
    shm: 'ENOENT',
    segment: expect.stringMatching(REFUSED),
    workspace: 'ENOENT',
    varTmp: 'ENOENT',
  });
  evidence('five places: no data found afterwards');
});

for (const [language, code] of [
  ['bash', 'env'],
  ['python', 'import os\nfor name, value in os.environ.items(): print(f"{name}={value}")'],
  ['javascript', 'for (const [name, value] of Object.entries(process.env)) console.log(`${name}=${value}`)'],
] as const) {
  attack(
    'A38',
    `has only the allowed environment in ${language}`,
    { levels: ['namespace', 'none'] },
    async ({ job, level, evidence }) => {
      const canary = `canary-${process.pid}-${Math.random()}`;
      process.env['AWS_SECRET_ACCESS_KEY'] = canary;
      process.env['HTTPS_PROXY'] = `http://user:${canary}@proxy`;
      try {
        // Never in a message: the rest of that environment belongs to the operator.
        const plain = await plainly(language, code, { env: {} });
        expect(plain.stdout.includes(canary)).toBe(true);
        const result = await job({ language, code });
        const names = result.stdout.text
          .split('\n')
          .flatMap((line) => (line.includes('=') ? [line.slice(0, line.indexOf('='))] : []));
        expect(result.stdout.text).not.toContain(canary);
        const expected = level === 'none' ? [...PROGRAM_VARIABLES, 'SKILLCELL_JOB_MARK'] : PROGRAM_VARIABLES;
        expect(names.filter((name) => !SHELL_VARIABLES.includes(name)).toSorted()).toEqual(expected.toSorted());
        evidence(`${names.length} names, the canary of the host's environment is not among the values`);
      } finally {
        delete process.env['AWS_SECRET_ACCESS_KEY'];
        delete process.env['HTTPS_PROXY'];
      }
    },
  );
}

attack(
  'A38',
  'finds no secret of the host in the environment of any process it sees',
  {},
  async ({ job, evidence }) => {
    const canary = `canary-${process.pid}-${Math.random()}`;
    const code = attempts(LOOKED_INTO, { environments: '[readable(f"/proc/{pid}/environ") for pid in pids]' });
    const holder = spawn('/bin/sleep', ['60'], { env: { SECRET_TOKEN: canary } });
    expect((await plainly('python', code, { args: [`${holder.pid}`] })).stdout).toContain(canary);
    holder.kill();
    process.env['SECRET_TOKEN'] = canary;
    try {
      const result = await job({ code });
      expect(result.outcome).toBe('succeeded');
      expect(result.stdout.text).not.toContain(canary);
      evidence(`${(reportOf(result.stdout.text)['environments'] as string[]).length} processes seen, none contains it`);
    } finally {
      delete process.env['SECRET_TOKEN'];
    }
  },
);

attack(
  'A39',
  'shows no data of a job in the command line or environment of any process',
  {},
  async ({ job, evidence }) => {
    const canary = `canary-${process.pid}-${Math.random()}`;
    const plain = plainly('bash', 'sleep 1', { args: [canary] });
    await until(() => processesWith(canary).length > 0, 'the program that runs plainly');
    await plain;
    const running = job({
      code: `import time\ntime.sleep(1.5)\n# ${canary}`,
      env: { API_KEY: canary },
      args: [canary],
      stdin: Buffer.from(canary),
    });
    await until(() => sandboxProcesses().length > 3, 'the start of the program');
    const held = processesWith(canary);
    expect(await running).toMatchObject({ outcome: 'succeeded' });
    expect(held).toEqual([]);
    evidence(
      'argument, variable, input and code of a running job stand in no /proc/*/{cmdline,environ} of the machine',
    );
  },
);

attack(
  'A41',
  'cannot change the kernel’s switches, even if root started it',
  { needs: ['root'] },
  async ({ job, evidence }) => {
    const code = attempts('', {
      pattern: 'opened("/proc/sys/kernel/core_pattern", os.O_WRONLY)',
      overcommit: 'opened("/proc/sys/vm/overcommit_memory", os.O_RDWR)',
    });
    // The command line of a runner that forgets to drop uid 0, and that leaves /proc/sys as bubblewrap makes it.
    const careless = [
      '/usr/bin/bwrap',
      '--ro-bind',
      '/',
      '/',
      '--tmpfs',
      '/dev/shm',
      '--proc',
      '/proc',
      '--unshare-all',
      '--cap-drop',
      'ALL',
      '--die-with-parent',
      '--',
    ];
    expect(reportOf((await plainly('python', code, { launcher: careless })).stdout)).toEqual({
      pattern: 'reached',
      overcommit: 'reached',
    });
    const running = job({ code: `import time\ntime.sleep(1.5)\n${code}` });
    await until(() => sandboxProcesses().length > 3, 'the start of the program');
    const uids = new Set(
      sandboxProcesses()
        .map((pid) => /^Uid:\s+(\d+)/m.exec(read(pid, 'status'))?.[1])
        .filter((uid) => uid !== undefined),
    );
    const inside = reportOf((await running).stdout.text);
    expect([...uids].filter((uid) => uid !== '0')).toEqual(['61184']);
    for (const value of Object.values(inside)) expect(value).toMatch(/^(EROFS|EACCES)$/);
    evidence(
      `the job is uid 61184 on the host; core_pattern ${inside['pattern']}, reached by a bubblewrap that root starts`,
    );
  },
);

const NEIGHBOURS = attempts(
  `${LOOKED_INTO}
others = [pid for pid in pids if pid != os.getpid()]
def allowed(look, pid):
    try: return look(f"/proc/{pid}")
    except PermissionError: return "refused"`,
  {
    others: 'others',
    commands: '[content(f"/proc/{pid}/cmdline") for pid in others]',
    descriptors:
      '[allowed(lambda folder: [[name, os.readlink(f"{folder}/fd/{name}")] for name in os.listdir(f"{folder}/fd")], pid) for pid in others]',
    environments: '[allowed(lambda folder: content(f"{folder}/environ"), pid) for pid in others]',
  },
);

attack(
  'A42',
  'reaches only its own processes, an empty reaper, and an unreadable process',
  {},
  async ({ job, evidence }) => {
    const neighbour = spawn('/bin/sleep', ['60'], { env: { SECRET: 'canary' } });
    const open = reportOf((await plainly('python', NEIGHBOURS, { args: [`${neighbour.pid}`] })).stdout);
    neighbour.kill();
    expect(open).toMatchObject({ commands: ['/bin/sleep\x0060\0'], environments: ['SECRET=canary\0'] });
    expect((open['descriptors'] as unknown[][])[0]?.length).toBeGreaterThan(2);
    const result = await job({ code: NEIGHBOURS });
    const inside = reportOf(result.stdout.text);
    // The second process waits for the program, and reports its end to the entry.
    expect(inside['others']).toEqual([1, 2]);
    expect((inside['commands'] as string[])[0]).toMatch(/^bwrap\0/);
    // Standard streams belong to the job; other descriptors of the reaper only count events.
    const [ofReaper, ofWaiter] = inside['descriptors'] as [[string, string][], string];
    expect([ofWaiter, (inside['environments'] as string[])[1]]).toEqual(['refused', 'refused']);
    for (const [name, target] of ofReaper) {
      expect(target, `descriptor ${name} of the reaper`).toMatch(
        /^(\/run\/std(out|err)|pipe:\[\d+\]|anon_inode:\[eventfd\])$/,
      );
    }
    expect(JSON.stringify(inside['environments'])).not.toMatch(/canary|KEY|SECRET|TOKEN|\/root|\/home/);
    evidence(`sees pid 1 (bwrap) and 2 (perl) only: ${JSON.stringify(inside['descriptors'])}`);
  },
);

/** Writes a forged result into every descriptor of every other process that can be opened. */
const FORGE = `
import json, os, struct, sys
def frames():
    yield b'"exit-code": 0\\n{ "exit-code": 0 }\\nstatus 0\\n'
    for body in (b'{"type":"exit","code":0}', b'{"type":"waiting"}', b'{"type":"result","result":{"outcome":"succeeded"}}'):
        yield struct.pack('<I', len(body)) + body
        yield struct.pack('<IBBH', len(body), 1, 0, 0) + body
written = 0
for pid in [p for p in os.listdir('/proc') if p.isdigit() and int(p) != os.getpid()]:
    try:
        names = os.listdir(f'/proc/{pid}/fd')
    except OSError:
        continue
    for name in names:
        target = os.readlink(f'/proc/{pid}/fd/{name}')
        if int(name) < 3 or 'eventfd' in target or (len(sys.argv) > 1 and name != sys.argv[1]):
            continue
        try:
            descriptor = os.open(f'/proc/{pid}/fd/{name}', os.O_WRONLY | os.O_NONBLOCK)
        except OSError:
            continue
        for frame in frames():
            written += os.write(descriptor, frame)
print(json.dumps(written))
sys.stdout.flush()
os._exit(7)
`;
import { PROGRAM_VARIABLES, SHELL_VARIABLES } from './program-environment.ts';

attack('A43', 'forges no result through the descriptors of its ancestors', {}, async ({ job, evidence }) => {
  // Plainly, the named descriptor opens in another process, and the written data arrives.
  const open = await plainly('bash', `exec 9<>"$PWD/held"; python3 -c "$1" 9; cat held | head -c 14`, {
    args: [FORGE],
    launcher: ['/usr/bin/unshare', '--user', '--map-root-user', '--pid', '--fork', '--mount-proc'],
  });
  expect(open.stdout).toContain('"exit-code": 0');
  const result = await job({ code: FORGE });
  expect(result).toMatchObject({ outcome: 'failed', exitCode: 7, stdout: { text: '0\n' } });
  evidence('no descriptor of another process could be opened for writing; exit code 7 stands');
});
