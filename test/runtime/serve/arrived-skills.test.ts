import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Duplex } from 'node:stream';
import { afterAll, describe, expect, it } from 'vitest';
import { sampleDescriptor } from '../../../runtime/rehearse/sample-descriptor.ts';
import type { RuntimeGlobals, SandboxJob } from '../../../src/contracts/jobs/globals.ts';
import { DEFAULT_CONSUMER } from '../../../src/contracts/jobs/job.ts';
import { DEFAULT_LIMITS } from '../../../src/contracts/jobs/limits.ts';
import { createChannel, type StreamReader } from '../../../src/protocol/channel/channel.ts';
import type { SandboxMessage } from '../../../src/protocol/messages/messages.ts';
import { writeTar } from '../../../src/protocol/files/tar.ts';
import { ensureRuntime } from '../../../src/sandboxes/runtime-bundle.ts';
import { skillText } from '../../fixtures/skill-library.ts';

const IGNORED: StreamReader = { data: () => undefined, end: () => undefined };

const ID = 'custom.sample';
const FILES = new Map(
  Object.entries({
    'SKILL.md': skillText({ name: 'sample', description: 'Sample.' }, 'A body.\n'),
    'data.txt': 'data',
  }),
);
const bundle = await ensureRuntime();
const roots: string[] = [];
afterAll(() => {
  for (const root of roots) rmSync(root, { recursive: true, force: true });
});

const treeOf = (
  files: ReadonlyMap<string, string>,
): Map<string, { path: string; bytes: Buffer; executable: boolean }> =>
  new Map([...files].map(([path, text]) => [path, { path, bytes: Buffer.from(text), executable: false }]));

/** Lets the entry serve a job whose skills arrive as `files`, and returns its last message. */
async function serve(
  more: Partial<SandboxJob>,
  descriptor: unknown,
  files: ReadonlyMap<string, string>,
): Promise<SandboxMessage> {
  const root = mkdtempSync(join(tmpdir(), 'arrived-skills-'));
  roots.push(root);
  for (const name of ['workspace', 'skills', 'value']) mkdirSync(join(root, name));
  const args = ['--level=none', `--root=${root}`, '--language=bash', '--marker=arrived-skills'];
  const child = spawn(process.execPath, [join(bundle.folder, 'entry.cjs'), ...args], {
    cwd: root,
    env: { PATH: '/usr/bin:/bin' },
    stdio: ['ignore', 'ignore', 'inherit', 'pipe'],
  });
  const globals = {
    SKILLS_DESCRIPTOR: descriptor,
    SOURCES_POOL: [],
    EXECUTION_ID: 'arrived-skills',
    TOOLS: [],
    JOB: {
      kind: 'exec',
      language: 'bash',
      args: [],
      env: {},
      expect: [],
      limits: DEFAULT_LIMITS,
      skills: { refs: [ID], consumer: DEFAULT_CONSUMER, variant: 'full', includeInternal: false },
      ...more,
    },
  } as RuntimeGlobals;
  const last = await new Promise<SandboxMessage>((resolve, reject) => {
    child.once('exit', (code) => reject(new Error(`the entry ended with ${code}`)));
    const channel = createChannel(child.stdio[3] as Duplex, {
      onMessage(message) {
        const said = message as SandboxMessage;
        if (said.type === 'ready') void send().catch(reject);
        if (said.type === 'run') for (const stream of [said.stdout, said.stderr]) channel.receive(stream, IGNORED);
        if (said.type === 'result' || said.type === 'fault') resolve(said);
      },
      onClose: () => undefined,
    });
    const send = async (): Promise<void> => {
      const [stream, skills] = [channel.openStream(), channel.openStream()];
      channel.send({ type: 'start', globals: stream.number, skills: skills.number });
      await stream.write(Buffer.from(JSON.stringify(globals)));
      stream.end();
      const sent = [...treeOf(files).values()].map((file) => ({ ...file, path: `${ID}/${file.path}` }));
      await writeTar(sent, skills);
    };
  });
  child.removeAllListeners('exit');
  child.kill('SIGKILL');
  return last;
}

describe.each<[string, Partial<SandboxJob>]>([
  ['exec', { kind: 'exec', code: 'cat "$SKILLS_DIR/custom/sample/data.txt"' }],
  ['codegen', { kind: 'codegen', codegen: { task: 't', model: 'm/m', maxAttempts: 1, dryRun: true } }],
])('an entry that serves an %s job', (_kind, job) => {
  const descriptor = sampleDescriptor(ID, treeOf(FILES));

  it('accepts skills that match the descriptor', async () => {
    expect(await serve(job, descriptor, FILES)).toMatchObject({ type: 'result', result: { outcome: 'succeeded' } });
  });

  it.each<[string, unknown, ReadonlyMap<string, string>]>([
    ['a changed byte', descriptor, new Map([...FILES, ['data.txt', 'dAta']])],
    [
      'a changed byte of SKILL.md',
      descriptor,
      new Map([...FILES].map(([path, text]) => [path, text.replace('A', 'B')])),
    ],
    ['one file more', descriptor, new Map([...FILES, ['more.txt', '']])],
    ['one file less', descriptor, new Map([...FILES].slice(0, 1))],
    ['another digest in the descriptor', { ...descriptor, digest: `sha256:${'0'.repeat(64)}` }, FILES],
  ])('refuses %s, and runs no program', async (_change, sent, files) => {
    expect(await serve(job, sent, files)).toMatchObject({ type: 'fault', code: 'skills.digest-mismatch' });
  });

  it('accepts no folder in place of the sent skills', async () => {
    const said = await serve(job, { custom_skills_root: '/tmp' }, FILES);
    expect(said).toMatchObject({ type: 'fault', code: expect.stringMatching(/^skills\./) });
  });
});
