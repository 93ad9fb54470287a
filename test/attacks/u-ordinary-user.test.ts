import { readdirSync } from 'node:fs';
import { expect } from 'vitest';
import type { ExecOptions } from '../../src/contracts/jobs/job.ts';
import type { JobResult } from '../../src/contracts/jobs/result.ts';
import { read } from './leftovers.ts';
import { asOrdinaryUser, ORDINARY_UID, runSeparateHost, type HostAnswer } from './separate-host.ts';
import { attack, type Level, type Scene } from './surroundings.ts';
import { until } from '../fixtures/until.ts';

/*
 * The same sandboxes started by an ordinary user of the machine: without control groups, the kernel counts processes for the
 * inner user, and memory is watched. The rest is unchanged.
 */
const BOTH: Level[] = ['namespace', 'none'];
const MIB = 1024 * 1024;

/** Living processes of the user, who has no other processes on the machine. */
function processesOfUser(): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => {
      const status = read(pid, 'status');
      return new RegExp(`^Uid:\\s+${ORDINARY_UID}\\s`, 'm').test(status) && !/^State:\s+[ZX]/m.test(status);
    });
}

async function expectNobodyLeft(answer: HostAnswer): Promise<void> {
  expect(answer.left, 'leftovers of the host of the user').toEqual([]);
  await until(() => processesOfUser().length === 0, 'the end of all processes of the user');
  expect(processesOfUser(), 'processes of the user afterwards').toEqual([]);
}

async function runAsUser(scene: Scene, jobs: Partial<ExecOptions>[], probe = false): Promise<HostAnswer> {
  const given = jobs.map((job) => ({
    language: 'python' as const,
    isolation: scene.level,
    ...job,
    limits: { runTimeoutMs: 10_000, graceMs: 300, ...job.limits },
  }));
  const answer = await runSeparateHost({ jobs: given, probe }, { launcher: asOrdinaryUser() });
  await expectNobodyLeft(answer);
  return answer;
}

async function resultsAsUser(scene: Scene, jobs: Partial<ExecOptions>[]): Promise<JobResult[]> {
  const answer = await runAsUser(scene, jobs);
  return answer.runs.map(({ result, error }) => {
    if (result === undefined) throw new Error(`the job failed: ${error?.code ?? ''} ${error?.message ?? ''}`);
    return result;
  });
}

attack(
  'U01',
  'started by an ordinary user, reports the limits that the kernel does not enforce',
  { levels: BOTH, needs: ['root'] },
  async (scene) => {
    const { runs, reports } = await runAsUser(scene, [{ code: 'import os\nprint(os.getuid())' }], true);
    const report = reports.find((row) => row.isolation === scene.level);
    expect(report).toMatchObject({ available: true, limits: { memory: 'watched', cpus: 'none' } });
    expect(report?.limits.pids).toBe(scene.level === 'namespace' ? 'kernel' : 'none');
    const result = runs[0]?.result;
    expect(result?.stdout.text).toBe(scene.level === 'namespace' ? '1000\n' : `${ORDINARY_UID}\n`);
    expect(result?.diagnostics.map((row) => row.code)).toEqual(
      expect.arrayContaining(['limit.watched', 'limit.unenforced']),
    );
    scene.evidence(result?.diagnostics.map((row) => row.message.slice(0, 60)).join('; ') ?? '');
  },
);

attack(
  'U02',
  'started by an ordinary user, has no more rights than started by root',
  { needs: ['root'] },
  async (scene) => {
    const code = `
import os, socket
print([name for _, name in socket.if_nameindex()])
print([line.split()[1] for line in open('/proc/self/status') if line.startswith(('Cap', 'NoNewPrivs', 'Seccomp:'))])
print(sorted(int(pid) for pid in os.listdir('/proc') if pid.isdigit()))
print([line.split(':')[0] for line in open('/etc/passwd')])
for path in ('/etc/shadow', '/root', '/home', '/tmp/../etc/hostname'): print(os.path.exists(path))
for path in ('/proc/sys/kernel/core_pattern', '/usr/x', '/etc/x'):
    try: open(path, 'a')
    except OSError as error: print('refused', error.errno)
    else: print('written')`;
    const [result] = await resultsAsUser(scene, [{ code }]);
    const lines = result?.stdout.text.trim().split('\n') ?? [];
    const none = "'0000000000000000'";
    expect(lines[0]).toBe("['lo']");
    expect(lines[1]).toBe(`[${[none, none, none, none, none, "'1'", "'2'"].join(', ')}]`);
    expect(lines[2]).toMatch(/^\[1, 2, \d+\]$/);
    expect(lines[3]).toBe("['root', 'sandbox', 'nobody']");
    expect(lines.slice(4, 8)).toEqual(['False', 'False', 'False', 'False']);
    expect(lines.slice(8).map((line) => line.split(' ')[0])).toEqual(['refused', 'refused', 'refused']);
    scene.evidence(`${lines[1] ?? ''}; sees processes ${lines[2] ?? ''}; ${lines.slice(8).join(', ')}`);
  },
);

