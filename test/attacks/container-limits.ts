import { allRefused, type ContainerAttack } from './container-scene.ts';
import { attempts } from './plainly.ts';

const MIB = 1024 * 1024;

/** Starts up to 300 waiting children, and prints their number and the error that stopped it. */
const FORKS = `
import errno, os, time
count, stopped = 0, None
for _ in range(300):
    try:
        if os.fork() == 0:
            time.sleep(20)
            os._exit(0)
        count += 1
    except OSError as error:
        stopped = errno.errorcode[error.errno]
        break
print(count, stopped, flush=True)
os._exit(3 if stopped else 0)
`;

const THREADS = `
import threading, time
count = 0
try:
    for _ in range(300):
        threading.Thread(target=time.sleep, args=(3,), daemon=True).start()
        count += 1
except RuntimeError: pass
print(count, flush=True)
raise SystemExit(0 if count == 300 else 3)
`;

const MEMORY = `
import sys
blocks = []
for _ in range(int(sys.argv[1])): blocks.append(bytearray(b'x') * 1048576)
print('filled', flush=True)
`;

const SMALL = { memoryMib: 64, workspaceMib: 32 };

/** Fills a folder with files of 8 MiB until an error or until much is written. */
const FILL = `
import os, sys
written, stopped = 0, None
try:
    for part in range(int(sys.argv[2])):
        with open(f'{sys.argv[1]}/part-{part}', 'wb', buffering=0) as file:
            for _ in range(8): written += file.write(b'x' * 1048576)
except OSError as error: stopped = error.errno
print(written // 1048576, stopped, flush=True)
`;

const INODES = `
import os, sys
count, stopped = 0, None
try:
    while count < 20000:
        os.close(os.open(f'{sys.argv[1]}/{count}', os.O_CREAT | os.O_WRONLY))
        count += 1
except OSError as error: stopped = error.errno
print(count, stopped)
`;

/** Stopped with ENOSPC at no more than `most`. */
function fullAt(text: string, most: number): boolean {
  const [count = '', stopped = ''] = text.trim().split(' ');
  return stopped === '28' && Number(count) <= most;
}

function fills(path: string, most: number, opens: readonly string[]): ContainerAttack {
  return {
    id: path === '/workspace' ? 'B07' : 'B08',
    title: `fills ${path} up to its size and no further`,
    opens,
    async attempt({ job }) {
      const result = await job({ code: FILL, args: [path, '20'], limits: { workspaceMib: 32, memoryMib: 256 } });
      return {
        blocked: fullAt(result.stdout.text, most),
        evidence: `ENOSPC after ${result.stdout.text.trim().replace(/ 28$/, '')} MiB; ${result.outcome}`,
      };
    },
  };
}

function fillsInodes(path: string, most: number, opens: readonly string[]): ContainerAttack {
  return {
    id: 'B10',
    title: `makes no more files in ${path} than it may`,
    opens,
    async attempt({ job }) {
      const result = await job({ code: INODES, args: [path], limits: { workspaceInodes: 1_000 } });
      return {
        blocked: fullAt(result.stdout.text, most),
        evidence: `ENOSPC after ${result.stdout.text.trim().replace(/ 28$/, '')} files`,
      };
    },
  };
}

