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

/** The attempts of the program, in their displayed order. */
export const AIMS = ['key', 'file', 'network'] as const;

/** Result of one attempt. */
export interface Attempt {
  reached: boolean;
  /** The finding, or the reason for the failure. */
  says: string;
}

/** One program's attempts, as an ordinary program of this user and as a job. */
export interface Trial {
  plain: Record<(typeof AIMS)[number], Attempt>;
  /** Undefined if the job ended before its report. */
  job: Record<(typeof AIMS)[number], Attempt> | undefined;
  result: JobResult;
  /** The file that the program tried to read. */
  file: string;
  /** Number of requests to the server, by the plain program and by the job. */
  requests: { plain: number; job: number };
}

/**
 * Runs one program twice: as an ordinary program, which reaches its targets, and as a job. A process with the key runs beside both, like an agent's
 * own process, and a local server counts its requests.
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
    if (plain === undefined) throw new Error(`Cannot compare: the plain program printed no result, got "${stdout}".`);
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

/** A private file of the user: an everyday file of the home folder, else a file of this checkout. */
function fileOfUser(): string {
  const everyday = ['.bashrc', '.profile', '.zshrc', '.gitconfig', '.npmrc'].map((name) => join(homedir(), name));
  return everyday.find((path) => existsSync(path)) ?? fileURLToPath(new URL('../../package.json', import.meta.url));
}

/** The program's output. A job's output is untrusted, so only the expected form is read. */
function readAttempts(text: string): Trial['job'] {
  let found: unknown;
  try {
    found = JSON.parse(text);
  } catch {
    // The program ended before its report; the caller shows the outcome instead.
    return undefined;
  }
  const all = found as Record<string, { reached?: unknown; says?: unknown } | undefined> | null;
  const read = (aim: string): Attempt => ({ reached: all?.[aim]?.reached === true, says: String(all?.[aim]?.says) });
  return { key: read('key'), file: read('file'), network: read('network') };
}
