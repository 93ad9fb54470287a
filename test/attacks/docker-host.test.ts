import { createHash } from 'node:crypto';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, readFile, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'vitest';
import type { ExecOptions } from '../../src/contracts/jobs/job.ts';
import { createDockerRunner } from '../../src/sandboxes/docker/docker-runner.ts';
import { findImage, IMAGE_NAME } from '../../src/sandboxes/docker/build/image.ts';
import type { ImageFlavor } from '../../src/sandboxes/docker/image-flavor.ts';
import { changedRunner } from '../fixtures/changed-container.ts';
import { dockerImage } from '../fixtures/docker-image.ts';
import { startRaw } from '../fixtures/raw-container.ts';
import { CONTAINER_CHANGES } from './container-changes.ts';
import { PROGRAM_VARIABLES, SHELL_VARIABLES } from './program-environment.ts';
import { SPEC } from './container-life.ts';
import { openScene } from './container-scene.ts';
import { containerAttack } from './container-suite.ts';
import { processesWith, read } from './leftovers.ts';
import { attempts, plainly, reportOf } from './plainly.ts';
import { until } from '../fixtures/until.ts';

const DESCRIPTORS = `
import os
for name in sorted(os.listdir('/proc/self/fd'), key=int):
    try: print(name, os.readlink('/proc/self/fd/' + name))
    except FileNotFoundError: pass
print(os.getcwd())`;

/** Its channel to the entry, removed pipes, and the listing process. */
const OWN_DESCRIPTOR =
  /^\d+ (pipe:\[\d+\]|socket:\[\d+\]|\/skills\/\.pipes-\w+\/(std(out|err)|(to|from)-program) \(deleted\)|\/dev\/null|\/workspace\/main\.py|\/proc\/\d+\/fd)$/;

containerAttack(
  'A13',
  'inherits no descriptor above its channel to the entry, and works in its workspace',
  async ({ scene, evidence }) => {
    await writeFile(join(scene.folder, 'sentinel'), 'of the host');
    const careless = ['/bin/bash', '-c', 'exec 57<"$0"; exec "$@"', join(scene.folder, 'sentinel')];
    expect((await plainly('python', DESCRIPTORS, { launcher: careless })).stdout).toContain('sentinel');
    const lines = (await scene.job({ code: DESCRIPTORS })).stdout.text.trim().split('\n');
    expect(lines.at(-1)).toBe('/workspace');
    for (const line of lines.slice(0, -1)) expect(line).toMatch(OWN_DESCRIPTOR);
    expect(lines.length).toBeLessThanOrEqual(9);
    evidence('only pipes to the entry; working folder /workspace');
  },
);

containerAttack('A28', 'sees only the processes of its container', async ({ scene, evidence }) => {
  const code = attempts('', {
    first: 'content("/proc/1/cmdline").split("\\0")[0]',
    count: 'sum(1 for pid in os.listdir("/proc") if pid.isdigit())',
    host: 'content(f"/proc/{sys.argv[1]}/cmdline") and None',
  });
  const inside = await scene.report(code, { args: [`${process.pid}`] });
  expect(inside).toMatchObject({ first: '/sbin/docker-init', host: 'ENOENT' });
  expect(inside['count']).toBeLessThanOrEqual(6);
  // Only a program, with the id of user code and without rights: a supervisor would treat the host's processes as user code.
  const options = scene.options(SPEC);
  const weak = {
    ...options,
    User: '10002:10002',
    Entrypoint: ['/usr/bin/python3', '-c', code, `${process.pid}`],
    Cmd: [],
  };
  weak.HostConfig = { ...options.HostConfig, PidMode: 'host', CapAdd: [] };
  await using raw = await startRaw(weak);
  expect(reportOf(await raw.printed)).toMatchObject({ host: 'reached' });
  evidence('docker-init, the entry and itself; with the host’s process namespace it sees this process');
});

