import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Duplex } from 'node:stream';
import { DEFAULT_CONSUMER } from '../../src/contracts/jobs/job.ts';
import { DEFAULT_LANGUAGE } from '../../src/contracts/jobs/language.ts';
import type { RuntimeGlobals } from '../../src/contracts/jobs/globals.ts';
import { DEFAULT_LIMITS } from '../../src/contracts/jobs/limits.ts';
import { createChannel, type StreamReader } from '../../src/protocol/channel/channel.ts';
import type { HostMessage, SandboxMessage } from '../../src/protocol/messages/messages.ts';
import { packAnswer, readCall } from '../../src/protocol/channel/packed-call.ts';
import { writeTar } from '../../src/protocol/files/tar.ts';
import { sampleDescriptor } from './sample-descriptor.ts';

const TIMEOUT_MS = 20_000;
const IGNORED: StreamReader = { data: () => undefined, end: () => undefined };
const SKILL = 'custom.sample';
const SKILL_FILES = Object.entries({
  'SKILL.md': '---\nname: sample\ndescription: Stands for any skill.\n---\n\n# Sample\n\nSee [[S:1]].\n',
  'sources.yaml': '- sid: 1\n  url: https://example.org/\n  title: Sample\n',
  'tools.yaml': 'tools:\n  - id: sample\n',
}).map(([path, text]) => ({ path, bytes: Buffer.from(text), executable: false }));
/** The model's answer. */
const ANSWER = {
  text: "```js\nconsole.log('sample');\nexport default 1;\n```\n",
  usage: { inputTokens: null, outputTokens: null },
  model: 'sample/sample',
};

/*
 * Compiles the entry beside this file ahead of time: the entry serves one codegen job, which uses all code that jobs use,
 * and writes V8's compiled code to files that later entries read. The job's program is trusted, so it needs no isolation.
 *
 *     node compile-ahead.cjs <folder for the files, created if missing>
 *
 * Without the files V8 compiles the entry at every start, which is only slower. Exit code 1 if no files were made.
 */
void compileAhead(dirname(__filename), process.argv[2] ?? '').then((done) => (process.exitCode = done ? 0 : 1));

async function compileAhead(bundle: string, folder: string): Promise<boolean> {
  mkdirSync(folder, { recursive: true });
  const root = mkdtempSync(join(tmpdir(), 'code-cache-'));
  try {
    for (const name of ['workspace', 'skills', 'value', 'tmp']) mkdirSync(join(root, name));
    const args = ['--level=none', `--root=${root}`, `--language=${DEFAULT_LANGUAGE}`, `--marker=${randomUUID()}`];
    const child = spawn(
      process.execPath,
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
    if (whole && served.result) return true;
    for (const name of readdirSync(folder)) rmSync(join(folder, name));
    return false;
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}

function serveSample(duplex: Duplex): { readonly result: boolean } {
  const served = { result: false };
  const channel = createChannel(duplex, {
    onMessage(message) {
      const said = message as SandboxMessage;
      // A waiting sandbox rehearses, too.
      if (said.type === 'ready')
        channel.send({ type: 'rehearse', codegen: true, skillCode: false, network: false } satisfies HostMessage);
      else if (said.type === 'rehearsed') sendSample().catch(() => channel.close());
      else if (said.type === 'run') {
        for (const stream of [said.stdout, said.stderr]) channel.receive(stream, IGNORED);
      } else if (said.type === 'artifacts') channel.receive(said.stream, IGNORED);
      else if (said.type === 'result' || said.type === 'fault') {
        served.result = said.type === 'result' && said.result.outcome === 'succeeded';
        // The entry ends with its channel and writes the files then.
        channel.close();
      }
    },
    onPacked(bytes) {
      channel.sendPacked(packAnswer(readCall(bytes).id, true, { json: JSON.stringify(ANSWER) }));
    },
    onClose: () => undefined,
  });
  const sendSample = async (): Promise<void> => {
    const [globals, skills] = [channel.openStream(), channel.openStream()];
    channel.send({ type: 'start', globals: globals.number, skills: skills.number } satisfies HostMessage);
    await globals.write(Buffer.from(JSON.stringify(sampleGlobals())));
    globals.end();
    const files = SKILL_FILES.map((file) => ({ ...file, path: `${SKILL}/${file.path}` }));
    await writeTar(files, skills);
  };
  return served;
}

function sampleGlobals(): RuntimeGlobals {
  return {
    SKILLS_DESCRIPTOR: sampleDescriptor(SKILL, new Map(SKILL_FILES.map((file) => [file.path, file]))),
    SOURCES_POOL: [],
    EXECUTION_ID: 'sample',
    TOOLS: [],
    JOB: {
      kind: 'codegen',
      language: DEFAULT_LANGUAGE,
      args: [],
      env: {},
      expect: [],
      limits: DEFAULT_LIMITS,
      skills: { refs: [SKILL], consumer: DEFAULT_CONSUMER, variant: 'full', includeInternal: false },
      codegen: { task: 'Say sample.', model: ANSWER.model, maxAttempts: 1, dryRun: false },
    },
  };
}
