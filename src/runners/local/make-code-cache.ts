import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Duplex } from 'node:stream';
import { DESCRIPTOR_SCHEMA, type FullDescriptor } from '../../contracts/descriptor.ts';
import { DEFAULT_CONSUMER } from '../../contracts/job.ts';
import type { RuntimeGlobals } from '../../contracts/globals.ts';
import { DEFAULT_LIMITS } from '../../contracts/limits.ts';
import { createChannel } from '../../protocol/channel.ts';
import { HOST_STREAM, type HostMessage, type SandboxMessage } from '../../protocol/messages.ts';
import { writeTar } from '../../protocol/tar.ts';
import { catalogDigest, descriptorDigest, digestOf, skillDigest } from '../../skills/digest.ts';

const TIMEOUT_MS = 20_000;
const SKILL = 'custom.sample';
const SKILL_TEXT = Buffer.from('---\nname: sample\ndescription: Stands for any skill.\n---\n\nSample.\n');

/**
 * Compiles the entry ahead, by letting it serve one job: what V8 compiled for that goes into files that later entries read.
 * The job is a program of ours, so that it needs no isolation.
 *
 * @param bundle a copy of the runtime bundle, with Node in `bin/`
 * @param folder an empty folder for the files
 * @returns whether they were made; without them the entry is compiled at every start
 */
export async function makeCodeCache(bundle: string, folder: string): Promise<boolean> {
  const root = await mkdtemp(join(tmpdir(), 'code-cache-'));
  try {
    for (const name of ['workspace', 'skills', 'value']) await mkdir(join(root, name));
    const args = ['--level=none', `--root=${root}`, '--language=javascript', `--marker=${randomUUID()}`];
    const child = spawn(
      join(bundle, 'bin', 'node'),
      [join(bundle, 'launch', 'start-entry.cjs'), ...args, `--new-code-cache=${folder}`],
      { cwd: root, env: {}, stdio: ['ignore', 'ignore', 'ignore', 'pipe'] },
    );
    const timer = setTimeout(() => child.kill('SIGKILL'), TIMEOUT_MS);
    const ended = new Promise<boolean>((resolve) => {
      child.once('error', () => resolve(false));
      child.once('exit', (code) => resolve(code === 0));
    });
    const served = serveSample(child.stdio[3] as Duplex);
    const whole = await ended.finally(() => clearTimeout(timer));
    return whole && served.result;
  } finally {
    await rm(root, { recursive: true, force: true });
  }
}

function serveSample(duplex: Duplex): { readonly result: boolean } {
  const served = { result: false };
  const channel = createChannel(duplex, {
    onMessage(message) {
      const { type } = message as SandboxMessage;
      if (type === 'ready') sendSample().catch(() => channel.close());
      else if (type === 'result' || type === 'fault') {
        served.result = type === 'result';
        // The entry ends with its channel, and leaves the files then.
        channel.close();
      }
    },
    onStream: () => ({ data: () => undefined, end: () => undefined }),
    onClose: () => undefined,
  });
  const sendSample = async (): Promise<void> => {
    channel.send({ type: 'start', skills: true, files: false, stdin: false } satisfies HostMessage);
    const globals = channel.openStream(HOST_STREAM.globals);
    await globals.write(Buffer.from(JSON.stringify(sampleGlobals())));
    globals.end();
    const files = [{ path: `${SKILL}/SKILL.md`, bytes: SKILL_TEXT, executable: false }];
    await writeTar(files, channel.openStream(HOST_STREAM.skills));
  };
  return served;
}

/** A job that uses what any job uses. */
function sampleGlobals(): RuntimeGlobals {
  return {
    SKILLS_DESCRIPTOR: sampleDescriptor(),
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
      skills: { refs: [SKILL], consumer: DEFAULT_CONSUMER, variant: 'full', includeInternal: false },
    },
  };
}

function sampleDescriptor(): FullDescriptor {
  const files = [{ path: 'SKILL.md', digest: digestOf(SKILL_TEXT), bytes: SKILL_TEXT.length, executable: false }];
  const descriptor: FullDescriptor = {
    schema: DESCRIPTOR_SCHEMA,
    custom_skills_root: null,
    bundle_root: null,
    agents_config: {},
    overrides: [],
    skills: { [SKILL]: { version: null, digest: skillDigest(files), files } },
    catalog: { consumer: null, ids: [SKILL], digest: catalogDigest(null, [SKILL]) },
  };
  return { ...descriptor, digest: descriptorDigest(descriptor) };
}
