import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type Docker from 'dockerode';
import { afterAll, expect } from 'vitest';
import { buildImage } from '../../../src/sandboxes/docker/build/build-image.ts';
import { containerOptions } from '../../../src/sandboxes/docker/container-options.ts';
import { createDockerRunner } from '../../../src/sandboxes/docker/docker-runner.ts';
import { BUNDLE_LABEL, findImage, IMAGE_NAME } from '../../../src/sandboxes/docker/build/image.ts';
import { DEFAULT_LIMITS } from '../../../src/contracts/jobs/limits.ts';
import { createOwnEngine, ownEngineTest, type OwnEngine } from '../../fixtures/own-engine.ts';
import { dockerImage, dockerTest } from '../../fixtures/docker-image.ts';
import { runCli } from '../../fixtures/spawn-cli.ts';
import { startQuietClock } from '../../fixtures/quiet-clock.ts';

/** The output of a shell in a container of an image. The container has no network, and is removed at its end. */
async function inside(engine: Docker, image: string, script: string): Promise<string> {
  const container = await engine.createContainer({
    Image: image,
    Entrypoint: ['/bin/bash'],
    Cmd: ['-c', script],
    Tty: true,
    HostConfig: { NetworkMode: 'none' },
  });
  try {
    const output = await container.attach({ stream: true, stdout: true, stderr: true });
    const [printed] = await Promise.all([text(output), container.start()]);
    const { StatusCode } = (await container.wait()) as { StatusCode: number };
    expect(StatusCode, printed).toBe(0);
    return printed.replaceAll('\r', '').trim();
  } finally {
    await container.remove({ force: true });
  }
}

const RAISING = 'find / -xdev -perm /6000 -type f | sort';

dockerTest('the image has no setuid or setgid files, although its base has', {}, async () => {
  const { engine, image } = await dockerImage();
  expect(await inside(engine, image, RAISING)).toBe('');
  const base = await baseOf(engine);
  expect(await inside(engine, base, RAISING)).toContain('/usr/bin/passwd');
});

/** The base image, whose layers are the lowest layers of the image. */
async function baseOf(engine: Docker): Promise<string> {
  const { image } = await dockerImage();
  const layersOf = async (name: string): Promise<string[]> =>
    (await engine.getImage(name).inspect()).RootFS.Layers ?? [];
  const layers = await layersOf(image);
  for (const { RepoTags } of await engine.listImages()) {
    const name = (RepoTags ?? []).find((tag) => tag.startsWith('skillcell-base:') || tag === 'node:24-bookworm-slim');
    if (name !== undefined && layers.join().startsWith((await layersOf(name)).join())) return name;
  }
  throw new Error('the base of the image is missing');
}

dockerTest('the image has no files of the package manager and no logs', {}, async () => {
  const { engine, image } = await dockerImage();
  const found = await inside(engine, image, 'find /var/lib/apt/lists /var/cache/apt /var/log -xdev -type f');
  expect(found).toBe('');
});

dockerTest('the image has accounts without a password for the supervisor and for user code', {}, async () => {
  const { engine, image } = await dockerImage();
  expect(
    await inside(
      engine,
      image,
      'id supervisor; id sandbox; stat -c "%u %a %n" / /opt/skillcell /opt/skillcell/entry.cjs /workspace',
    ),
  ).toBe(
    [
      'uid=10001(supervisor) gid=10001(supervisor) groups=10001(supervisor)',
      'uid=10002(sandbox) gid=10002(sandbox) groups=10002(sandbox)',
      '0 755 /',
      '0 755 /opt/skillcell',
      '0 644 /opt/skillcell/entry.cjs',
      '0 755 /workspace',
    ].join('\n'),
  );
  const hashes = await inside(engine, image, 'cut -d: -f1,2 /etc/shadow');
  expect(hashes).toContain('sandbox:!');
  expect(hashes.split('\n').filter((row) => !/:[!*]+$/.test(row))).toEqual([]);
});

