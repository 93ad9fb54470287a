import { createOrchestrator } from '../../src/jobs/create-orchestrator.ts';
import { allRefused, type ContainerAttack } from './container-scene.ts';
import { attempts } from './plainly.ts';
import { programAnswer, scriptedModel, type ScriptedModel } from '../fixtures/scripted-model.ts';

/** Finds the supervisor: the entry process that is not the first process. */
const SUPERVISOR = `
supervisor = next(int(pid) for pid in sorted(os.listdir('/proc')) if pid.isdigit() and int(pid) > 1 and b'entry.cjs' in open(f'/proc/{pid}/cmdline', 'rb').read())
others = [int(pid) for pid in os.listdir('/proc') if pid.isdigit() and int(pid) != os.getpid()]
def field(pid, name):
    return [line.split(':')[1].split() for line in open(f'/proc/{pid}/status') if line.startswith(name + ':')][0]
def refusals(function):
    seen = set()
    for pid in (1, supervisor):
        try: function(pid); seen.add('reached')
        except OSError as error: seen.add(errno.errorcode[error.errno])
    return ' '.join(sorted(seen))
`;

/** Opens every descriptor of the processes above, and writes forged frames into each. */
const FORGE = `
import json, os, struct
written, opened = 0, 0
frames = []
for body in (b'{"type":"exit","code":0}', b'{"type":"result","result":{"outcome":"succeeded"}}'):
    frames += [struct.pack('<I', len(body)) + body, struct.pack('>I', len(body)) + body, struct.pack('>BxxxI', 1, len(body)) + body]
for pid in [p for p in os.listdir('/proc') if p.isdigit() and int(p) != os.getpid()]:
    try: names = os.listdir(f'/proc/{pid}/fd')
    except OSError: continue
    for name in names:
        try: descriptor = os.open(f'/proc/{pid}/fd/{name}', os.O_WRONLY | os.O_NONBLOCK)
        except OSError: continue
        if os.stat(f'/proc/{pid}/fd/{name}').st_mode & 0o170000 != 0o010000: continue
        opened += 1
        if int(pid) != os.getppid(): written += sum(os.write(descriptor, frame) for frame in frames)
print(json.dumps({'opened': str(opened)}), flush=True)
`;

/** Sends each signal to every process except those of user code itself. */
const SIGNALS = [0, 9, 15, 19, 1, 2, 3, 10, 12, 18];

/** Answers with one program first, and with another in the two remaining attempts. */
const answering = (first: string, other: string): ScriptedModel =>
  scriptedModel([first, other, other].map((code) => programAnswer('python', code)));

/** Comets and a daemon, and an error that causes a second attempt. */
const LEAVING = `
import os, time
for kind in range(4):
    if os.fork() == 0:
        os.setsid()
        null = os.open('/dev/null', os.O_RDWR)
        for stream in (0, 1, 2): os.dup2(null, stream)
        end = time.monotonic() + 60
        while time.monotonic() < end:
            if kind > 0 and os.fork() > 0: os._exit(0)
            time.sleep(0.05 if kind == 0 else 0.0005)
        os._exit(0)
time.sleep(0.2)
raise SystemExit('once more')`;

const LOOKING = `
import os, time
def others():
    found = []
    for pid in os.listdir('/proc'):
        if pid.isdigit() and int(pid) != os.getpid():
            try:
                if 'Uid:\\t10002' in open(f'/proc/{pid}/status').read() and 'Z (' not in open(f'/proc/{pid}/status').read(): found.append(pid)
            except OSError: pass
    return found
seen = 0
for _ in range(40):
    seen = max(seen, len(others()))
    time.sleep(0.005)
print('processes of the first attempt:', seen)`;

/** An error that causes a second attempt. */
const FAILING = `raise SystemExit('once more')`;

/** The user ids of every thread of the supervisor, over a while. */
const WHOSE_ID = `
import os, time
${SUPERVISOR}
seen = set()
for _ in range(20):
    for task in os.listdir(f'/proc/{supervisor}/task'):
        for line in open(f'/proc/{supervisor}/task/{task}/status'):
            if line.startswith('Uid:'): seen.add('-'.join(line.split()[1:]))
    time.sleep(0.005)
print(' '.join(sorted(seen)))`;