attack(
  'B01',
  'started by an ordinary user, starts no more processes than it may',
  { needs: ['root'] },
  async (scene) => {
    const code = `
import os, sys, time
count = 0
try:
    for count in range(300):
        if os.fork() == 0:
            time.sleep(20)
            os._exit(0)
    print(300)
except OSError as error:
    print(count, error.errno, flush=True)
    os._exit(3)`;
    const results = await resultsAsUser(scene, [{ code }, { code, limits: { pids: 128 } }]);
    expect(results[0]?.stdout.text).toMatch(/^[56]\d 11\n$/);
    expect(results[1]?.stdout.text).toMatch(/^1[12]\d 11\n$/);
    expect(results.map((result) => result.exitCode)).toEqual([3, 3]);
    scene.evidence(results.map((result) => `EAGAIN after ${result.stdout.text.split(' ')[0] ?? ''}`).join(', '));
  },
);

attack(
  'B03',
  'started by an ordinary user, is ended when it takes more memory than it may',
  { levels: BOTH, needs: ['root'] },
  async (scene) => {
    const grow = `
import time
blocks = []
for _ in range(300):
    blocks.append(bytearray(b'x') * 1048576)
    time.sleep(0.004)
print('filled')`;
    const split = `
import os, time
for _ in range(4):
    if os.fork() == 0:
        block = bytearray(b'x') * (60 << 20)
        time.sleep(5)
        os._exit(0)
time.sleep(5)
print('filled')`;
    const results = await resultsAsUser(scene, [
      { code: grow, limits: { memoryMib: 128 } },
      { code: split, limits: { memoryMib: 128 } },
      { code: grow, limits: { memoryMib: 500 } },
    ]);
    expect(results.map((result) => result.outcome)).toEqual(['out_of_memory', 'out_of_memory', 'succeeded']);
    // The largest processes are killed, as by the kernel: a parent that only waits continues to its own end.
    expect(results.map((result) => result.stdout.text)).toEqual([
      '',
      expect.stringMatching(/^(filled\n)?$/),
      'filled\n',
    ]);
    scene.evidence('out_of_memory by the watch, in one process and in four; with a higher limit it fills');
  },
);

attack(
  'B03',
  'started by an ordinary user, is not ended for memory that its processes share',
  { levels: BOTH, needs: ['root'] },
  async (scene) => {
    const share = `
import os, time
block = bytearray(b'x') * (40 << 20)
for _ in range(20):
    if os.fork() == 0:
        time.sleep(1)
        os._exit(0)
time.sleep(0.7)
print(len(block) >> 20)`;
    // If a process prevents its inspection, every shared page counts for each process, unless the watch may inspect it anyway: at level namespace it
    // is above the user namespace of user code.
    const hidden = share.replace('import os, time', 'import ctypes, os, time\nctypes.CDLL(None).prctl(4, 0)');
    // If it has its own /dev/shm, a file there counts, and only once even if it is mapped.
    const files = `
import mmap, time
with open('/dev/shm/all', 'wb', buffering=0) as file:
    for _ in range(80): file.write(b'x' * 1048576)
with open('/dev/shm/all', 'r+b') as file: held = mmap.mmap(file.fileno(), 0)
print(sum(held[::4096]) > 0, flush=True)
time.sleep(2)`;
    const ofFiles =
      scene.level === 'none' ? [] : [160, 84].map((memoryMib) => ({ code: files, limits: { memoryMib } }));
    const results = await resultsAsUser(scene, [
      ...ofFiles,
      { code: share, limits: { memoryMib: 256 } },
      { code: hidden, limits: { memoryMib: 256 } },
    ]);
    const [shared, alone] = results.slice(-2);
    expect(results.slice(0, -2).map((result) => result.outcome)).toEqual(
      scene.level === 'none' ? [] : ['succeeded', 'out_of_memory'],
    );
    expect(shared).toMatchObject({ outcome: 'succeeded', stdout: { text: '40\n' } });
    expect(alone?.outcome).toBe(scene.level === 'none' ? 'out_of_memory' : 'succeeded');
    scene.evidence(
      `21 processes over one block of 40 MiB are within 256 MiB; hidden from the watch: ${alone?.outcome}`,
    );
  },
);

