import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Duplex } from 'node:stream';
import type { RuntimeGlobals } from '../../contracts/globals.ts';
import { DEFAULT_CONSUMER } from '../../contracts/job.ts';
import { DEFAULT_LIMITS } from '../../contracts/limits.ts';
import { createChannel } from '../../protocol/channel.ts';
import { HOST_STREAM, type HostMessage, type SandboxMessage } from '../../protocol/messages.ts';

const TIMEOUT_MS = 20_000;

/** A program of ours, so that it needs no isolation: it makes the entry use what any job uses. */
const SAMPLE: RuntimeGlobals = {
  SKILLS_DESCRIPTOR: null,
  SOURCES_POOL: [],
  EXECUTION_ID: 'sample',
  TOOLS: [],
  JOB: {
    kind: 'exec',
    language: 'javascript',
    code: "console.log('sample');\nexport default 1;\n",
    args: [],
    env: {},
    expect: [],
    limits: DEFAULT_LIMITS,
    skills: { refs: [], consumer: DEFAULT_CONSUMER, variant: 'full', includeInternal: false },
  },
};

/**
 * Compiles the entry ahead, by letting it serve one job: what V8 compiled for that goes into a file that later entries read.
 *
 * @param folder a copy of the runtime bundle, with Node in `bin/`
 * @param file path of the new file
 * @returns whether the file was made; without it the entry is compiled at every start
 */
export async function makeCodeCache(folder: string, file: string): Promise<boolean> {
  const root = await mkdtemp(join(tmpdir(), 'code-cache-'));
  try {
    for (const name of ['workspace', 'skills', 'value']) await mkdir(join(root, name));
    const args = ['--level=none', `--root=${root}`, '--language=javascript', `--marker=${randomUUID()}`];
    const child = spawn(
      join(folder, 'bin', 'node'),
      [join(folder, 'launch', 'start-entry.cjs'), ...args, `--code-cache=${file}`],
      { cwd: root, env: {}, stdio: ['ignore', 'ignore', 'ignore', 'pipe'] },
    );
    const timer = setTimeout(() => child.kill('SIGKILL'), TIMEOUT_MS);
    const ended = new Promise<boolean>((resolve) => {
      child.once('error', () => resolve(false));
      child.once('exit', (code) => resolve(code === 0));
    });
    serveSample(child.stdio[3] as Duplex);
    return await ended.finally(() => clearTimeout(timer));
  } finally {
    await rm(root, { recursive: true, force: true });
  }
}

function serveSample(duplex: Duplex): void {
  const channel = createChannel(duplex, {
    onMessage(message) {
      const { type } = message as SandboxMessage;
      if (type === 'ready') sendSample();
      // The entry ends with its channel, and leaves the file then.
      else if (type === 'result' || type === 'fault') channel.close();
    },
    onStream: () => ({ data: () => undefined, end: () => undefined }),
    onClose: () => undefined,
  });
  const sendSample = (): void => {
    channel.send({ type: 'start', skills: false, files: false, stdin: false } satisfies HostMessage);
    const globals = channel.openStream(HOST_STREAM.globals);
    void globals.write(Buffer.from(JSON.stringify(SAMPLE))).then(() => globals.end());
  };
}