containerAttack('A27', 'is ended at its deadline despite attacks on the first process', async ({ scene, evidence }) => {
  const code = `
import ctypes, os, time
libc = ctypes.CDLL(None)
for request in (16, 0x4206): libc.ptrace(request, 1, 0, 0)
for signal in (19, 15, 9):
    try: os.kill(1, signal)
    except OSError: pass
time.sleep(60)`;
  const result = await scene.job({ code, limits: { runTimeoutMs: 500, graceMs: 200 } });
  expect(result).toMatchObject({ outcome: 'timeout', error: { name: 'RunTimeout' } });
  evidence('timeout by its own deadline; nothing hangs');
});

containerAttack(
  'B27',
  'is ended although it stops itself and every process that it can',
  async ({ scene, evidence }) => {
    for (const code of [
      'import os, signal\ntry: os.kill(-1, signal.SIGSTOP)\nexcept OSError: pass\nos.kill(os.getpid(), signal.SIGSTOP)',
      'import os, signal, time\npid = os.fork()\nif pid == 0: time.sleep(60)\nos.kill(pid, signal.SIGSTOP)\ntime.sleep(60)',
    ]) {
      const result = await scene.job({ code, limits: { runTimeoutMs: 400, graceMs: 200 } });
      expect(result.outcome).toBe('timeout');
    }
    expect(
      (await plainly('python', 'import os, signal\nos.kill(os.getpid(), signal.SIGSTOP)', { timeoutMs: 700 })).signal,
    ).toBe('SIGKILL');
    evidence('timeout, twice: SIGKILL needs no SIGCONT');
  },
);

containerAttack('A34', 'lets a job set no option of the engine', async ({ scene, evidence }) => {
  const attemptsOfUser = [
    'Privileged',
    'privileged',
    'Binds',
    'CapAdd',
    'NetworkMode',
    'network',
    'Devices',
    'SecurityOpt',
    'PidMode',
    'Runtime',
    'CgroupParent',
    'HostConfig',
    'image',
    'user',
    '__proto__x',
  ];
  for (const key of attemptsOfUser) {
    const options = { language: 'bash', isolation: 'container', code: 'true', [key]: true } as unknown as ExecOptions;
    await expect(scene.orchestrator.exec(options), key).rejects.toMatchObject({ code: 'job.invalid' });
    const limits = { limits: { [key]: 1 } } as unknown as Partial<ExecOptions>;
    await expect(
      scene.orchestrator.exec({ language: 'bash', isolation: 'container', code: 'true', ...limits }),
      key,
    ).rejects.toMatchObject({ code: 'job.invalid' });
  }
  expect(await scene.ending({ code: 'pass' })).toBe('succeeded');
  evidence(`${attemptsOfUser.length} options refused as unknown, as many limits`);
});

containerAttack('A35', 'runs only the image of this host’s bundle, and pulls none', async ({ evidence }) => {
  const { engine, image, bundle } = await dockerImage();
  const flavor = 'attack' as ImageFlavor;
  const signal = new AbortController().signal;
  const find = (): Promise<string> =>
    findImage(engine, flavor, bundle.digest, signal).catch((error: { code: string }) => error.code);
  expect(await find()).toBe('image.missing');
  const digest = bundle.digest.replace('sha256:', '').slice(0, 16);
  const [base] = await engine.listImages({ filters: { reference: ['skillcell-base'] } });
  const foreign = base?.Id ?? '';
  const tags = [flavor, `${flavor}-${digest}`];
  try {
    // A tag that was moved to another image.
    for (const tag of tags) await engine.getImage(foreign).tag({ repo: IMAGE_NAME, tag });
    expect(await find()).toBe('image.stale');
    for (const tag of tags) await engine.getImage(image).tag({ repo: IMAGE_NAME, tag });
    expect(await find()).toBe(image);
  } finally {
    for (const tag of tags) await engine.getImage(`${IMAGE_NAME}:${tag}`).remove();
  }
  evidence('image.missing without it, image.stale with a foreign one of its name; found by id');
});

