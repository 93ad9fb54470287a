import { join } from 'node:path';
import type { ExecOptions } from '../../src/contracts/jobs/job.ts';
import type { JobResult } from '../../src/contracts/jobs/result.ts';
import type { ChaosJob, ChaosRunner } from './host-words.ts';
import type { SeededRandom } from './seeded-random.ts';

/** A job and its expected result if no host is killed. */
export interface MixedJob {
  job: ChaosJob;
  expected: JobResult['outcome'];
  /** Whether the referee cancels it. */
  cancel: boolean;
  /** Path and size of its artifact. */
  artifact?: { path: string; bytes: number };
}

/** Process name of the daemons of jobs, so that a search finds them. */
export const DAEMON = 'chaos-daemon';
const ARTIFACT_BYTES = 512 * 1024;

type Kind = Pick<ExecOptions, 'code' | 'language'> & {
  expected?: JobResult['outcome'];
  cancel?: true;
  artifact?: true;
  inSession?: true;
};

const sleep = (milliseconds: number): string => `await new Promise((resolve) => setTimeout(resolve, ${milliseconds}));`;
const KINDS: readonly [Kind, ...Kind[]] = [
  { code: 'console.log(1)' },
  { code: 'console.log(1)' },
  { language: 'python', code: 'print(1)' },
  { language: 'bash', code: 'echo 1; sleep 0.1' },
  { code: `${sleep(400)} console.log(1)` },
  { code: `${sleep(1_500)} console.log(1)` },
  { code: 'throw new Error("on purpose")', expected: 'failed' },
  { language: 'bash', code: 'exit 3', expected: 'failed' },
  { code: 'process.stdout.write("x".repeat(8 * 1024 * 1024))' },
  { code: 'const end = Date.now() + 600; while (Date.now() < end);' },
  {
    code: `import { writeFileSync } from 'node:fs';
      writeFileSync(process.env.SKILLCELL_OUTPUT + '/a.bin', Buffer.alloc(${ARTIFACT_BYTES}, 7));`,
    artifact: true,
  },
  { language: 'bash', code: `setsid bash -c 'exec -a ${DAEMON} sleep 600' & sleep 0.1` },
  { language: 'bash', code: `setsid bash -c 'exec -a ${DAEMON} sleep 600' & exec -a ${DAEMON} sleep 1` },
  { code: sleep(60_000), expected: 'canceled', cancel: true },
  { inSession: true, code: 'console.log(1)' },
  { inSession: true, code: `${sleep(1_000)} 1` },
  { inSession: true, language: 'bash', code: `setsid bash -c 'exec -a ${DAEMON} sleep 600' & sleep 0.3` },
  { inSession: true, language: 'python', code: 'import time; time.sleep(1)' },
];

/** Makes a job of a random kind. */
export function mixedJob(
  random: SeededRandom,
  jobId: string,
  runner: ChaosRunner | 'fleet',
  outputs: string,
): MixedJob {
  const { code, language, expected, cancel, artifact, inSession } = random.pick(KINDS);
  const output = join(outputs, jobId);
  const isolation = runner === 'local' ? random.pick(['none', 'namespace'] as const) : undefined;
  const chosen = runner === 'both' ? random.pick(['local', 'docker'] as const) : runner;
  const given: ExecOptions = {
    code,
    runner: chosen,
    language: language ?? 'javascript',
    ...(isolation === undefined ? {} : { isolation }),
    ...(artifact === undefined ? {} : { output }),
  };
  return {
    job: { kind: inSession === true ? 'session' : 'exec', jobId, ...given },
    expected: expected ?? 'succeeded',
    cancel: cancel ?? false,
    ...(artifact === undefined ? {} : { artifact: { path: join(output, 'a.bin'), bytes: ARTIFACT_BYTES } }),
  };
}