attack(
  'B07',
  'started by an ordinary user, fills no folder further than it may',
  { levels: BOTH, needs: ['root'] },
  async (scene) => {
    const bytes = `
import os, time
written = 0
try:
    with open('all', 'wb', buffering=0) as file:
        for _ in range(300):
            written += file.write(b'x' * 262144)
            time.sleep(0.004)
except OSError: pass
print(written // 1048576)`;
    const files = `
import os, sys
count = 0
try:
    for number in range(20000):
        os.close(os.open(f'{sys.argv[1]}/{number}', os.O_CREAT))
        count += 1
except OSError as error: print(error.errno)
print(count)`;
    const places = scene.level === 'namespace' ? ['/tmp', '/dev/shm', '/value'] : [];
    const [filled, ...crowded] = await resultsAsUser(scene, [
      { code: bytes, limits: { workspaceMib: 32 } },
      ...places.map((place) => ({ code: files, args: [place] })),
    ]);
    if (scene.level === 'namespace') expect(filled?.stdout.text).toMatch(/^(31|32)\n$/);
    else expect(filled).toMatchObject({ outcome: 'limit', limit: 'workspace' });
    for (const result of crowded) expect(result.stdout.text).toMatch(/^28\n\d{1,4}\n$/);
    scene.evidence(
      [filled, ...crowded]
        .map((result) => result?.stdout.text.trim().replaceAll('\n', ' ') || `${result?.outcome} ${result?.limit}`)
        .join('; '),
    );
  },
);

function daemon(environment: string): string {
  return `
import os, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        for stream in (0, 1, 2): os.dup2(os.open('/dev/null', os.O_RDWR), stream)
        os.execve('/usr/bin/python3', ['python3', '-c', 'import time; time.sleep(60)'], ${environment})
    os._exit(0)
os.wait()
time.sleep(0.2)`;
}

attack('B26', 'started by an ordinary user, leaves no daemon', { levels: BOTH, needs: ['root'] }, async (scene) => {
  // Without a control group, a daemon at level none that also clears its environment cannot be recognized.
  const codes = scene.level === 'namespace' ? [daemon('os.environ'), daemon('{}')] : [daemon('os.environ')];
  const results = await resultsAsUser(
    scene,
    codes.map((code) => ({ code })),
  );
  expect(results.map((result) => result.outcome)).toEqual(codes.map(() => 'succeeded'));
  scene.evidence(`${codes.length} daemons gone`);
});

attack(
  'B26',
  'started by an ordinary user, leaves no daemon although it kills its supervisor first',
  { levels: ['none'], needs: ['root'] },
  async (scene) => {
    const code = `import os, signal\nos.kill(os.getppid(), signal.SIGKILL)\n${daemon('os.environ')}`;
    const { runs } = await runAsUser(scene, [{ code }]);
    expect(runs[0]?.error?.code).toBe('sandbox.lost');
    scene.evidence('sandbox.lost; its processes were recognized by their mark and killed');
  },
);

attack(
  'E10',
  'started by an ordinary user, does not make its supervisor grow',
  { needs: ['root'], levels: BOTH },
  async (scene) => {
    const code = `
import os, struct, time
body = struct.pack('<BIBHI', 1, 0, 0, 1, 0) + b'x'
batch = (struct.pack('<I', len(body)) + body) * 500
end = time.monotonic() + 3
while time.monotonic() < end: os.write(201, batch)`;
    let most = 0;
    const timer = setInterval(() => {
      for (const pid of processesOfUser()) {
        most = Math.max(most, Number(/^VmRSS:\s+(\d+)/m.exec(read(pid, 'status'))?.[1] ?? 0) * 1024);
      }
    }, 50);
    const results = await resultsAsUser(scene, [{ code }]).finally(() => clearInterval(timer));
    expect(results[0]).toMatchObject({ outcome: 'limit', limit: 'calls' });
    expect(most).toBeGreaterThan(0);
    expect(most).toBeLessThan(200 * MIB);
    scene.evidence(`limit calls; no process of it had more than ${Math.round(most / MIB)} MiB`);
  },
);