/** Attacks on the limits of a container. */
export const LIMIT_ATTACKS: readonly ContainerAttack[] = [
  {
    id: 'B01',
    title: 'starts no more processes than it may',
    opens: ['PidsLimit'],
    async attempt({ job }) {
      const result = await job({ code: FORKS });
      const [count = '', stopped] = result.stdout.text.trim().split(' ');
      return {
        blocked:
          stopped === 'EAGAIN' && Number(count) <= 64 + 24 && result.outcome === 'limit' && result.limit === 'pids',
        evidence: `${stopped} after ${Number(count) <= 88 ? 'at most 64 + 24' : count} of 300; ${result.outcome} ${result.limit ?? ''}`,
      };
    },
  },
  {
    id: 'B02',
    title: 'starts no more threads than it may',
    opens: ['PidsLimit'],
    async attempt({ job }) {
      const result = await job({ code: THREADS });
      return {
        blocked: Number(result.stdout.text) <= 64 + 24 && result.limit === 'pids',
        evidence: `${result.outcome} ${result.limit ?? ''}`,
      };
    },
  },
  {
    id: 'B03',
    title: 'is ended when it takes more memory than it may',
    opens: ['Memory (unwatched)'],
    async attempt({ job }) {
      const result = await job({ code: MEMORY, args: ['400'], limits: SMALL });
      return { blocked: result.outcome === 'out_of_memory' && result.stdout.text === '', evidence: result.outcome };
    },
  },
  {
    id: 'B03',
    title: 'may use no swap beside its memory',
    opens: ['Memory', 'MemorySwap'],
    async attempt({ report }) {
      const code = attempts('', {
        // Control groups of version 1 and 2 show it in different ways.
        swap: `(lambda m, s: "none" if s == m else s)(content("/sys/fs/cgroup/memory/memory.limit_in_bytes"), content("/sys/fs/cgroup/memory/memory.memsw.limit_in_bytes")) if os.path.exists("/sys/fs/cgroup/memory") else content("/sys/fs/cgroup/memory.swap.max").strip().replace("0", "none", 1)`,
        limit: `str(int(content("/sys/fs/cgroup/memory/memory.limit_in_bytes" if os.path.exists("/sys/fs/cgroup/memory") else "/sys/fs/cgroup/memory.max")) // ${MIB})`,
      });
      return allRefused(await report(code, { limits: SMALL }), /^(none|264)$/);
    },
  },
  {
    id: 'B03',
    title: 'is ended when it hides memory in files without names',
    opens: ['Memory (unwatched)'],
    async attempt({ job }) {
      const code = `
import os
held = []
for _ in range(400):
    held.append(os.memfd_create('hidden'))
    os.write(held[-1], b'x' * 1048576)
print(len(held))`;
      const result = await job({ code, limits: SMALL });
      return { blocked: result.outcome === 'out_of_memory', evidence: result.outcome };
    },
  },
  {
    id: 'B04',
    title: 'is reported as out of memory if a child was killed for it, although the parent ends with 0',
    opens: ['Memory (unwatched)'],
    async attempt({ job }) {
      const code = `
import subprocess, sys
child = subprocess.run([sys.executable, '-c', ${JSON.stringify(MEMORY)}, '400'], stdout=subprocess.DEVNULL)
print('child', child.returncode, flush=True)`;
      const result = await job({ code, limits: SMALL });
      return {
        blocked: result.outcome === 'out_of_memory' && result.exitCode === 0 && result.stdout.text === 'child -9\n',
        evidence: `${result.outcome}, exit code ${result.exitCode}, ${result.stdout.text.trim()}`,
      };
    },
  },
  {
    id: 'B06',
    title: 'is ended when two children together take more than one may',
    opens: ['Memory (unwatched)'],
    async attempt({ job }) {
      const code = `
import subprocess, sys
program = ${JSON.stringify(MEMORY)} + "\\nimport time\\ntime.sleep(2)"
children = [subprocess.Popen([sys.executable, '-c', program, '100'], stdout=subprocess.DEVNULL) for _ in range(2)]
print(sorted(child.wait() for child in children), flush=True)`;
      const result = await job({ code, limits: SMALL });
      return { blocked: result.outcome === 'out_of_memory', evidence: result.outcome };
    },
  },
  {
    id: 'B06',
    title: 'is killed first when memory runs out',
    opens: ['oom_score_adj 1000'],
    async attempt({ report }) {
      const code = attempts(
        'supervisor = next(pid for pid in sorted(os.listdir("/proc")) if pid.isdigit() and pid != "1" and "entry.cjs" in content(f"/proc/{pid}/cmdline"))',
        {
          score: 'content("/proc/self/oom_score_adj").strip()',
          supervisor: 'content(f"/proc/{supervisor}/oom_score_adj").strip()',
        },
      );
      const { score, supervisor } = await report(code);
      return {
        blocked: score === '1000' && supervisor === '0',
        evidence: `user code ${String(score)}, supervisor ${String(supervisor)}`,
      };
    },
  },
  fills('/workspace', 32, ['tmpfs /workspace size']),
  fills('/tmp', 32, ['tmpfs /tmp size']),
  fills('/value', 1, ['tmpfs /value size']),
  {
    id: 'B08',
    title: 'has shared memory of the size of its memory',
    opens: ['ShmSize'],
    async attempt({ report }) {
      const code = attempts('', {
        size: '(lambda s: str(s.f_blocks * s.f_frsize // 1048576))(os.statvfs("/dev/shm"))',
      });
      return allRefused(await report(code, { limits: { memoryMib: 48 } }), /^48$/);
    },
  },
  {
    id: 'B08',
    title: 'is ended when its own memory and its files in /dev/shm together exceed the limit',
    opens: ['Memory (unwatched)'],
    async attempt({ job }) {
      const code = `
import time
own = bytearray(b'x') * (45 * 1048576)
with open('/dev/shm/all', 'wb', buffering=0) as file:
    for _ in range(45): file.write(b'x' * 1048576)
time.sleep(2)`;
      const result = await job({ code, limits: SMALL });
      return { blocked: result.outcome === 'out_of_memory', evidence: result.outcome };
    },
  },
  {
    id: 'B08',
    title: 'makes no message queue, neither by the library nor by a file',
    opens: ['ulimit msgqueue'],
    async attempt({ job }) {
      // The library's call is refused; the file system of the queues is not.
      const code = `
import os
count = 0
try:
    for _ in range(250):
        os.close(os.open(f'/dev/mqueue/{count}', os.O_CREAT | os.O_RDWR))
        count += 1
    print(count, None)
except OSError as error: print(count, error.errno)`;
      const result = await job({ code });
      return {
        blocked: result.stdout.text === '0 24\n',
        evidence: `EMFILE after ${result.stdout.text.trim().split(' ')[0]} queues`,
      };
    },
  },
  {
    id: 'B09',
    title: 'fills no more with many files below the limit of a single file',
    opens: ['tmpfs /workspace size'],
    async attempt({ job }) {
      const code = `
import os
written, stopped = 0, None
try:
    for part in range(400):
        with open(f'{part}', 'wb') as file: written += file.write(b'x' * 262144)
except OSError as error: stopped = error.errno
print(written // 1048576, stopped)`;
      const result = await job({ code, limits: { workspaceMib: 32 } });
      return {
        blocked: fullAt(result.stdout.text, 32),
        evidence: `ENOSPC after ${result.stdout.text.trim().split(' ')[0]} MiB in files of 256 KiB`,
      };
    },
  },
  fillsInodes('/workspace', 1_000, ['tmpfs /workspace nr_inodes']),
  fillsInodes('/tmp', 1_000, ['tmpfs /tmp nr_inodes']),
  fillsInodes('/value', 16, ['tmpfs /value nr_inodes']),
  {
    id: 'B11',
    title: 'writes nothing into the layer of the container, which has no size limit limit',
    opens: ['ReadonlyRootfs'],
    async attempt({ job }) {
      const result = await job({ code: FILL, args: ['/var/tmp', '4'] });
      return {
        blocked: result.stdout.text === '0 30\n',
        evidence: `EROFS after ${result.stdout.text.split(' ')[0]} MiB`,
      };
    },
  },
  {
    id: 'B12',
    title: 'opens no more files than it may',
    opens: ['ulimit nofile'],
    async attempt({ job }) {
      const code = `
import os, resource
resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
count = 0
try:
    while count < 3000:
        os.dup(0)
        count += 1
    print(count, None)
except OSError as error: print(count, error.errno)`;
      const result = await job({ code });
      const [count = '', stopped] = result.stdout.text.trim().split(' ');
      return { blocked: stopped === '24' && Number(count) <= 1_024, evidence: `EMFILE below 1024` };
    },
  },
  {
    id: 'B13',
    title: 'gets no more processor time than it may',
    opens: ['NanoCpus'],
    async attempt({ job }) {
      // The kernel counts the periods in which it throttled the group; on a busy machine a small share alone proves nothing.
      const code = `
import os, time
first, end = os.getpid(), time.monotonic() + 1.2
for _ in range(2): os.fork()
while time.monotonic() < end: pass
if os.getpid() != first: os._exit(0)
time.sleep(0.2)
v1, v2 = '/sys/fs/cgroup/cpu/cpu.stat', '/sys/fs/cgroup/cpu.stat'
with open(v1 if os.path.exists(v1) else v2) as file: counts = dict(line.split() for line in file)
print(counts['nr_throttled'])`;
      const result = await job({ code, limits: { cpus: 0.25 } });
      if (!/^\d+\n$/.test(result.stdout.text)) throw new Error(`There is no count of periods: ${result.stderr.text}`);
      const heldBack = Number(result.stdout.text);
      const idle = await job({ code: 'pass', limits: { cpus: 0.25 } });
      const ownMs = (result.usage.cpuMs ?? Number.POSITIVE_INFINITY) - (idle.usage.cpuMs ?? 0);
      const share = ownMs / (result.usage.wallMs ?? 1);
      const blocked = heldBack > 0 && share < 0.5;
      return {
        blocked,
        evidence: blocked
          ? 'held back by the kernel'
          : `${share.toFixed(2)} processors, held back in ${heldBack} periods`,
      };
    },
  },
  {
    id: 'B17',
    title: 'leaves no core file',
    opens: ['ulimit core'],
    async attempt({ job }) {
      const result = await job({
        language: 'bash',
        code: 'ulimit -c unlimited; ulimit -Hc; cd /tmp; python3 -c "import os; os.abort()" 2>/dev/null; echo "code $?"; ls',
      });
      return {
        blocked: result.stdout.text === '0\ncode 134\n',
        evidence: result.stdout.text.trim().replaceAll('\n', ', '),
      };
    },
  },
  {
    id: 'D07',
    title: 'makes no file that claims to be larger than its workspace',
    opens: ['ulimit fsize'],
    async attempt({ report }) {
      const code = attempts('import signal\nsignal.signal(signal.SIGXFSZ, signal.SIG_IGN)', {
        holes: 'os.truncate(os.open("holes", os.O_CREAT | os.O_WRONLY), 2 ** 40)',
      });
      return allRefused(await report(code), /^EFBIG$/);
    },
  },
  {
    id: 'B26',
    title: 'leaves no daemon behind while its outputs are read',
    opens: ['the kill of user code'],
    slow: true,
    async attempt({ job }) {
      const result = await job({ language: 'bash', code: 'setsid sleep 100 >/dev/null 2>&1 </dev/null & sleep 0.1' });
      return {
        blocked: result.outcome === 'succeeded' && result.diagnostics.every((row) => row.code !== 'processes.left'),
        evidence: result.diagnostics.map((row) => row.code).join() || 'no process was left',
      };
    },
  },
  {
    id: 'B15',
    title: 'is asked to end, with time for its last output, before it is killed',
    opens: ['CapAdd KILL'],
    async attempt({ job }) {
      const code = `trap 'echo asked; exit 3' TERM; while :; do sleep 0.1; done`;
      const result = await job({ language: 'bash', code, limits: { runTimeoutMs: 2_500 } });
      return {
        blocked: result.outcome === 'timeout' && result.stdout.text === 'asked\n',
        evidence: `${result.outcome}, with ${JSON.stringify(result.stdout.text)}`,
      };
    },
  },
  {
    id: 'B28',
    title: 'fills every folder at once without being ended for it',
    opens: ['tmpfs /tmp size', 'tmpfs /value size'],
    async attempt({ job }) {
      const code = `
import os
total = 0
for folder in ('/workspace', '/tmp', '/value'):
    try:
        with open(folder + '/all', 'wb', buffering=0) as file:
            for _ in range(640): total += file.write(b'x' * 262144)
    except OSError as error: print(folder, error.errno, flush=True)
print(total // 1048576)`;
      const result = await job({ code, limits: { memoryMib: 96, workspaceMib: 64 } });
      return {
        blocked: result.outcome === 'succeeded' && result.stdout.text.split(' 28\n').length === 4,
        evidence: `ENOSPC in all three; ${result.outcome}`,
      };
    },
  },
  {
    id: 'F25',
    title: 'leaves no zombies that use up its process limit',
    opens: ['Init'],
    slow: true,
    async attempt({ job }) {
      const code = `
import os, time
for _ in range(150):
    if os.fork() == 0:
        if os.fork() == 0: os._exit(0)
        os._exit(0)
    os.wait()
    time.sleep(0.005)
def dead(pid):
    # A process that init has just reaped does not count.
    try: return open(f'/proc/{pid}/stat').read().rpartition(')')[2].split()[0] == 'Z'
    except OSError: return False
print(sum(dead(pid) for pid in os.listdir('/proc') if pid.isdigit()))`;
      const result = await job({ code });
      return {
        blocked: result.outcome === 'succeeded' && Number(result.stdout.text) < 20,
        evidence: `${result.outcome}; fewer than 20 of 150`,
      };
    },
  },
];