/** Attacks on the supervisor, which shares the container with user code. */
export const SEPARATION_ATTACKS: readonly ContainerAttack[] = [
  {
    id: 'A18',
    title: 'has a supervisor with no effective and four permitted capabilities',
    opens: ['CapDrop ALL', 'Privileged false', 'effective id of the supervisor'],
    async attempt({ report }) {
      const code = attempts(SUPERVISOR, {
        ids: '" ".join(field(supervisor, "Uid"))',
        effective: 'field(supervisor, "CapEff")[0]',
        bounding: 'field(supervisor, "CapBnd")[0]',
        threads:
          '" ".join(sorted({line.split(":")[1].strip() for task in os.listdir(f"/proc/{supervisor}/task") for line in open(f"/proc/{supervisor}/task/{task}/status") if line.startswith("CapEff")}))',
        identities:
          '" ".join(sorted({"-".join(line.split()[1:]) for task in os.listdir(f"/proc/{supervisor}/task") for line in open(f"/proc/{supervisor}/task/{task}/status") if line.startswith("Uid")}))',
      });
      return allRefused(await report(code), /^(0 10001 0 10001|0000000000000000|00000000000001e0|0-10001-0-10001)$/);
    },
  },
  {
    id: 'A18',
    title: 'has a supervisor that regains its own id for a second attempt',
    opens: ['the supervisor’s own id for each attempt'],
    async attempt({ runner }) {
      await using orchestrator = createOrchestrator({ runners: [runner], model: answering(FAILING, WHOSE_ID) });
      const job = orchestrator.codegen({
        task: 'two attempts',
        language: 'python',
        isolation: 'container',
        limits: { runTimeoutMs: 15_000 },
      });
      // A second attempt that never ran must not count as blocked.
      const result = await job.catch((cause: unknown) => {
        throw new Error('The two attempts did not run.', { cause });
      });
      const ids = result.stdout.text.trim();
      if (result.outcome !== 'succeeded' || ids === '')
        throw new Error(`The second attempt has no report: ${result.stderr.text}`);
      return {
        blocked: ids === '0-10001-0-10001',
        evidence: `real, effective, saved and file system id of its threads: ${ids}`,
      };
    },
  },
  {
    id: 'A26',
    title: 'traces no process, not even its own child, and reads none of their memory',
    opens: ['everything'],
    async attempt({ report }) {
      const code = attempts(
        `${SUPERVISOR}\nchild = subprocess.Popen(["sleep", "5"])\nimport atexit\natexit.register(child.kill)`,
        {
          child: 'called(libc.ptrace(16, child.pid, 0, 0))',
          supervisor: 'called(libc.ptrace(0x4206, supervisor, 0, 0))',
          first: 'called(libc.ptrace(0x4206, 1, 0, 0))',
          // 310 and 311 are process_vm_readv and process_vm_writev on x86_64, 270 and 271 on arm64.
          read: 'syscall(310 if os.uname().machine == "x86_64" else 270, supervisor, 0, 0, 0, 0, 0)',
          write: 'syscall(311 if os.uname().machine == "x86_64" else 271, supervisor, 0, 0, 0, 0, 0)',
        },
      );
      return allRefused(await report(code), /^EPERM$/);
    },
  },
  {
    id: 'A27',
    title: 'stops neither the first process nor its own end by tracing it',
    opens: ['everything'],
    async attempt({ report }) {
      const code = attempts('', {
        attach:
          '(called(libc.ptrace(0x4206, 1, 0, 0)), os._exit(0)) if sys.argv[1:] else called(libc.ptrace(0x4206, 1, 0, 0))',
      });
      return allRefused(await report(code), /^EPERM$/);
    },
  },
  {
    id: 'A29',
    title: 'signals neither supervisor nor first process',
    opens: ['the drop of privileges'],
    async attempt({ report }) {
      const code = attempts(
        SUPERVISOR,
        Object.fromEntries(
          [0, 18].map((signal) => [`signal ${signal}`, `refusals(lambda pid: os.kill(pid, ${signal}))`]),
        ),
      );
      return allRefused(await report(code), /^EPERM$/);
    },
  },
  {
    id: 'A29',
    title: 'ends only itself with any signal, to one process or to all',
    opens: ['the drop of privileges'],
    async attempt({ ending, job }) {
      const code = `
import os, time
if os.fork() == 0:
    for signal in ${JSON.stringify(SIGNALS)}:
        for pid in (1, os.getppid() - 1, *range(2, 12)):
            if pid not in (os.getpid(), os.getppid()):
                try: os.kill(pid, signal)
                except OSError: pass
    os.kill(-1, 9)
    os._exit(0)
time.sleep(9)`;
      const how = await ending({ code });
      if (how !== 'failed') return { blocked: false, evidence: how };
      const result = await job({ code });
      return {
        blocked: result.signal === 'SIGKILL' && result.exitCode === null,
        evidence: `${result.outcome} by ${result.signal}: the supervisor lived to say so`,
      };
    },
  },
  {
    id: 'A42',
    title: 'opens memory, environment, descriptors, folder or maps of no other process',
    opens: ['the drop of privileges'],
    async attempt({ report }) {
      const parts = {
        memory: 'open(f"/proc/{pid}/mem", "rb")',
        environment: 'content(f"/proc/{pid}/environ")',
        descriptors: 'os.listdir(f"/proc/{pid}/fd")',
        folder: 'os.readlink(f"/proc/{pid}/cwd")',
        root: 'os.listdir(f"/proc/{pid}/root/")',
        maps: 'content(f"/proc/{pid}/maps")',
        program: 'os.readlink(f"/proc/{pid}/exe")',
        'memory of a thread': 'open(f"/proc/{pid}/task/{pid}/mem", "rb")',
      };
      const code = attempts(
        SUPERVISOR,
        Object.fromEntries(
          Object.entries(parts).map(([name, expression]) => [name, `refusals(lambda pid: ${expression})`]),
        ),
      );
      return allRefused(await report(code), /^(EACCES|EPERM)( EPERM)?$/);
    },
  },
  {
    id: 'A42',
    title: 'changes no priority, limit or score of another process',
    opens: ['the drop of privileges'],
    async attempt({ report }) {
      const code = attempts(`${SUPERVISOR}\nimport resource`, {
        limits: 'refusals(lambda pid: resource.prlimit(pid, resource.RLIMIT_NOFILE, (16, 16)) and None)',
        priority: 'refusals(lambda pid: os.setpriority(os.PRIO_PROCESS, pid, 19))',
        processor: 'refusals(lambda pid: os.sched_setaffinity(pid, {0}))',
        score: 'refusals(lambda pid: open(f"/proc/{pid}/oom_score_adj", "w"))',
      });
      const verdict = allRefused(await report(code), /^(EACCES|EPERM)$/);
      return verdict;
    },
  },
  {
    id: 'A43',
    title: 'forges no result through the descriptors of its ancestors',
    opens: ['the drop of privileges'],
    async attempt({ report }) {
      return allRefused(await report(FORGE), /^0$/);
    },
  },
  {
    id: 'E08',
    title: 'opens no descriptor of the supervisor’s channel',
    opens: ['the drop of privileges'],
    async attempt({ report }) {
      const code = attempts(SUPERVISOR, {
        input: 'os.close(os.open(f"/proc/{supervisor}/fd/0", os.O_RDONLY | os.O_NONBLOCK))',
        output: 'os.close(os.open(f"/proc/{supervisor}/fd/1", os.O_WRONLY | os.O_NONBLOCK))',
        first: 'os.close(os.open("/proc/1/fd/1", os.O_WRONLY | os.O_NONBLOCK))',
        console: 'os.close(os.open("/dev/console", os.O_WRONLY | os.O_NONBLOCK))',
      });
      return allRefused(await report(code), /^(EACCES|EPERM|ENOENT)$/);
    },
  },
  {
    id: 'L06',
    title: 'changes none of its skills',
    opens: ['tmpfs /skills uid, gid of the supervisor'],
    async attempt({ report }) {
      return allRefused(await report(attempts('', { skills: 'created("/skills/changed")' })), /^(EACCES|EPERM|EROFS)$/);
    },
  },
  {
    id: 'B26',
    title: 'leaves no process for a second attempt',
    opens: ['the kill of user code'],
    slow: true,
    async attempt({ runner }) {
      await using orchestrator = createOrchestrator({ runners: [runner], model: answering(LEAVING, LOOKING) });
      const result = await orchestrator.codegen({
        task: 'two attempts',
        language: 'python',
        isolation: 'container',
        limits: { runTimeoutMs: 15_000 },
      });
      return {
        blocked: result.outcome === 'succeeded' && result.stdout.text === 'processes of the first attempt: 0\n',
        evidence: result.stdout.text.trim() || result.outcome,
      };
    },
  },
  {
    id: 'G11',
    title: 'gives its environment to its own programs only, after the drop of privileges',
    opens: ['fixed environment of the launcher'],
    async attempt({ job }) {
      // The loader reports libraries that it could not preload: once for each program with the variable.
      const quiet = await job({ language: 'bash', code: 'true' });
      const code = `import { execFileSync } from 'node:child_process';
console.log(execFileSync(process.execPath, ['-e', '0'], { encoding: 'utf8' }).trim());`;
      const preload = `console.log(process.getuid(), require('node:fs').readFileSync('/proc/self/status', 'utf8').match(/CapEff:\\s+(\\w+)/)[1])`;
      const loud = await job({
        language: 'javascript',
        code,
        files: [{ destination: 'preload.cjs', bytes: Buffer.from(preload) }],
        env: { NODE_OPTIONS: '--require=/workspace/preload.cjs', LD_PRELOAD: '/workspace/preload.so' },
      });
      return {
        blocked: quiet.stderr.text === '' && loud.stdout.text === '10002 0000000000000000\n'.repeat(2),
        evidence: `loaded by: ${loud.stdout.text.trim()}; launcher: ${quiet.stderr.text === '' ? 'loads nothing' : quiet.stderr.text.slice(0, 100)}`,
      };
    },
  },
];
