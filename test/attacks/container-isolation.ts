import { chmod, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { systemCallNumbers } from '../../src/sandboxes/seccomp/system-call-numbers.ts';
import { allRefused, bridgeAddress, listening, portOf, type ContainerAttack } from './container-scene.ts';
import { attempts } from './plainly.ts';

/** Error codes of refused calls: no permission, missing, read-only or not implemented. */
const REFUSED = /^(EPERM|EACCES|ENOENT|EROFS|ENOSYS|ENOTDIR|ENXIO)$/;
const UNREACHABLE = /^(ENETUNREACH|EHOSTUNREACH|ECONNREFUSED|EADDRNOTAVAIL)$/;
const CALLS = systemCallNumbers(process.arch === 'arm64' ? 'arm64' : 'x64');
const number = (name: string): number => CALLS.get(name) ?? -1;
const BRIDGE = 'NetworkMode none';
const HOST_NETWORK = 'NetworkMode none (host instead)';
const NO_NETWORK_BUT_HOST = [BRIDGE, HOST_NETWORK];
/** The path at which the change `no Binds` mounts the host's files. */
const BOUND = '/host-of-the-engine';

/** Targets beyond this machine, tried only in unchanged containers: the controls reach this test's own listener. */
const OUTSIDE = {
  outside: 'connected(socket.AF_INET, socket.SOCK_STREAM, ("1.1.1.1", 443))',
  six: 'connected(socket.AF_INET6, socket.SOCK_STREAM, ("2606:4700:4700::1111", 443))',
  datagram: 'socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"x", ("1.1.1.1", 53)) and None',
};
const NOT_THIS_MACHINE = {
  metadata: 'connected(socket.AF_INET, socket.SOCK_STREAM, ("169.254.169.254", 80))',
  named: 'connected(socket.AF_INET, socket.SOCK_STREAM, ("host.docker.internal", port))',
};

const NEW_NAMESPACES = { user: 0x10000000, mount: 0x00020000, pid: 0x20000000, network: 0x40000000, host: 0x04000000 };

/** Attacks on the separation of a container: network, files, rights, the kernel, other processes. */
export const ISOLATION_ATTACKS: readonly ContainerAttack[] = [
  {
    id: 'A01',
    title: 'makes no connection to the outside, by TCP, IPv6 or UDP',
    opens: NO_NETWORK_BUT_HOST,
    async attempt(scene) {
      const host = await bridgeAddress();
      await using server = await listening({ host });
      const code = attempts('port, host = int(sys.argv[1]), sys.argv[2]', {
        host: 'connected(socket.AF_INET, socket.SOCK_STREAM, (host, port))',
        ...(scene.weakened ? {} : OUTSIDE),
        interfaces: '" ".join(name for _, name in socket.if_nameindex())',
      });
      const report = await scene.report(code, { args: [portOf(server), host] });
      return allRefused(report, /^(ENETUNREACH|EADDRNOTAVAIL|lo)$/);
    },
  },
  {
    id: 'A02',
    title: 'resolves no name, and sees no resolver of the host',
    opens: [BRIDGE, 'NetworkDisabled'],
    async attempt(scene) {
      const code = attempts('', {
        ...(scene.weakened ? {} : { other: 'socket.getaddrinfo("example.com", 80) and None' }),
        resolver: 'content("/etc/resolv.conf") or "empty"',
        hosts: 'content("/etc/hosts") or "empty"',
      });
      return allRefused(await scene.report(code), /^(gaierror|empty|ENOENT)$/);
    },
  },
  {
    id: 'A03',
    title: 'reaches no port by bash',
    opens: NO_NETWORK_BUT_HOST,
    async attempt(scene) {
      const host = await bridgeAddress();
      await using server = await listening({ host });
      const result = await scene.job({
        language: 'bash',
        code: 'exec 5<>"/dev/tcp/$1/$2" && head -c 20 <&5',
        args: [host, portOf(server)],
      });
      return {
        blocked: result.exitCode === 1 && result.stdout.text === '',
        evidence: (result.stdout.text || result.stderr.text).split('\n')[0] ?? '',
      };
    },
  },
  {
    id: 'A04',
    title: 'reaches no metadata service, gateway or host by name',
    opens: NO_NETWORK_BUT_HOST,
    async attempt(scene) {
      const host = await bridgeAddress();
      await using server = await listening({ host });
      const code = attempts('port, host = int(sys.argv[1]), sys.argv[2]', {
        gateway: 'connected(socket.AF_INET, socket.SOCK_STREAM, (host, port))',
        ...(scene.weakened ? {} : NOT_THIS_MACHINE),
      });
      return allRefused(await scene.report(code, { args: [portOf(server), host] }), /^(ENETUNREACH|gaierror)$/);
    },
  },
  {
    id: 'A05',
    title: 'reaches no port that is open only to the host itself',
    opens: [HOST_NETWORK],
    async attempt(scene) {
      await using server = await listening({ host: '127.0.0.1' });
      const code = attempts('', {
        service: 'connected(socket.AF_INET, socket.SOCK_STREAM, ("127.0.0.1", int(sys.argv[1])))',
      });
      return allRefused(await scene.report(code, { args: [portOf(server)] }), UNREACHABLE);
    },
  },
  {
    id: 'A06',
    title: 'opens neither raw nor packet sockets',
    opens: ['everything'],
    async attempt(scene) {
      const code = attempts('', {
        raw: 'socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP) and None',
        packet: 'socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0) and None',
      });
      return allRefused(await scene.report(code), /^EPERM$/);
    },
  },
  {
    id: 'A07',
    title: 'opens no socket to the virtual machine’s host',
    opens: ['seccomp profile', 'seccomp at all'],
    async attempt(scene) {
      // A kernel without the family answers EAFNOSUPPORT; EPERM can only come from the filter.
      return allRefused(
        await scene.report(attempts('', { vsock: 'socket.socket(40, socket.SOCK_STREAM) and None' })),
        /^EPERM$/,
      );
    },
  },
  {
    id: 'A08',
    title: 'finds no socket of the engine or the host, by path or abstract name',
    opens: ['no Binds', HOST_NETWORK],
    async attempt(scene) {
      const path = join(scene.folder, 'engine.sock');
      const name = `attack-${process.pid}`;
      await using byPath = await listening({ path });
      await using byName = await listening({ path: `\0${name}` });
      const code = attempts('path, name = sys.argv[1], "\\0" + sys.argv[2]', {
        path: 'connected(socket.AF_UNIX, socket.SOCK_STREAM, path)',
        bound: `os.stat("${BOUND}" + path) and None`,
        abstract: 'connected(socket.AF_UNIX, socket.SOCK_STREAM, name)',
        docker: 'connected(socket.AF_UNIX, socket.SOCK_STREAM, "/var/run/docker.sock")',
        containerd: 'connected(socket.AF_UNIX, socket.SOCK_STREAM, "/run/containerd/containerd.sock")',
      });
      const listeners = byPath.listening && byName.listening;
      const verdict = allRefused(await scene.report(code, { args: [path, name] }), /^(ENOENT|ECONNREFUSED)$/);
      return { ...verdict, blocked: listeners && verdict.blocked };
    },
  },
  {
    id: 'A11',
    title: 'reads no file of the host by any path',
    opens: ['no Binds'],
    async attempt(scene) {
      const path = join(scene.folder, 'sentinel');
      await writeFile(path, 'sentinel of the host');
      await chmod(scene.folder, 0o755);
      const code = attempts('path = sys.argv[1]', {
        absolute: 'content(path)',
        dots: 'content("../" * 30 + path[1:])',
        first: 'content("/proc/1/root" + path)',
        own: 'content("/proc/self/root" + path)',
        parent: 'content(f"/proc/{os.getppid()}/root" + path)',
        folder: 'content("/proc/self/cwd/" + "../" * 30 + path[1:])',
        bound: `content("${BOUND}" + path)`,
        homes: '" ".join(os.listdir("/home")) or "ENOENT"',
        shadow: 'content("/etc/shadow")',
        root: '" ".join(os.listdir("/root"))',
      });
      return allRefused(await scene.report(code, { args: [path] }), REFUSED);
    },
  },
  {
    id: 'A12',
    title: 'reads no memory, log, firmware or disk of the machine',
    opens: ['everything', 'Privileged false'],
    async attempt(scene) {
      const code = attempts('', {
        kcore: 'opened("/proc/kcore", os.O_RDONLY)',
        memory: 'opened("/dev/mem", os.O_RDONLY)',
        log: 'opened("/dev/kmsg", os.O_RDONLY)',
        firmware: '" ".join(os.listdir("/sys/firmware")) or "EACCES"',
        keys: 'content("/proc/keys") or "EACCES"',
        disks: '" ".join(n for n in os.listdir("/dev") if n[:2] in ("vd", "sd", "nv", "lo", "dm")) or "ENOENT"',
      });
      return allRefused(await scene.report(code), REFUSED);
    },
  },
  {
    id: 'A14',
    title: 'writes into no folder of the system or of programs',
    opens: ['ReadonlyRootfs'],
    async attempt(scene) {
      const folders =
        '/ /etc /usr /usr/bin /usr/local/bin /opt /opt/skillcell /opt/skillcell/executors /root /home /var /var/tmp /run /run/lock /dev /skills /node_modules /proc /sys'.split(
          ' ',
        );
      const code = attempts(
        'name = f"attack-{os.getpid()}"',
        Object.fromEntries(folders.map((folder) => [folder, `created("${folder}/" + name)`])),
      );
      return allRefused(await scene.report(code), REFUSED);
    },
  },
  {
    id: 'A15',
    title: 'writes no switch of the kernel',
    opens: ['everything'],
    async attempt(scene) {
      const paths = [
        '/proc/sys/kernel/core_pattern',
        '/proc/sys/vm/overcommit_memory',
        '/proc/sysrq-trigger',
        '/sys/kernel/uevent_helper',
        '/sys/fs/cgroup/memory/release_agent',
        '/sys/fs/cgroup/release_agent',
        '/sys/fs/cgroup/memory/memory.limit_in_bytes',
        '/sys/fs/cgroup/pids/pids.max',
      ];
      return allRefused(
        await scene.report(
          attempts('', Object.fromEntries(paths.map((path) => [path, `opened("${path}", os.O_WRONLY)`]))),
        ),
        REFUSED,
      );
    },
  },
  {
    id: 'A16',
    title: 'writes nothing through a link out of the workspace',
    opens: ['ReadonlyRootfs', 'no Binds'],
    async attempt(scene) {
      await chmod(scene.folder, 0o777);
      const code = attempts(`os.symlink("${BOUND}" + sys.argv[1], "out-of-here"); os.symlink("/var/tmp", "programs")`, {
        host: 'created("out-of-here/written")',
        programs: 'created("programs/written")',
        through: 'created("/proc/self/cwd/programs/written")',
      });
      return allRefused(await scene.report(code, { args: [scene.folder] }), REFUSED);
    },
  },
  {
    id: 'A17',
    title: 'is an ordinary user with no other groups, and cannot become another',
    opens: ['the drop of privileges', 'setpriv --reuid', 'setpriv --regid', 'setpriv --clear-groups'],
    async attempt(scene) {
      const code = attempts('', {
        ids: '" ".join(map(str, [*os.getresuid(), *os.getresgid()]))',
        groups: '" ".join(map(str, os.getgroups())) or "none"',
        user: 'os.setuid(0)',
        supervisor: 'os.setuid(10001)',
        group: 'os.setgid(0)',
        more: 'os.setgroups([0])',
      });
      return allRefused(await scene.report(code), /^(10002( 10002){5}|none|EPERM)$/);
    },
  },
  {
    id: 'A18',
    title: 'has no capability in any of the five sets',
    opens: [
      'the drop of privileges',
      'setpriv --bounding-set=-all',
      'CapAdd SETPCAP',
      'setpriv --inh-caps=-all',
      'setpriv --ambient-caps=-all',
    ],
    async attempt(scene) {
      const result = await scene.job({
        language: 'bash',
        code: 'grep -E "^Cap(Inh|Prm|Eff|Bnd|Amb)" /proc/self/status | cut -f2',
      });
      return {
        blocked: result.stdout.text === '0000000000000000\n'.repeat(5),
        evidence: result.stdout.text.trim().replaceAll('\n', ' '),
      };
    },
  },
  {
    id: 'A19',
    title: 'gains nothing from programs with another owner’s rights',
    opens: ['no-new-privileges, and setpriv --no-new-privs'],
    async attempt(scene) {
      const code = attempts('', {
        locked: 'next(line.split()[1] for line in open("/proc/self/status") if line.startswith("NoNewPrivs"))',
        raised: 'subprocess.run(["/usr/local/bin/raised", "-u"], capture_output=True, text=True).stdout.strip()',
        found:
          'subprocess.run(["find", "/", "-xdev", "-type", "f", "-perm", "/6000"], capture_output=True, text=True).stdout.strip() or "none"',
      });
      return allRefused(await scene.report(code), /^(1|ENOENT|none)$/);
    },
  },
  {
    id: 'A19',
    title: 'cannot gain rights in any process of the container',
    opens: ['no-new-privileges'],
    async attempt(scene) {
      const code = attempts('', {
        locked:
          '" ".join(sorted({line.split()[1] for pid in os.listdir("/proc") if pid.isdigit() for line in open(f"/proc/{pid}/status") if line.startswith("NoNewPrivs")}))',
      });
      return allRefused(await scene.report(code), /^1$/);
    },
  },
  {
    id: 'A19',
    title: 'has writable mounts that honour neither set-user-id bits nor devices',
    opens: ['workspace', 'skills', 'value', 'tmp'].flatMap((name) => [`tmpfs /${name} nosuid`, `tmpfs /${name} nodev`]),
    async attempt(scene) {
      const code = attempts('', {
        weak: '" ".join(path for path in ("/workspace", "/skills", "/value", "/tmp", "/dev/shm", "/dev/mqueue") if os.statvfs(path).f_flag & 6 != 6) or "none"',
      });
      return allRefused(await scene.report(code), /^none$/);
    },
  },
  {
    id: 'A14',
    title: 'runs no program from a data folder',
    opens: ['tmpfs /value noexec'],
    async attempt(scene) {
      const run = (path: string): string =>
        `(open("${path}/own", "wb").write(open("/usr/bin/true", "rb").read()), os.chmod("${path}/own", 0o755), subprocess.run(["${path}/own"], check=True)) and None`;
      return allRefused(await scene.report(attempts('', { value: run('/value'), shm: run('/dev/shm') })), /^EACCES$/);
    },
  },
  {
    id: 'A20',
    title: 'is under a filter of system calls',
    opens: ['seccomp at all', 'Privileged false'],
    async attempt(scene) {
      const code = attempts('', {
        mode: 'next(line.split()[1] for line in open("/proc/self/status") if line.startswith("Seccomp:"))',
      });
      return allRefused(await scene.report(code), /^2$/);
    },
  },
  {
    id: 'A21-A24',
    title: 'makes no namespace, mount, device, or program for the kernel',
    opens: ['everything'],
    async attempt(scene) {
      const expressions: Record<string, string> = {
        chroot: `syscall(${number('chroot')}, b".")`,
        setns: `syscall(${number('setns')}, os.open("/proc/self/ns/uts", os.O_RDONLY), 0)`,
        mount: 'called(libc.mount(b"tmpfs", os.getcwd().encode(), b"tmpfs", 0, None))',
        bind: 'called(libc.mount(b"/usr", os.getcwd().encode(), None, 4096, None))',
        umount: 'called(libc.umount2(b"/proc/sys", 2))',
        mknod: 'os.mknod("device", 0o20600, os.makedev(1, 3))',
        bpf: `syscall(${number('bpf')}, 0, b"\\0" * 64, 64)`,
        keyctl: `syscall(${number('keyctl')}, 0, -2, 1)`,
        userfaultfd: `syscall(${number('userfaultfd')}, 0x80000)`,
        module: `syscall(${number('init_module')}, b"x", 1, b"")`,
        handle: `syscall(${number('open_by_handle_at')}, 0, b"\\0" * 64, 0)`,
      };
      for (const [name, flag] of Object.entries(NEW_NAMESPACES)) expressions[name] = `called(libc.unshare(${flag}))`;
      return allRefused(await scene.report(attempts('', expressions)), /^(EPERM|ENOSYS)$/);
    },
  },
  {
    id: 'A25',
    title: 'uses no io_uring, which the engine’s own profile allows',
    opens: ['seccomp profile', 'seccomp at all'],
    async attempt(scene) {
      const code = attempts('', {
        setup: `syscall(${number('io_uring_setup')}, 1, b"\\0" * 120)`,
        enter: `syscall(${number('io_uring_enter')}, 99, 0, 0, 0, 0, 0)`,
      });
      return allRefused(await scene.report(code), /^EPERM$/);
    },
  },
  {
    id: 'A32',
    title: 'changes no name, clock or switch of the machine',
    opens: ['everything'],
    async attempt(scene) {
      const code = attempts('', {
        name: 'called(libc.sethostname(b"changed", 7))',
        clock: 'time.clock_settime(time.CLOCK_REALTIME, -1)',
        sysctl: 'opened("/proc/sys/kernel/hostname", os.O_WRONLY)',
        priority: 'os.setpriority(os.PRIO_PROCESS, 0, -10)',
      });
      return allRefused(await scene.report(code), REFUSED);
    },
  },
  {
    id: 'A33',
    title: 'learns no name of the host or of its container',
    opens: ['Hostname'],
    async attempt(scene) {
      return allRefused(
        await scene.report(attempts('', { name: 'socket.gethostname()', file: 'content("/etc/hostname").strip()' })),
        /^sandbox$/,
      );
    },
  },
  {
    id: 'A38',
    title: 'starts with the fixed environment of its launcher and no other',
    opens: ['fixed environment of the launcher'],
    async attempt(scene) {
      const code = `import json\nprint(json.dumps({'names': ' '.join(sorted(row.split('=')[0] for row in open('/proc/self/environ').read().split('\\0') if row))}))`;
      return allRefused(await scene.report(code), /^HOME LANG PATH PYTHONPATH TMPDIR$/);
    },
  },
];
