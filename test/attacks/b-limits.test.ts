import { readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'vitest';
import type { JobLimits } from '../../src/contracts/jobs/limits.ts';
import type { JobResult } from '../../src/contracts/jobs/result.ts';
import type { JobEvent } from '../../src/contracts/jobs/events.ts';
import { ASKED_AT_ITS_END, ENDLESS_ENDS } from './endless-ends.ts';
import { processesWith, sandboxProcesses } from './leftovers.ts';
import { plainly } from './plainly.ts';
import { runSeparateHost } from './separate-host.ts';
import { EVERY_LEVEL, attack, type Level } from './surroundings.ts';
import { startQuietClock } from '../fixtures/quiet-clock.ts';
import { toolList } from '../fixtures/tool-list.ts';
import { until } from '../fixtures/until.ts';

const BOTH: Level[] = ['namespace', 'none'];
const MIB = 1024 * 1024;

/** Starts up to 300 waiting children, and prints their number and the error that stopped it. */
const FORKS = `
import errno, os, sys, time
count, stopped = 0, None
children = []
for _ in range(300):
    try:
        pid = os.fork()
    except OSError as error:
        stopped = errno.errorcode[error.errno]
        break
    if pid == 0:
        time.sleep(30)
        os._exit(0)
    children.append(pid)
print(len(children), stopped, flush=True)
if len(sys.argv) > 1:
    for pid in children: os.kill(pid, 9)
os._exit(3 if stopped else 0)
`;

attack(
  'B01',
  'starts no more processes than it may',
  { levels: BOTH, needs: ['cgroups'] },
  async ({ job, evidence }) => {
    expect((await plainly('python', FORKS, { args: ['end'] })).stdout).toBe('300 None\n');
    const result = await job({ code: FORKS, limits: { pids: 64 } });
    expect(result).toMatchObject({ outcome: 'limit', limit: 'pids', exitCode: 3 });
    const [count = '', stopped] = result.stdout.text.trim().split(' ');
    expect(stopped).toBe('EAGAIN');
    // The supervisor's share of 24 is in the same group.
    expect(Number(count)).toBeLessThanOrEqual(64 + 24);
    expect(Number(count)).toBeGreaterThan(40);
    evidence(`EAGAIN after ${count} of 300; plainly all 300`);
  },
);

const THREADS = `
import threading, time
count = 0
try:
    for _ in range(300):
        threading.Thread(target=time.sleep, args=(3,), daemon=True).start()
        count += 1
except RuntimeError as error:
    print(count, error, flush=True)
    raise SystemExit(3)
print(count, None, flush=True)
`;

attack('B02', 'starts no more threads than it may', { levels: BOTH, needs: ['cgroups'] }, async ({ job, evidence }) => {
  expect((await plainly('python', THREADS)).stdout).toBe('300 None\n');
  const result = await job({ code: THREADS, limits: { pids: 64 } });
  expect(result).toMatchObject({ outcome: 'limit', limit: 'pids', exitCode: 3 });
  expect(Number.parseInt(result.stdout.text, 10)).toBeLessThanOrEqual(64 + 24);
  evidence(result.stdout.text.trim());
});

/** Fills memory page by page, and reports when it has the wanted size. */
const MEMORY = `
import sys
size = int(sys.argv[1])
blocks = []
for _ in range(size):
    blocks.append(bytearray(b'x') * 1048576)
print('filled', size, flush=True)
`;

const SMALL: Partial<JobLimits> = { memoryMib: 128, workspaceMib: 32 };

/** What a failure on a machine of others has to say. */
function details({ usage, diagnostics, error, exitCode, signal }: JobResult): string {
  return JSON.stringify({ usage, diagnostics, error, exitCode, signal });
}

attack(
  'B03',
  'is ended when it takes more memory than it may',
  { levels: BOTH, needs: ['cgroups'] },
  async ({ job, evidence }) => {
    expect((await plainly('python', MEMORY, { args: ['600'] })).stdout).toBe('filled 600\n');
    expect(await job({ code: MEMORY, args: ['64'], limits: SMALL })).toMatchObject({ outcome: 'succeeded' });
    const result = await job({ code: MEMORY, args: ['600'], limits: SMALL });
    expect(result).toMatchObject({ outcome: 'out_of_memory', stdout: { text: '' } });
    // The limit, the workspace's size twice (for /tmp), and the share of skills and supervisor, without swap.
    expect(result.usage.maxRssBytes).toBeLessThanOrEqual((128 + 2 * 32 + 72 + 64) * MIB);
    evidence(
      `out_of_memory at ${Math.round((result.usage.maxRssBytes ?? 0) / MIB)} MiB of 600; signal ${result.signal}`,
    );
  },
);

attack(
  'B03',
  'is ended when it fills memory from JavaScript',
  { levels: BOTH, needs: ['cgroups'] },
  async ({ job, evidence }) => {
    const code =
      'const held = []; for (let i = 0; i < 600; i += 1) held.push(Buffer.alloc(1048576, 1)); console.log(held.length);';
    expect((await plainly('javascript', code)).stdout).toBe('600\n');
    const result = await job({ language: 'javascript', code, limits: SMALL });
    expect(result).toMatchObject({ outcome: 'out_of_memory', stdout: { text: '' } });
    evidence('out_of_memory; plainly 600 MiB were held');
  },
);

attack(
  'B03',
  'is ended when it hides memory in files without names',
  { levels: BOTH, needs: ['cgroups'] },
  async ({ job, evidence }) => {
    const code = `
import os
held = []
for _ in range(600):
    held.append(os.memfd_create('hidden'))
    os.write(held[-1], b'x' * 1048576)
print(len(held))`;
    expect((await plainly('python', code)).stdout).toBe('600\n');
    const result = await job({ code, limits: SMALL });
    expect(result).toMatchObject({ outcome: 'out_of_memory', stdout: { text: '' } });
    evidence('out_of_memory; plainly 600 MiB were held');
  },
);

attack(
  'B04',
  'is reported as out of memory if a child was killed for it, although the parent ends with 0',
  { levels: BOTH, needs: ['cgroups'] },
  async ({ job, evidence }) => {
    const code = `
import subprocess, sys
child = subprocess.run([sys.executable, '-c', ${JSON.stringify(MEMORY)}, '600'])
print('child', child.returncode, flush=True)`;
    expect((await plainly('python', code)).stdout).toContain('child 0\n');
    const result = await job({ code, limits: SMALL });
    expect(result).toMatchObject({ outcome: 'out_of_memory', exitCode: 0, stdout: { text: 'child -9\n' } });
    evidence('the parent ended with 0; the kernel’s counter says out_of_memory, the exit code is kept');
  },
);

attack(
  'B05',
  'is not reported as out of memory for an exit code of 137',
  { levels: EVERY_LEVEL },
  async ({ job, evidence }) => {
    const result = await job({ language: 'bash', code: 'exit 137' });
    expect(result).toMatchObject({ outcome: 'failed', exitCode: 137, signal: null });
    const killed = await job({ language: 'bash', code: 'kill -9 $$; sleep 5' });
    expect(killed).toMatchObject({ outcome: 'failed', exitCode: null, signal: 'SIGKILL' });
    evidence('failed with 137, and by SIGKILL');
  },
);

attack(
  'B06',
  'is ended when two children together take more than one may',
  { levels: BOTH, needs: ['cgroups'] },
  async ({ job, evidence }) => {
    const code = `
import subprocess, sys, time
program = ${JSON.stringify(MEMORY)} + "\\nimport time\\ntime.sleep(1)"
children = [subprocess.Popen([sys.executable, '-c', program, '150'], stdout=subprocess.DEVNULL) for _ in range(2)]
print(sorted(child.wait() for child in children), flush=True)`;
    expect((await plainly('python', code)).stdout).toBe('[0, 0]\n');
    const result = await job({ code, limits: SMALL });
    expect(result.outcome).toBe('out_of_memory');
    expect(result.stdout.text).toMatch(/^\[-9, (0|-9)\]\n$/);
    evidence(`ends of the children: ${result.stdout.text.trim()}`);
  },
);

attack(
  'B06',
  'is reported as out of memory even if it waits for the killed child until its deadline',
  { levels: BOTH, needs: ['cgroups'] },
  async ({ job, evidence }) => {
    const waiting = 'import time\ntime.sleep(60)';
    expect(await job({ code: waiting, limits: { ...SMALL, runTimeoutMs: 1_500 } })).toMatchObject({
      outcome: 'timeout',
    });
    const code = `
import subprocess, sys, time
child = subprocess.Popen([sys.executable, '-c', ${JSON.stringify(MEMORY)}, '600'])
print(child.wait(), flush=True)
time.sleep(60)`;
    const result = await job({ code, limits: { ...SMALL, runTimeoutMs: 20_000 } });
    expect(result, details(result)).toMatchObject({ outcome: 'out_of_memory', stdout: { text: '-9\n' } });
    expect(result.error).toBeUndefined();
    evidence('out_of_memory, and timeout without the child');
  },
);

attack(
  'B06',
  'is reported as out of memory if it stops its supervisor, which then reports nothing',
  { levels: ['none'], needs: ['cgroups'] },
  async ({ job, evidence }) => {
    const code = `
import os, signal, subprocess, sys, time
os.kill(os.getppid(), signal.SIGSTOP)
if len(sys.argv) > 1: subprocess.run([sys.executable, '-c', ${JSON.stringify(MEMORY)}, '600'])
time.sleep(60)`;
    const limits = { ...SMALL, jobTimeoutMs: 15_000, graceMs: 200 };
    expect(await job({ code, limits: { ...limits, jobTimeoutMs: 1_000 } })).toMatchObject({ outcome: 'timeout' });
    const result = await job({ code, args: ['fill'], limits });
    expect(result.outcome).toBe('out_of_memory');
    expect(result.diagnostics.map((row) => row.code)).toContain('sandbox.ended');
    evidence('out_of_memory by the counters of the group; timeout without the child');
  },
);

attack(
  'B06',
  'cannot get its supervisor killed by keeping every other process smaller',
  { levels: BOTH, needs: ['cgroups'] },
  async ({ job, evidence }) => {
    // The kernel kills the heaviest process: forty small ones that reset their score weigh less than an entry.
    const code = `
import os, time
for _ in range(40):
    if os.fork() == 0:
        try:
            with open('/proc/self/oom_score_adj', 'w') as file: file.write('0')
        except OSError: pass
        block = bytearray(b'x') * (12 * 1048576)
        time.sleep(2)
        os._exit(0)
time.sleep(2)`;
    expect((await plainly('python', code)).code).toBe(0);
    const result = await job({ code, limits: { ...SMALL, runTimeoutMs: 20_000 } });
    expect(result.outcome, details(result)).toBe('out_of_memory');
    evidence(`out_of_memory; ${result.diagnostics.map((row) => row.code).join(', ') || 'the supervisor lived'}`);
  },
);

/** Continues after its work for longer than its deadline. */
const STAYS = '__import__("time").sleep(60); raise SystemExit';

const FILL = `
import os, sys
written, stopped = 0, None
try:
    for part in range(int(sys.argv[2])):
        with open(f'{sys.argv[1]}/part-{part}', 'wb') as file:
            for _ in range(8):
                file.write(b'x' * 1048576)
                file.flush()
                written += 1
except OSError as error:
    stopped = error.errno
print(written, stopped, flush=True)
raise SystemExit(4 if stopped else 0)
`;

attack(
  'B07',
  'fills its workspace up to the limit and no further',
  { levels: BOTH },
  async ({ job, level, folder, evidence }) => {
    expect((await plainly('python', FILL, { args: [folder, '20'] })).stdout).toBe('160 None\n');
    // At level none the folder is checked four times a second, so only a check of the running program ends it before its deadline.
    const code = level === 'none' ? FILL.replace('raise SystemExit', STAYS) : FILL;
    const result = await job({ code, args: ['.', '40'], limits: { workspaceMib: 32, runTimeoutMs: 8_000 } });
    expect(result).toMatchObject({ outcome: 'limit', limit: 'workspace' });
    if (level === 'namespace') expect(result.stdout.text).toMatch(/^(31|32) 28\n$/);
    else expect(result.diagnostics.map((row) => row.code)).toContain('limit.watched');
    evidence(
      level === 'namespace'
        ? `ENOSPC after ${result.stdout.text.split(' ')[0]} MiB`
        : 'ended by the watch while it waited',
    );
  },
);

attack('B07', 'is ended as soon as a file outgrows the workspace', { levels: BOTH }, async ({ job, evidence }) => {
  const code = `
with open('large', 'wb') as file:
    for _ in range(64): file.write(b'x' * 1048576)
print('written')`;
  expect((await plainly('python', code)).stdout).toBe('written\n');
  const result = await job({ code, limits: { workspaceMib: 32 } });
  expect(['limit', 'failed']).toContain(result.outcome);
  expect(result.stdout.text).toBe('');
  evidence(`${result.outcome} ${result.limit ?? ''} ${result.error?.message ?? ''}`);
});

attack(
  'B07',
  'has the same limits of file size, descriptors and cores, however its host was started',
  { levels: BOTH },
  async ({ level, evidence }) => {
    const code = `
import resource
print([resource.getrlimit(name) for name in (resource.RLIMIT_FSIZE, resource.RLIMIT_NOFILE, resource.RLIMIT_CORE)])`;
    const limits = { workspaceMib: 32, memoryMib: 96 };
    const jobs = [{ code, language: 'python' as const, isolation: level, limits }];
    // The largest file is one that fills the shared memory, if the sandbox has its own.
    const largest = (level === 'none' ? 32 : 96) * MIB;
    const expected = `[(${largest}, ${largest}), (1024, 1024), (0, 0)]\n`;
    // Other programs start the sandbox if descriptors must be closed first.
    const careless = ['/bin/bash', '-c', 'exec 5</dev/null 200</dev/null; ulimit -c unlimited; exec "$@"', 'bash'];
    for (const launcher of [[], careless]) {
      const { runs } = await runSeparateHost({ jobs }, { launcher });
      expect(runs[0]?.result?.stdout.text).toBe(expected);
    }
    evidence(expected.trim());
  },
);

attack(
  'B08',
  'fills every other writable folder up to its own limit',
  { needs: ['cgroups'] },
  async ({ job, folder, evidence }) => {
    const found: string[] = [];
    expect((await plainly('python', FILL, { args: [folder, '8'] })).stdout).toBe('64 None\n');
    for (const [path, most] of [
      ['/tmp', 32],
      ['/value', 1],
    ] as const) {
      const result = await job({ code: FILL, args: [path, '20'], limits: { workspaceMib: 32 } });
      const [written = '', stopped] = result.stdout.text.trim().split(' ');
      expect(stopped, path).toBe('28');
      // The last part may be a write of a whole MiB that did not fit.
      expect([most - 1, most], path).toContain(Number(written));
      found.push(`${path} ${written} MiB`);
    }
    const writable = await job({
      language: 'bash',
      code: `for path in $(cut -d' ' -f2 /proc/mounts) /run /var/tmp /home /root /dev/mqueue; do (: >"$path/probe") 2>/dev/null && echo "$path"; done | sort`,
    });
    expect(writable.stdout.text.trim().split('\n')).toEqual(['/dev/shm', '/tmp', '/value', '/workspace']);
    evidence(`${found.join(', ')}; no other folder can be written`);
  },
);

attack(
  'B08',
  'takes no more memory by files in /dev/shm, which count as its memory',
  { needs: ['cgroups'] },
  async ({ job, evidence }) => {
    const code = `
import sys, time
own = bytearray(b'x') * (int(sys.argv[1]) * 1048576)
with open('/dev/shm/all', 'wb', buffering=0) as file:
    for _ in range(int(sys.argv[2])): file.write(b'x' * 1048576)
time.sleep(float(sys.argv[3]))
print('held', flush=True)`;
    expect(await job({ code, args: ['60', '60', '0'], limits: { memoryMib: 256 } })).toMatchObject({
      outcome: 'succeeded',
      stdout: { text: 'held\n' },
    });
    const limits = { memoryMib: 96, workspaceMib: 32 };
    expect(await job({ code, args: ['60', '60', '3'], limits })).toMatchObject({ outcome: 'out_of_memory' });
    expect(await job({ code, args: ['0', '120', '0'], limits })).toMatchObject({
      outcome: expect.stringMatching(/^(failed|out_of_memory)$/) as string,
      stdout: { text: '' },
    });
    evidence('out_of_memory at 60 and 60 of 96 MiB');
  },
);

attack(
  'B09',
  'fills no more with many files below the limit of a single file',
  {},
  async ({ job, folder, evidence }) => {
    const code = `
import os, sys
written, stopped = 0, None
try:
    for part in range(400):
        with open(f'{sys.argv[1]}/{part}', 'wb') as file: written += file.write(b'x' * 262144)
except OSError as error: stopped = error.errno
print(written // 1048576, stopped)`;
    expect((await plainly('python', code, { args: [folder] })).stdout).toBe('100 None\n');
    const result = await job({ code, args: ['.'], limits: { workspaceMib: 32 } });
    expect(result.stdout.text).toMatch(/^(31|32) 28\n$/);
    evidence(`ENOSPC after ${result.stdout.text.split(' ')[0]} MiB in files of 256 KiB`);
  },
);

const INODES = `
import os, sys
count, stopped = 0, None
try:
    while count < 20000:
        os.close(os.open(f'{sys.argv[1]}/{count}', os.O_CREAT | os.O_WRONLY))
        count += 1
except OSError as error: stopped = error.errno
print(count, stopped)
raise SystemExit(4 if stopped else 0)
`;

attack(
  'B10',
  'makes no more files than it may in its workspace',
  { levels: BOTH },
  async ({ job, level, folder, evidence }) => {
    expect((await plainly('python', INODES, { args: [folder] })).stdout).toBe('20000 None\n');
    const code = level === 'none' ? INODES.replace('raise SystemExit', STAYS) : INODES;
    const result = await job({ code, args: ['.'], limits: { workspaceInodes: 1_000, runTimeoutMs: 8_000 } });
    expect(result).toMatchObject({ outcome: 'limit', limit: 'inodes' });
    if (level === 'namespace') expect(Number.parseInt(result.stdout.text, 10)).toBeLessThan(1_000);
    evidence(
      level === 'namespace'
        ? `ENOSPC after ${result.stdout.text.split(' ')[0]} files`
        : 'ended by the watch while it waited',
    );
  },
);

attack(
  'B10',
  'makes no more files than it may in the other writable folders',
  {},
  async ({ job, folder, evidence }) => {
    expect((await plainly('python', INODES, { args: [folder] })).stdout).toBe('20000 None\n');
    const found: string[] = [];
    for (const path of ['/tmp', '/dev/shm', '/value']) {
      const result = await job({ code: INODES, args: [path] });
      expect(result.stdout.text, path).toMatch(/^\d+ 28\n$/);
      found.push(`${path} ${result.stdout.text.split(' ')[0]}`);
    }
    evidence(`ENOSPC in ${found.join(', ')} files`);
  },
);

attack('B12', 'opens no more files than it may', { levels: BOTH }, async ({ job, evidence }) => {
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
  const open = (await plainly('python', code)).stdout;
  expect(open).toBe('3000 None\n');
  const result = await job({ code });
  expect(result.stdout.text).toMatch(/ 24\n$/);
  expect(Number.parseInt(result.stdout.text, 10)).toBeLessThanOrEqual(1_024);
  evidence(`EMFILE after ${result.stdout.text.split(' ')[0]}`);
});

attack(
  'B13',
  'gets no more processor time than it may',
  { levels: BOTH, needs: ['cgroups'] },
  async ({ job, evidence }) => {
    const code = `
import os, time
end = time.monotonic() + 1.5
for _ in range(3): os.fork()
while time.monotonic() < end: pass
with open('/proc/self/schedstat') as file: ran, waited, _ = map(int, file.read().split())
os.write(1, b'%d\\n' % (ran + waited))
time.sleep(0.3)`;
    const result = await job({ code, limits: { cpus: 0.1 } });
    expect(['succeeded', 'timeout']).toContain(result.outcome);
    const idle = await job({ code: 'pass', limits: { cpus: 0.1 } });
    const ownMs = (result.usage.cpuMs ?? Number.POSITIVE_INFINITY) - (idle.usage.cpuMs ?? 0);
    const share = ownMs / (result.usage.wallMs ?? 1);
    const plain = (await plainly('python', code)).stdout
      .trim()
      .split('\n')
      .reduce((sum, text) => sum + Number(text) / 1e9, 0);
    // Eight processes run, or wait for a processor: their demand does not depend on the machine.
    expect(plain / 1.5).toBeGreaterThan(0.9);
    // Short runs are counted in whole periods.
    expect(share).toBeLessThan(0.3);
    evidence(
      `${share.toFixed(2)} of a processor with a limit of 0.1; plainly ${(plain / 1.5).toFixed(2)} are asked for`,
    );
  },
);

const ENDLESS: Record<string, ['bash' | 'python' | 'javascript', string]> = {
  'loops for ever': ['javascript', 'for (;;);'],
  'sleeps for ever': ['python', 'import time\nwhile True: time.sleep(1)'],
  'waits for input for ever': ['python', 'import select\nselect.select([], [], [])'],
  'stops itself': ['bash', 'kill -STOP $$; echo never'],
};
for (const [what, [language, code]] of Object.entries(ENDLESS)) {
  attack('B14', `is ended when it ${what}`, { levels: EVERY_LEVEL }, async ({ job, evidence }) => {
    // A stopped shell cannot even end when asked to.
    expect((await plainly(language, code, { timeoutMs: 800 })).signal).toBe('SIGKILL');
    const elapsedMs = startQuietClock();
    const result = await job({ language, code, limits: { runTimeoutMs: 500, graceMs: 300 } });
    expect(result).toMatchObject({ outcome: 'timeout', error: { name: 'RunTimeout' } });
    expect(elapsedMs()).toBeLessThan(6_000);
    evidence(`timeout after ${Math.round(result.usage.wallMs ?? 0)} ms with a limit of 500`);
  });
}

attack(
  'B15',
  'is ended although it ignores every signal that it can',
  { levels: EVERY_LEVEL },
  async ({ job, evidence }) => {
    const code = `
import signal, time
for number in range(1, 65):
    try: signal.signal(number, signal.SIG_IGN)
    except (OSError, ValueError): pass
print('ignoring', flush=True)
while True: time.sleep(1)`;
    const asking =
      'said=$(mktemp); "$@" >$said & pid=$!; until [ -s $said ]; do sleep 0.05; done; kill -TERM $pid; sleep 0.3; cat $said; rm $said; kill -0 $pid && echo alive; kill -9 $pid';
    expect((await plainly('python', code, { launcher: ['/bin/bash', '-c', asking, 'bash'] })).stdout).toBe(
      'ignoring\nalive\n',
    );
    const elapsedMs = startQuietClock();
    const result = await job({ code, limits: { runTimeoutMs: 2_000, graceMs: 400 } });
    expect(result).toMatchObject({ outcome: 'timeout', stdout: { text: 'ignoring\n' } });
    expect(result.usage.wallMs).toBeGreaterThan(2_300);
    expect(elapsedMs()).toBeLessThan(6_000);
    evidence(`ended after ${Math.round(result.usage.wallMs ?? 0)} ms: 2,000 of its own, 400 of grace`);
  },
);

attack('B29', 'is ended although its ordinary end never comes', { levels: EVERY_LEVEL }, async ({ job, evidence }) => {
  const limits = { runTimeoutMs: 3_000, graceMs: 400 };
  await Promise.all(
    Object.entries(ENDLESS_ENDS).map(async ([name, { language, code, stubborn }]) => {
      expect((await plainly(language, code, { timeoutMs: 800 })).signal, name).toBe('SIGKILL');
      const plain = await plainly(language, code, { args: ['short'] });
      expect(plain.stdout, name).toBe('ending\nended\n');
      expect(await job({ language, code, args: ['short'] }), name).toMatchObject({
        exitCode: plain.code,
        stdout: { text: plain.stdout },
      });
      const result = await job({ language, code, limits });
      expect(result, name).toMatchObject({
        outcome: 'timeout',
        error: { name: 'RunTimeout' },
        stdout: { text: 'ending\n' },
      });
      expect(result.usage.wallMs, name).toBeGreaterThan(stubborn === true ? 3_300 : 2_900);
    }),
  );
  const asked = await job({ code: ASKED_AT_ITS_END, limits });
  expect(asked).toMatchObject({ outcome: 'timeout', stdout: { text: 'ending\nasked\n' } });
  expect(asked.usage.wallMs).toBeGreaterThan(3_300);
  evidence(`timeout, with a grace, in ${Object.keys(ENDLESS_ENDS).join(', ')}`);
});

attack('B16', 'sets no invalid limit', { levels: EVERY_LEVEL }, async ({ job, evidence }) => {
  const values = [0, -1, Number.NaN, Number.POSITIVE_INFINITY, Number('1e999'), 1.5, '60', null, {}, 2 ** 60];
  let refused = 0;
  for (const name of ['runTimeoutMs', 'jobTimeoutMs', 'memoryMib', 'pids', 'workspaceMib', 'calls'] as const) {
    for (const value of values) {
      await expect(
        job({ code: 'print(1)', limits: { [name]: value } }),
        `${name} ${String(value)}`,
      ).rejects.toMatchObject({ code: 'job.invalid' });
      refused += 1;
    }
  }
  await expect(job({ code: 'print(1)', limits: { pids: 39 } })).rejects.toMatchObject({ code: 'job.invalid' });
  await expect(job({ code: 'print(1)', limits: { timeout: 5 } as Partial<JobLimits> })).rejects.toMatchObject({
    code: 'job.invalid',
  });
  evidence(`${refused + 2} limits refused`);
});

attack('B17', 'leaves no core file', { levels: BOTH }, async ({ job, evidence }) => {
  const abort = 'ulimit -c unlimited 2>/dev/null; python3 -c "import os; os.abort()"; echo "code $?"';
  const code = `${abort}; ulimit -Hc; ls`;
  const open = await plainly('bash', code);
  expect(open.stdout).toMatch(/code 134\nunlimited\n/);
  // A machine may collect cores elsewhere: in a folder, or with a program.
  const pattern = readFileSync('/proc/sys/kernel/core_pattern', 'utf8');
  const isHere = !/^[|/]/.test(pattern);
  if (isHere) expect(open.stdout).toMatch(/^core/m);
  const result = await job({ language: 'bash', code });
  expect(result.stdout.text).toBe(`code 134\n0\nmain.sh\nout\n`);
  evidence(
    `aborted with 134; plainly ${isHere ? 'a file core' : 'with no limit of a core'}, inside none and a limit of 0`,
  );
});

attack(
  'B19',
  'runs 64 jobs at once and not one more',
  { timeoutMs: 300_000, mayGrowMib: 256 },
  async ({ ownOrchestrator, level, evidence }) => {
    const places = 64;
    let arrived = 0;
    let open: () => void = () => undefined;
    const gate = new Promise<void>((resolve) => (open = resolve));
    const tools = toolList([
      [
        'arrive',
        {
          description: 'Waits until all are there.',
          // The first ones wait for the starts of all others.
          timeoutMs: 300_000,
          execute: async () => ((arrived += 1), await gate, arrived),
        },
      ],
    ]);
    const own = ownOrchestrator({ concurrency: places, tools });
    const code = "import { callTool } from 'skillcell'; await callTool('arrive');";
    const start = (): Promise<JobResult> =>
      own.exec({ isolation: level, tools: ['arrive'], code, limits: { runTimeoutMs: 300_000 } });
    const jobs: Promise<JobResult>[] = [];
    // A few at a time: the speed of many starts is not tested.
    while (jobs.length < places) {
      for (let wave = 0; wave < 8; wave += 1) jobs.push(start());
      await Promise.race([...jobs, until(() => arrived === jobs.length, 'the arrival of a wave', 60_000)]);
    }
    jobs.push(start());
    const held = sandboxProcesses().length;
    // The last job waits for a place, however long the others keep theirs.
    await pause(500);
    expect(arrived).toBe(places);
    open();
    const results = await Promise.all(jobs);
    expect(results.map((result) => result.outcome)).toEqual(Array.from({ length: places + 1 }, () => 'succeeded'));
    expect(arrived).toBe(places + 1);
    evidence(`${places} sandboxes side by side (${held} processes), the 65th only after the first`);
  },
);

attack(
  'B19',
  'gives every place back once, however its job ends',
  { timeoutMs: 60_000 },
  async ({ ownOrchestrator, level, evidence }) => {
    const places = 4;
    const own = ownOrchestrator({ concurrency: places });
    let running = 0;
    let most = 0;
    const watch = async (events: AsyncIterable<JobEvent>): Promise<void> => {
      let started = false;
      for await (const event of events) {
        if (event.type === 'started') {
          started = true;
          most = Math.max(most, (running += 1));
        } else if (started && (event.type === 'finished' || event.type === 'faulted')) running -= 1;
      }
    };
    const codes = ['exit 0', 'exit 1', 'sleep 9', 'kill -9 $PPID', 'sleep 0.1', 'exit 3', 'sleep 9'];
    const jobs = Array.from({ length: 35 }, (_, index) => {
      const limits = { runTimeoutMs: 300, graceMs: 100 };
      const stream = own.stream({
        kind: 'exec',
        jobId: `job-${index}`,
        language: 'bash',
        isolation: level,
        code: codes[index % codes.length] ?? '',
        limits,
      });
      const settled = stream.result.then(
        (result): string => result.outcome,
        (error: { code: string }) => error.code,
      );
      return { watched: watch(stream), settled };
    });
    own.cancel('job-34');
    await pause(300);
    for (const index of [2, 6, 20]) own.cancel(`job-${index}`);
    const ends = await Promise.all(jobs.map((one) => one.settled));
    await Promise.all(jobs.map((one) => one.watched));
    const counts = new Map<string, number>();
    for (const end of ends) counts.set(end, (counts.get(end) ?? 0) + 1);
    expect([...counts.keys()]).toEqual(expect.arrayContaining(['failed', 'succeeded', 'timeout', 'canceled']));
    expect(ends[34]).toBe('canceled');
    expect(running).toBe(0);
    expect(most).toBeLessThanOrEqual(places);
    expect(most).toBeGreaterThan(1);
    const again = await Promise.all(
      Array.from({ length: places * 2 }, () => own.exec({ language: 'bash', isolation: level, code: 'exit 0' })),
    );
    expect(again.every((result) => result.outcome === 'succeeded')).toBe(true);
    evidence(`35 jobs, at most ${most} at once; ${[...counts].map(([end, count]) => `${count} ${end}`).join(', ')}`);
  },
);

/** Moves on by fork and exit, in its own sessions, so that every list of processes is soon outdated. */
const COMET = (token: string, clean: boolean): string =>
  `
import os, sys, time
if os.fork() == 0:
    os.setsid()
    ${clean ? `os.execve('/usr/bin/python3', ['python3', '-c', LOOP, '${token}'], {})` : `os.execve('/usr/bin/python3', ['python3', '-c', LOOP, '${token}'], os.environ)`}
time.sleep(float(sys.argv[1]) if len(sys.argv) > 1 else 0.3)
print('left', flush=True)
`.replace(
    'import os, sys, time',
    `LOOP = '''
import os, time
null = os.open("/dev/null", os.O_RDWR)
for stream in (0, 1, 2): os.dup2(null, stream)
end = time.monotonic() + 60
while time.monotonic() < end:
    if os.fork() > 0: os._exit(0)
    os.setsid()
    time.sleep(0.02)
'''
import os, sys, time`,
  );

/** Looks for a comet many times, since one list of processes may miss it; kills it if told to. */
async function isSeen(token: string, end = false): Promise<boolean> {
  let seen = false;
  for (let look = 0; look < 15 && (end || !seen); look += 1) {
    for (const pid of processesWith(token)) {
      seen = true;
      try {
        if (end) process.kill(pid, 'SIGKILL');
      } catch {
        // It has moved on; the next look may find it.
      }
    }
    await pause(7);
  }
  return seen;
}

for (const [how, clean] of [
  ['keeps its environment', false],
  ['clears its environment', true],
] as const) {
  attack('B26', `ends a comet that ${how}`, { levels: BOTH, needs: ['cgroups'] }, async ({ job, evidence }) => {
    const plainToken = `comet-plain-${process.pid}-${Math.random()}`;
    await plainly('python', COMET(plainToken, clean));
    await until(() => isSeen(plainToken), 'the comet that runs plainly');
    while (await isSeen(plainToken, true));
    const token = `comet-${process.pid}-${Math.random()}`;
    const result = await job({ code: COMET(token, clean) });
    expect(result).toMatchObject({ outcome: 'succeeded', stdout: { text: 'left\n' } });
    // The sandbox is removed in parallel with the result; the comet is gone with it.
    await until(async () => !(await isSeen(token)), 'the end of the comet');
    const late = await job({ code: COMET(token, clean), args: ['30'], limits: { runTimeoutMs: 400, graceMs: 200 } });
    expect(late.outcome).toBe('timeout');
    await until(async () => !(await isSeen(token)), 'the end of the comet');
    evidence('gone after the end and after the deadline; plainly it went on');
  });
}

attack(
  'B27',
  'is ended although it stops itself, its children and every process that it can',
  { levels: ['namespace'] },
  async ({ job, evidence }) => {
    const codes = {
      'stops all':
        'import os, signal, time\nif os.fork() == 0: time.sleep(60)\nos.kill(-1, signal.SIGSTOP)\nos.kill(os.getpid(), signal.SIGSTOP)',
      'stops the process that holds its output':
        'import os, signal, time\npid = os.fork()\nif pid == 0: time.sleep(60)\nos.kill(pid, signal.SIGSTOP)\ntime.sleep(60)',
      'stops its reaper': 'import os, signal, time\nos.kill(1, signal.SIGSTOP)\nos.kill(os.getpid(), signal.SIGSTOP)',
    };
    const took: number[] = [];
    for (const [what, code] of Object.entries(codes)) {
      const elapsedMs = startQuietClock();
      const result = await job({ code, limits: { runTimeoutMs: 400, graceMs: 200 } });
      expect(result.outcome, what).toBe('timeout');
      expect(elapsedMs(), what).toBeLessThan(5_000);
      took.push(Math.round(result.usage.wallMs ?? 0));
    }
    expect(
      (await plainly('python', 'import os, signal\nos.kill(os.getpid(), signal.SIGSTOP)', { timeoutMs: 900 })).signal,
    ).toBe('SIGKILL');
    evidence(`timeout after ${took.join(', ')} ms with a limit of 400 and a grace of 200`);
  },
);

attack(
  'B28',
  'fills every folder at once without harm to the job beside it',
  { needs: ['cgroups'] },
  async ({ job, evidence }) => {
    const code = `
import os
total = 0
for folder in ('/workspace', '/tmp', '/value'):
    try:
        with open(folder + '/all', 'wb', buffering=0) as file:
            while True: total += file.write(b'x' * 262144)
    except OSError as error: print(folder, error.errno, flush=True)
print(total // 1048576)`;
    const beside = job({ language: 'bash', code: 'sleep 1; head -c 1000000 /dev/zero >own && echo fine' });
    const result = await job({ code, limits: { memoryMib: 128, workspaceMib: 64 } });
    expect(result.stdout.text).toMatch(/^\/workspace 28\n\/tmp 28\n\/value 28\n\d+\n$/);
    expect(result.outcome).toBe('succeeded');
    expect(await beside).toMatchObject({ outcome: 'succeeded', stdout: { text: 'fine\n' } });
    evidence(`${result.stdout.text.trim().split('\n').at(-1)} MiB in all, within the memory limit`);
  },
);
