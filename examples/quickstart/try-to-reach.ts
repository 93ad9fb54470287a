import { execFile, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { JobResult } from '../../src/contracts/jobs/result.ts';
import type { Orchestrator } from '../../src/jobs/orchestrator.ts';

const INTRUDER = fileURLToPath(new URL('./intruder.mjs', import.meta.url));
const VARIABLE = 'QUICKSTART_MODEL_KEY';

/** What the program tries, in the order in which it is shown. */
export const AIMS = ['key', 'file', 'network'] as const;

/** What came of one attempt. */
export interface Attempt {
  reached: boolean;
  /** What it found, or why it did not. */
  says: string;
}

/** One program's attempts, as any program of this user and as a job. */
export interface Trial {
  plain: Record<(typeof AIMS)[number], Attempt>;
  /** Undefined where the job did not get as far as to tell. */
  job: Record<(typeof AIMS)[number], Attempt> | undefined;
  result: JobResult;
  /** The file that it reached for. */
  file: string;
  /** How often the server beside it was asked, by the program run plainly and by the job. */
  requests: { plain: number; job: number };
}

/**
 * Runs one program twice: plainly, so that it is seen to reach what it reaches for, and as a job. A process with the key
 * runs beside both, as an agent's own does, and a server on this machine counts who asks it.
 */
export async function tryToReach(orchestrator: Orchestrator, options: Pick<JobRun, 'isolation' | 'signal'>): Promise<Trial> {
  let asked = 0;
  const server = createServer((_request, response) => {
    asked += 1;
    response.end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const env = { ...process.env, [VARIABLE]: randomBytes(16).toString('hex') };
  const agent = spawn(process.execPath, ['-e', 'setInterval(() => {}, 60_000)'], { env, stdio: 'ignore' });
  try {
    const file = fileOfUser();
    const args = [VARIABLE, file, `http://127.0.0.1:${(server.address() as AddressInfo).port}/`];
    const { stdout } = await promisify(execFile)(process.execPath, [INTRUDER, ...args], { env });
    const plain = readAttempts(stdout);
    if (plain === undefined) throw new Error(`The program that reaches for things told nothing, got ${stdout}`);
    const before = asked;
    const code = readFileSync(INTRUDER, 'utf8');
    const result = await orchestrator.exec({ code, language: 'javascript', args, ...options });
    const requests = { plain: before, job: asked - before };
    return { plain, job: readAttempts(result.stdout.text), result, file, requests };
  } finally {
    agent.kill();
    server.closeAllConnections();
    server.close();
  }
}

type JobRun = Parameters<Orchestrator['exec']>[0];

/** A file that only concerns the user: an everyday one of the home, else one of this checkout. */
function fileOfUser(): string {
  const everyday = ['.bashrc', '.profile', '.zshrc', '.gitconfig', '.npmrc'].map((name) => join(homedir(), name));
  return everyday.find((path) => existsSync(path)) ?? fileURLToPath(new URL('../../package.json', import.meta.url));
}

/** What the program printed: untrusted in a job, so only its own form is taken. */
function readAttempts(text: string): Trial['job'] {
  let found: unknown;
  try {
    found = JSON.parse(text);
  } catch {
    // It ended before it had anything to tell; the caller shows the outcome instead.
    return undefined;
  }
  const all = found as Record<string, { reached?: unknown; says?: unknown } | undefined> | null;
  const read = (aim: string): Attempt => ({ reached: all?.[aim]?.reached === true, says: String(all?.[aim]?.says) });
  return { key: read('key'), file: read('file'), network: read('network') };
}
