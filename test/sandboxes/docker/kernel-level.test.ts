import { release } from 'node:os';
import { expect, test } from 'vitest';
import type { ExecOptions } from '../../../src/contracts/jobs/job.ts';
import type { JobLimits } from '../../../src/contracts/jobs/limits.ts';
import { SkillcellError } from '../../../src/contracts/errors/skillcell-error.ts';
import { createOrchestrator } from '../../../src/jobs/create-orchestrator.ts';
import type { Orchestrator } from '../../../src/jobs/orchestrator.ts';
import { createDockerRunner } from '../../../src/sandboxes/docker/docker-runner.ts';
import { doorProgram } from '../../attacks/network-program.ts';
import { attempts, reportOf } from '../../attacks/plainly.ts';
import { describeWith } from '../../fixtures/describe-with.ts';
import { dockerImage } from '../../fixtures/docker-image.ts';
import { startUpstream } from '../../fixtures/egress/upstream.ts';
import { expectedOutput, outputProgram } from '../../fixtures/output/output-programs.ts';
import { SURROUNDINGS, SURROUNDINGS_JOB } from '../../fixtures/surroundings-program.ts';
import { atKernelEngine, KERNEL_RUNTIME, missingFor } from '../../fixtures/kernel-engine.ts';

/** The promises of level kernel with gVisor, and its known gaps. */
describeWith('level kernel, with gVisor', missingFor(KERNEL_RUNTIME), () => {
  const at = atKernelEngine({ kernelRuntime: KERNEL_RUNTIME });

  type Job = Partial<Omit<ExecOptions, 'limits'>> & { code: string; limits?: Partial<JobLimits> };
  const job = (options: Job): ReturnType<Orchestrator['exec']> =>
    at.orchestrator.exec({
      language: 'python',
      isolation: 'kernel',
      ...options,
      limits: { runTimeoutMs: 20_000, ...options.limits },
    });
  const ending = async (options: Job): Promise<string> => {
    try {
      return (await job(options)).outcome;
    } catch (error) {
      if (SkillcellError.isInstance(error)) return error.code;
      throw error;
    }
  };
  const report = async (code: string): Promise<Record<string, unknown>> => reportOf((await job({ code })).stdout.text);

  test('the probe reports it first, with the limits that it does not enforce', async () => {
    const [kernel, container] = await at.runner.probe();
    expect(kernel).toMatchObject({
      isolation: 'kernel',
      available: true,
      limits: { memory: 'kernel', workspace: 'kernel', inodes: 'none' },
    });
    expect(kernel?.reasons.join()).toMatch(/inodes are not limited, and a fork or memory bomb ends the whole sandbox/);
    expect(container).toMatchObject({ isolation: 'container', available: true, limits: { inodes: 'kernel' } });
  });

  for (const [language, code] of [
    ['javascript', 'console.log(6 * 7)'],
    ['typescript', 'const n: number = 42; console.log(n)'],
    ['python', 'print(42)'],
    ['bash', 'echo 42'],
  ] as const) {
    test(`runs ${language}`, async () => {
      expect(await job({ language, code })).toMatchObject({
        outcome: 'succeeded',
        isolation: 'kernel',
        stdout: { text: '42\n' },
      });
    });
  }

  for (const [language, ending, way, bytes] of [
    ['javascript', 'exit', 'lines', 10_000],
    ['javascript', 'throw', 'bytes', 10_000],
    ['typescript', 'rejection', 'both', 300_000],
    ['python', '_exit', 'lines', 300_000],
    ['bash', 'SIGKILL', 'write', 10_000],
    ['bash', 'end', 'child', 25_000_000],
  ] as const) {
    test(`the whole output of ${language} by ${way} arrives: ${bytes} bytes before ${ending}`, async () => {
      const code = outputProgram(language, ending, way, bytes);
      const { stdout, stderr } = await job({ language, code, limits: { keptOutputBytes: 32 * 1024 * 1024 } });
      const expected = expectedOutput(ending, way, bytes);
      expect({
        bytes: stdout.bytes,
        truncated: stdout.truncated,
        same: expected.stdout.equals(Buffer.from(stdout.text)),
      }).toEqual({ bytes: expected.stdout.length, truncated: false, same: true });
      expect(stderr.text.slice(0, expected.stderr.length)).toBe(expected.stderr.toString());
    });
  }

  test('user code runs on another kernel than the host', async () => {
    const { stdout } = await job({ language: 'bash', code: 'uname -r; dmesg | head -1' });
    expect(stdout.text).toContain('gVisor');
    expect(stdout.text.split('\n')[0]).not.toBe(release());
  });

  test('user code is an ordinary user with no capability, and cannot reach its supervisor', async () => {
    const inside = await report(
      attempts('import resource\nlibc.ptrace.restype = ctypes.c_long', {
        ids: '" ".join(map(str, [*os.getresuid(), *os.getresgid(), *os.getgroups()]))',
        capabilities:
          '" ".join(sorted({line.split()[1] for line in open("/proc/self/status") if line.startswith("Cap")}))',
        signal: 'os.kill(2, 9)',
        all: 'os.kill(1, 9)',
        root: 'os.setuid(0)',
        memory: 'open("/proc/2/mem", "rb").read(1)',
        trace: 'called(libc.ptrace(16, 2, 0, 0))',
      }),
    );
    expect(inside).toMatchObject({
      ids: '10002 10002 10002 10002 10002 10002',
      capabilities: '0000000000000000',
      signal: 'EPERM',
      all: 'EPERM',
      root: 'EPERM',
      trace: 'EPERM',
    });
    expect(inside['memory']).not.toBe('reached');
  });

  test('user code has no network, no host files and a read-only root', async () => {
    const inside = await report(
      attempts('', {
        outside: 'connected(socket.AF_INET, socket.SOCK_STREAM, ("1.1.1.1", 443))',
        metadata: 'connected(socket.AF_INET, socket.SOCK_STREAM, ("169.254.169.254", 80))',
        vsock: 'socket.socket(40, socket.SOCK_STREAM) and None',
        docker: 'connected(socket.AF_UNIX, socket.SOCK_STREAM, "/var/run/docker.sock")',
        shadow: 'content("/etc/shadow")',
        programs: 'created("/usr/bin/attack")',
        temporary: 'created("/var/tmp/attack")',
        switches: 'opened("/proc/sys/kernel/core_pattern", os.O_WRONLY)',
      }),
    );
    for (const [name, value] of Object.entries(inside)) expect(value, name).not.toBe('reached');
  });

  test('a job with a network reaches its place with its secret, and no other place', async () => {
    await using upstream = await startUpstream({
      answer: (request, response) => response.end(`sent ${request.headers.authorization}`),
    });
    const value = 'sk-test-0123456789';
    const place = `api.test:${upstream.port}`;
    const { bundle } = await dockerImage();
    await using orchestrator = createOrchestrator({
      // A runner of its own, which ends with this orchestrator.
      runners: [createDockerRunner({ host: at.engine.host, bundle, kernelRuntime: KERNEL_RUNTIME })],
      network: { ...upstream.network([place]), secrets: { TOKEN: { value, hosts: [place] } } },
    });
    const code = doorProgram({
      own: 'ask("api.test", lines=["Authorization: " + os.environ["TOKEN"]])',
      washed: `os.environ["TOKEN"] in ask("api.test", lines=["Authorization: " + os.environ["TOKEN"]])`,
      denied: 'ask("evil.test")',
      interfaces: '[name for _, name in socket.if_nameindex()]',
      outside: 'socket.create_connection(("1.1.1.1", 443), 2) and "reached"',
    });
    const { stdout, network } = await orchestrator.exec({
      ...{ language: 'python', isolation: 'kernel', code, network: [place], secrets: ['TOKEN'] },
      ...{ args: [`${upstream.port}`, `${upstream.plainPort}`], limits: { runTimeoutMs: 60_000 } },
    });
    const { outside, ...seen } = reportOf(stdout.text);
    expect(seen).toEqual({ own: '200', washed: true, denied: '403 host-not-allowed', interfaces: ['lo'] });
    expect(outside).toMatch(/No route to host|Network is unreachable/);
    expect(stdout.text).not.toContain(value);
    expect(upstream.requests.map(({ headers }) => headers.authorization)).toEqual([value, value]);
    expect(network).toMatchObject({ requests: 2, secrets: ['TOKEN'], denied: [{ host: 'evil.test', count: 1 }] });
  });

  test('the size of the workspace is enforced, but not its number of files', async () => {
    const code = `
import os
written = files = 0
try:
    with open('all', 'wb', buffering=0) as file:
        for _ in range(64): written += file.write(b'x' * 1048576)
except OSError as error: print(error.errno, end=' ')
os.unlink('all')
for number in range(1500):
    os.close(os.open(str(number), os.O_CREAT | os.O_WRONLY))
    files += 1
print(written <= 32 * 1048576, files)`;
    const result = await job({ code, limits: { workspaceMib: 32, workspaceInodes: 1_000 } });
    expect(result.stdout.text).toMatch(/^(27|28) True 1500\n$/);
  });

  test('a program finds the same environment as at the other levels, except the file limit', async () => {
    const { stdout, stderr } = await job(SURROUNDINGS_JOB);
    expect(stderr.text).toBe('');
    const temporary = [48, expect.any(Number) as number, 17];
    expect(JSON.parse(stdout.text)).toEqual({ ...SURROUNDINGS, temporary });
  });

  test('the deadline is enforced', async () => {
    expect(
      await job({ code: 'import time\ntime.sleep(60)', limits: { runTimeoutMs: 700, graceMs: 200 } }),
    ).toMatchObject({ outcome: 'timeout' });
  });

  const bombs: [string, string][] = [
    ['memory', 'held = []\nfor _ in range(900): held.append(bytearray(b"x") * 1048576)\nprint("filled")'],
    [
      'fork',
      'import os, time\nfor _ in range(600):\n    if os.fork() == 0:\n        time.sleep(15)\n        os._exit(0)\ntime.sleep(1)\nprint("forked")',
    ],
  ];
  for (const [what, code] of bombs) {
    test(`a ${what} bomb ends the sandbox, and the next job is normal`, async () => {
      const how = await ending({ code, limits: { memoryMib: 128, workspaceMib: 32 } });
      expect(['out_of_memory', 'sandbox.lost', 'failed', 'limit', 'timeout']).toContain(how);
      expect(await job({ language: 'bash', code: 'echo next' })).toMatchObject({
        outcome: 'succeeded',
        stdout: { text: 'next\n' },
      });
    });
  }
});