dockerTest('the image has labels for its bundle and its flavor', {}, async () => {
  const { engine, image, bundle } = await dockerImage();
  const { Config } = await engine.getImage(image).inspect();
  expect(Config.Labels).toEqual({ 'skillcell.bundle': bundle.digest, 'skillcell.flavor': 'slim' });
});

/** Checks that V8 accepts the code cache, in the same way as the program that starts the entry. */
const ACCEPTED = `
const { readFileSync } = require('node:fs');
const { wrap } = require('node:module');
const { Script } = require('node:vm');
const path = '/opt/skillcell/entry.cjs';
const ask = (change) => {
  const cachedData = readFileSync('/opt/skillcell/code-cache/entry.cjs.code');
  const { cachedDataRejected } = new Script(wrap(readFileSync(path, 'utf8') + change), { filename: path, cachedData });
  return cachedDataRejected;
};
console.log(JSON.stringify({ same: ask(''), changed: ask('// another source') }));`;

dockerTest('the image has a code cache of the entry that the Node of its containers accepts', {}, async () => {
  const { engine, image } = await dockerImage();
  const { memoryMib, cpus, pids, workspaceMib, workspaceInodes } = DEFAULT_LIMITS;
  const limits = { memoryMib, cpus, pids, workspaceMib, workspaceInodes };
  const parts = { name: 'name', owner: 'owner', image, runtime: undefined, appArmor: false };
  const made = containerOptions({ isolation: 'container', language: 'javascript', limits }, parts);
  expect(made.Cmd).toContain('--code-cache=/opt/skillcell/code-cache');
  const [node = '', ...flags] = (made.Entrypoint as string[]).slice(0, -1);
  const question = [node, ...flags, '-e', `'${ACCEPTED.replaceAll("'", `'\\''`)}'`].join(' ');
  // V8 also compares its flags. The changed source proves that V8 compares at all.
  expect(JSON.parse(await inside(engine, image, question))).toEqual({ same: false, changed: true });
});

dockerTest('the image has an empty /tmp, although its entry was compiled there', {}, async () => {
  const { engine, image } = await dockerImage();
  expect(await inside(engine, image, 'test -d /tmp && ls -A /tmp')).toBe('');
});

dockerTest('an image with another bundle is refused, with the build command as advice', {}, async () => {
  const { engine, bundle } = await dockerImage();
  const digest = bundle.digest.replace(/^(.{8})....../, '$1000000');
  // The newest image may belong to another checkout.
  const { Config } = await engine.getImage(`${IMAGE_NAME}:slim`).inspect();
  const newest = Config.Labels?.[BUNDLE_LABEL] ?? '';
  expect(newest).toMatch(/^sha256:[0-9a-f]{64}$/);
  await expect(findImage(engine, 'slim', digest)).rejects.toMatchObject({
    code: 'image.stale',
    message: `Cannot start a container: ${IMAGE_NAME}:slim holds another runtime bundle, got ${newest}.`,
    hint: expect.stringContaining('`skillcell image build`') as string,
  });
  await using runner = createDockerRunner({ bundle: { ...bundle, digest } });
  const { memoryMib, cpus, pids, workspaceMib, workspaceInodes } = DEFAULT_LIMITS;
  const limits = { memoryMib, cpus, pids, workspaceMib, workspaceInodes };
  const start = runner.start(
    { isolation: 'container', language: 'javascript', limits },
    { signal: AbortSignal.timeout(9_000) },
  );
  await expect(start).rejects.toMatchObject({ code: 'image.stale' });
});

dockerTest('a second build reuses every layer of the first, and reports its steps', { timeout: 300_000 }, async () => {
  const { engine, bundle } = await dockerImage();
  // The existing image may come from the packed package, which has the same bundle but other file permissions.
  const image = await buildImage(engine, { flavor: 'slim', bundle, onProgress: () => undefined });
  const lines: string[] = [];
  expect(await buildImage(engine, { flavor: 'slim', bundle, onProgress: (line) => lines.push(line) })).toBe(image);
  expect(lines.filter((line) => line.includes('Running in'))).toEqual([]);
  const steps = lines.filter((line) => /^Step \d+\//.test(line));
  expect(steps.length).toBeGreaterThan(8);
  expect(lines.filter((line) => line.includes('Using cache')).length).toBe(steps.length - 2);
  expect(lines.filter((line) => /[\p{Cc}]/u.test(line))).toEqual([]);
  expect(lines.filter((line) => /^base: \S+, (already here|from the registry)$/.test(line))).toHaveLength(1);
});

let own: OwnEngine | undefined;
afterAll(async () => await own?.[Symbol.asyncDispose]());

/** A test with an empty engine. */
function emptyEngineTest(name: string, body: (host: string) => Promise<void>): void {
  ownEngineTest(name, 120_000, async () => {
    own ??= await createOwnEngine();
    await body(own.host);
  });
}

emptyEngineTest('without an image, a job fails fast with exit code 3 and the build command as advice', async (host) => {
  const elapsedMs = startQuietClock();
  for (const [flavor, command] of [
    ['slim', '`skillcell image build`'],
    ['data', '`skillcell image build --flavor data`'],
  ] as const) {
    const { code, stdout } = await runCli(['exec', '-', '--runner', 'docker', '--json'], {
      stdin: '1',
      env: { DOCKER_HOST: host, SKILLCELL_IMAGE_FLAVOR: flavor },
    });
    expect(code).toBe(3);
    const { error } = JSON.parse(stdout) as { error: { code: string; hint: string } };
    expect(error).toMatchObject({ code: 'image.missing', hint: expect.stringContaining(command) as string });
  }
  expect(elapsedMs()).toBeLessThan(10_000);
});

emptyEngineTest(
  'without a registry and without mmdebstrap, a build fails with exit code 3 and a reason, and leaves no image',
  async (host) => {
    const folder = mkdtempSync(join(tmpdir(), 'skillcell-no-mmdebstrap-'));
    try {
      // PATH contains only Node.
      symlinkSync(process.execPath, join(folder, 'node'));
      const { code, stdout, stderr } = await runCli(['image', 'build', '--json'], {
        env: { DOCKER_HOST: host, PATH: folder },
      });
      expect(code, stderr).toBe(3);
      const { error } = JSON.parse(stdout) as { error: { code: string; message: string; hint: string } };
      expect(error).toEqual({
        code: 'image.build-failed',
        message: 'Cannot make a base image: mmdebstrap is not installed.',
        hint: expect.stringContaining('apt-get install mmdebstrap') as string,
      });
      expect(stderr).toContain('base: asking the registry for node:24-bookworm-slim');
      expect(stderr).toContain('base: no registry (');
      expect(await own?.client.listImages({ all: true })).toEqual([]);
    } finally {
      rmSync(folder, { recursive: true });
    }
  },
);

emptyEngineTest('a failed build of the base leaves no incomplete image that a later build would use', async (host) => {
  const folder = mkdtempSync(join(tmpdir(), 'skillcell-broken-maker-'));
  try {
    symlinkSync(process.execPath, join(folder, 'node'));
    const archive = join(folder, 'half.tar');
    execFileSync('tar', ['-cf', archive, '-C', folder, 'node']);
    const script = `#!/bin/sh\n[ "$1" = --version ] && exit 0\n/bin/cat ${archive}; echo "E: the mirror went away" >&2; exit 25\n`;
    execFileSync('sh', ['-c', 'cat > "$1" && chmod +x "$1"', 'sh', join(folder, 'mmdebstrap')], { input: script });
    const { code, stdout } = await runCli(['image', 'build', '--json'], { env: { DOCKER_HOST: host, PATH: folder } });
    expect(code).toBe(3);
    expect(JSON.parse(stdout)).toMatchObject({
      error: { code: 'image.build-failed', message: 'Cannot make a base image: E: the mirror went away.' },
    });
    expect(await own?.client.listImages()).toEqual([]);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
