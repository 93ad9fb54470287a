import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Duplex } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import type { BuiltInLanguage as Language } from '../../src/contracts/jobs/language.ts';
import type { JobResult } from '../../src/contracts/jobs/result.ts';
import { watchSafety } from '../attacks/safety-watch.ts';
import { createOrchestrator } from '../../src/jobs/create-orchestrator.ts';
import { demultiplex } from '../../src/sandboxes/docker/engine/demultiplex.ts';
import { createDockerRunner } from '../../src/sandboxes/docker/docker-runner.ts';
import { connectEngine } from '../../src/sandboxes/docker/engine/engine.ts';
import { dockerImage, dockerTest, MISSING_ENGINE } from '../fixtures/docker-image.ts';
import { startUpstream } from '../fixtures/egress/upstream.ts';
import { ownContainers } from '../fixtures/own-containers.ts';
import { runCli } from '../fixtures/spawn-cli.ts';
import { openTcpEngine, type TcpEngine } from '../fixtures/tcp-engine.ts';

const WRITES = 20_000;
const DIGITS = Array.from({ length: WRITES }, (_, index) => index % 10).join('');

/** Each program reads its input and a file, and writes a file and a line. */
const PROGRAMS: Record<Language, string> = {
  javascript: `import { readFileSync, writeFileSync } from 'node:fs';
    const text = readFileSync(0, 'utf8') + readFileSync('in/data.txt', 'utf8');
    writeFileSync('out/result.bin', Buffer.alloc(3_000_000, text)); console.log(text);`,
  typescript: `import { readFileSync, writeFileSync } from 'node:fs';
    const text: string = readFileSync(0, 'utf8') + readFileSync('in/data.txt', 'utf8');
    writeFileSync('out/result.bin', Buffer.alloc(3_000_000, text)); console.log(text);`,
  python: `import sys
text = sys.stdin.read() + open('in/data.txt').read()
open('out/result.bin', 'w').write((text * 300_000)[:3_000_000])
print(text)`,
  bash: `text="$(cat)$(cat in/data.txt)"; yes "$text" | tr -d '\\n' | head -c 3000000 >out/result.bin; echo "$text"`,
};

describe('an engine over TCP', () => {
  let remote: TcpEngine;
  let folder: string;
  beforeAll(async () => {
    if (MISSING_ENGINE !== undefined) return;
    remote = await openTcpEngine();
    folder = mkdtempSync(join(tmpdir(), 'skillcell-remote-'));
    writeFileSync(join(folder, 'stdin.txt'), 'left ');
    writeFileSync(join(folder, 'data.txt'), 'right');
  });
  afterAll(async () => {
    if (MISSING_ENGINE !== undefined) return;
    await remote[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true });
    expect(await ownContainers()).toEqual([]);
  });

  for (const language of Object.keys(PROGRAMS) as Language[]) {
    dockerTest(`runs ${language} with input, files and artifacts`, {}, async () => {
      await dockerImage();
      const output = join(folder, language);
      const words = ['--runner', 'docker', '--json', '--stdin', 'stdin.txt', '--file', 'data.txt:in/data.txt'];
      const { code, stdout, stderr } = await runCli(
        ['exec', '-', '--language', language, ...words, '--output', output, '--expect', 'result.bin'],
        { cwd: folder, stdin: PROGRAMS[language], env: { DOCKER_HOST: remote.host } },
      );
      expect(code, stderr + stdout).toBe(0);
      expect(JSON.parse(stdout) as JobResult).toMatchObject({
        runner: 'docker',
        isolation: 'container',
        stdout: { text: 'left right\n' },
        contract: { satisfied: true },
      });
      expect(readFileSync(join(output, 'result.bin'), 'latin1')).toBe('left right'.repeat(300_000));
    });
  }

  dockerTest('runs a job with a network', {}, async () => {
    const { bundle } = await dockerImage();
    await using upstream = await startUpstream();
    const place = `api.test:${upstream.port}`;
    await using orchestrator = createOrchestrator({
      runners: [createDockerRunner({ host: remote.host, bundle })],
      network: upstream.network([place]),
    });
    const code = `const ask = async (url) => { const answer = await fetch(url); return [answer.status, await answer.text()]; };
export default [await ask('https://${place}/first'), (await ask('https://evil.test/'))[0]];`;
    const { value, network } = await orchestrator.exec({ isolation: 'container', code, network: [place] });
    expect(value).toEqual([[200, 'GET /first \n'], 403]);
    expect(upstream.requests.map(({ url }) => url)).toEqual(['/first']);
    expect(network).toMatchObject({ requests: 1, denied: [{ host: 'evil.test', reason: 'host-not-allowed' }] });
  });

  dockerTest('C03: takes 20,000 writes of one byte while the host is busy, and loses no byte', {}, async () => {
    const { bundle } = await dockerImage();
    await using orchestrator = createOrchestrator({ runners: [createDockerRunner({ host: remote.host, bundle })] });
    const code = `import os\nfor index in range(${WRITES}): os.write(1, b'%d' % (index % 10))`;
    const job = orchestrator.exec({ isolation: 'container', language: 'python', code });
    const busy = keepBusy(job);
    const { outcome, stdout } = await job;
    expect(await busy).toBeGreaterThan(2);
    expect([outcome, stdout.bytes]).toEqual(['succeeded', WRITES]);
    expect(stdout.text === DIGITS).toBe(true);
    expect(await delayAfterwards()).toBeLessThan(250);
    expect(await orchestrator.exec({ isolation: 'container', code: 'export default 1' })).toMatchObject({ value: 1 });
  });

  dockerTest('C03: takes 20,000 pieces of one byte from the engine itself while the host is busy', {}, async () => {
    const { image } = await dockerImage();
    const engine = await connectEngine({ host: remote.host });
    const script = `import os, time
for index in range(${WRITES}):
    os.write(1, b'%d' % (index % 10))
    if index % 40 == 0: time.sleep(0.005)`;
    const container = await engine.createContainer({
      Image: image,
      Entrypoint: ['/usr/bin/python3', '-c', script],
      HostConfig: { NetworkMode: 'none' },
    });
    try {
      const attached = (await container.attach({ stream: true, stdout: true, hijack: true })) as unknown as Duplex;
      let raw = 0;
      attached.on('data', (chunk: Buffer) => (raw += chunk.length));
      const stream = demultiplex(attached, () => undefined);
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      const ended = new Promise<void>((resolve) => stream.once('close', resolve));
      await container.start();
      expect(await keepBusy(ended)).toBeGreaterThan(2);
      expect(Buffer.concat(chunks).toString() === DIGITS).toBe(true);
      // The engine really sent many small chunks, each with its header of eight bytes.
      expect((raw - WRITES) / 8).toBeGreaterThan(WRITES / 400);
      expect(await delayAfterwards()).toBeLessThan(250);
    } finally {
      await container.remove({ force: true });
    }
  });
});

/** Blocks the event loop nine tenths of the time until a promise settles. Returns the number of blocks. */
async function keepBusy(done: Promise<unknown>): Promise<number> {
  let over = false;
  const end = (): void => void (over = true);
  void done.then(end, end);
  let times = 0;
  for (; !over; times += 1) {
    const until = performance.now() + 90;
    while (performance.now() < until);
    await pause(10);
  }
  return times;
}

/** The longest delay of the event loop in the next half second, in milliseconds. */
async function delayAfterwards(): Promise<number> {
  const endWatch = watchSafety();
  await pause(500);
  return endWatch().loopDelayMs;
}