containerAttack(
  'A39',
  'shows no data of a job in argv, environment, labels or the engine’s account',
  async ({ scene, evidence }) => {
    const canary = `canary-${process.pid}-${Math.random()}`;
    const running = scene.job({
      code: `import time\ntime.sleep(3)\n# ${canary}`,
      env: { API_KEY: canary },
      args: [canary],
      stdin: Buffer.from(canary),
    });
    await until(async () => (await scene.inspected()).length > 0, 'the container');
    const told = JSON.stringify(await scene.inspected());
    const held: number[] = [];
    let ended = false;
    const end = (): void => void (ended = true);
    void running.then(end, end);
    while (!ended) {
      held.push(...processesWith(canary));
      await pause(50);
    }
    expect(await running).toMatchObject({ outcome: 'succeeded' });
    expect(told.length).toBeGreaterThan(1_000);
    expect(told).not.toContain(canary);
    expect(held).toEqual([]);
    // A careless container has the job's data in its command line.
    const options = scene.options(SPEC);
    await using raw = await startRaw({
      ...options,
      Entrypoint: ['/bin/sleep', '60'],
      Cmd: [],
      Env: [`API_KEY=${canary}`],
    });
    expect(JSON.stringify(await raw.container.inspect())).toContain(canary);
    await until(() => processesWith(canary).length > 0, 'a process that shows it');
    evidence('argument, variable, input and code of a running job stand nowhere');
  },
);

containerAttack('A38', 'has only the allowed environment', async ({ scene, evidence }) => {
  const canary = `canary-${process.pid}`;
  process.env['AWS_SECRET_ACCESS_KEY'] = canary;
  try {
    expect((await plainly('bash', 'env')).stdout).toContain(canary);
    for (const [language, code] of [
      ['bash', 'env'],
      ['python', 'import os\nfor row in os.environ.items(): print("=".join(row))'],
      ['javascript', 'for (const row of Object.entries(process.env)) console.log(row.join("="))'],
    ] as const) {
      const result = await scene.job({ language, code });
      const names = result.stdout.text
        .trim()
        .split('\n')
        .map((row) => row.split('=')[0] ?? '');
      expect(result.stdout.text).not.toContain(canary);
      expect(names.filter((name) => !SHELL_VARIABLES.includes(name)).toSorted(), language).toEqual(PROGRAM_VARIABLES);
    }
  } finally {
    delete process.env['AWS_SECRET_ACCESS_KEY'];
  }
  evidence('nine names in three languages, and no value of the host');
});

/** Attacks seen in model-written code (after RedCode-Exec), each harmless if it is refused. */
const RISKY: readonly string[] = [
  'rm -rf "$1"/* 2>/dev/null',
  'find / -xdev -type f -user 10002 -delete 2>/dev/null',
  'echo "* * * * * root true" >>/etc/crontab',
  'echo "attacker:x:0:0::/root:/bin/sh" >>/etc/passwd',
  'cat /etc/shadow',
  'echo key >>/root/.ssh/authorized_keys',
  'kill -9 1; kill -9 -1 2>/dev/null || true',
  'chmod -R 777 /etc /usr 2>/dev/null',
  'mv /usr/bin/python3 /usr/bin/python3.gone',
  'bash -c "exec 3<>/dev/tcp/1.1.1.1/80"',
  'python3 -c "import urllib.request; urllib.request.urlopen(\'http://example.com\', timeout=2)"',
  'nohup sh -c "sleep 30" >/dev/null 2>&1 &',
  'mount -t tmpfs none /mnt',
  'dd if=/dev/zero of=/dev/vda bs=512 count=1',
  'date -s "2001-01-01"',
  'sysctl -w kernel.panic=1',
];

async function digests(folder: string): Promise<string> {
  const hash = createHash('sha256');
  for (const path of ['/etc/passwd', '/etc/shadow', '/etc/crontab', '/usr/bin/python3'])
    hash.update(await readFile(path).catch(() => Buffer.from('none')));
  for (const name of (await readdir(folder, { recursive: true })).toSorted()) hash.update(name);
  return hash.digest('hex');
}

containerAttack('A40', 'harms no file of the host with sample programs from models', async ({ scene, evidence }) => {
  const folder = join(scene.folder, 'precious');
  await mkdir(folder);
  await chmod(scene.folder, 0o777);
  await chmod(folder, 0o777);
  await writeFile(join(folder, 'file'), 'of the host');
  const before = await digests(folder);
  for (const command of RISKY) {
    const result = await scene.job({
      language: 'bash',
      code: command,
      args: [folder],
      limits: { runTimeoutMs: 6_000 },
    });
    expect(['succeeded', 'failed', 'timeout', 'limit'], command).toContain(result.outcome);
  }
  expect(await digests(folder)).toBe(before);
  // The first program deletes all files that a container can write.
  await using weak = await openScene({
    options: (options) => void (options.HostConfig.Binds = [`${folder}:${folder}`]),
  });
  await weak.job({ language: 'bash', code: RISKY[0] ?? '', args: [folder] });
  expect(await readdir(folder)).toEqual([]);
  evidence(`${RISKY.length} programs, nothing of the host changed; a bound folder is emptied by the first`);
});

containerAttack('B18', 'ends with its container when its caller gives up', async ({ scene, evidence }) => {
  const token = `given-up-${process.pid}`;
  const caller = new AbortController();
  const running = scene.job({ language: 'bash', code: `exec -a ${token} sleep 60`, signal: caller.signal });
  await until(() => processesWith(token).length > 0, 'the start of the program');
  caller.abort();
  expect((await running).outcome).toBe('canceled');
  await until(() => processesWith(token).length === 0, 'the end of the program');
  // Killing the client of `docker exec`, as a careless runner would, does not end the process.
  const options = scene.options(SPEC);
  await using raw = await startRaw({ ...options, Entrypoint: ['/bin/sleep', '60'], Cmd: [] });
  const client = spawn('docker', ['exec', raw.container.id, 'bash', '-c', `exec -a ${token}-exec sleep 60`]);
  // The client's own command line contains the name as well.
  const started = (): number[] =>
    processesWith(`${token}-exec`).filter((pid) => read(pid, 'cmdline').startsWith(`${token}-exec\0`));
  await until(() => started().length > 0, 'the process of a client');
  client.kill('SIGKILL');
  await once(client, 'exit');
  await pause(200);
  expect(started().length, 'the process of a client that was killed').toBeGreaterThan(0);
  evidence('canceled, and its process is gone; a killed exec client leaves its process running');
});

containerAttack('A36', 'is refused at a level that is not configured', async ({ scene, evidence }) => {
  await expect(scene.orchestrator.exec({ language: 'bash', isolation: 'kernel', code: 'true' })).rejects.toMatchObject({
    code: 'runner.isolation-unmet',
  });
  const { bundle } = await dockerImage();
  await using runner = createDockerRunner({ bundle, kernelRuntime: 'no-such-runtime' });
  await expect(
    runner.start({ ...SPEC, isolation: 'kernel' }, { signal: new AbortController().signal }),
  ).rejects.toMatchObject({ code: 'runner.isolation-unmet' });
  // Without the profile a container would start all the same, but weaker: the engine does not object.
  const change = CONTAINER_CHANGES['seccomp profile'] ?? {};
  await using weak = changedRunner(change);
  const sandbox = await weak.start(SPEC, { signal: new AbortController().signal });
  await sandbox.kill('the test is over');
  evidence('runner.isolation-unmet for level kernel without a runtime, and with one that the engine lacks');
});
