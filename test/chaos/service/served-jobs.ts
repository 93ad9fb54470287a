import { createHash } from 'node:crypto';
import type { JobResult } from '../../../src/contracts/jobs/result.ts';
import { DAEMON } from '../mixed-jobs.ts';
import type { SeededRandom } from '../seeded-random.ts';

/** A job for a service, with its expected end if no service is killed and no client cancels it. */
export interface ServedJob {
  /** Its label. No other job has it, but for those that run it again. */
  name: string;
  request: Record<string, unknown>;
  /** A file that is sent as a part of a form. */
  upload?: { destination: string; bytes: Buffer };
  expected: JobResult['outcome'];
  /** Expected standard output; undefined if it is not compared. */
  stdout?: string;
  /** Whether the program writes its beginning into a file of the host. */
  marks: boolean;
  /** Whether it ends only by a cancellation. */
  endless: boolean;
}

interface Kind {
  language?: 'bash' | 'python';
  code: string;
  expected?: JobResult['outcome'];
  stdout?: string;
  endless?: true;
  sendsFile?: true;
}

const sleep = (milliseconds: number): string => `await new Promise((resolve) => setTimeout(resolve, ${milliseconds}));`;
const LARGE = 256 * 1024;
const UPLOAD_BYTES = 48 * 1024;
const DIGEST = `import { createHash } from 'node:crypto'; import { readFileSync } from 'node:fs';
  console.log(createHash('sha256').update(readFileSync('data/in.bin')).digest('hex'));`;
const KINDS: readonly [Kind, ...Kind[]] = [
  { code: 'console.log(1)', stdout: '1\n' },
  { code: 'console.log(1)', stdout: '1\n' },
  { language: 'python', code: 'print(1)', stdout: '1\n' },
  { language: 'bash', code: 'echo 1; sleep 0.1', stdout: '1\n' },
  { code: `${sleep(400)} console.log(1)`, stdout: '1\n' },
  { code: `${sleep(1_500)} console.log(1)`, stdout: '1\n' },
  { code: 'throw new Error("on purpose")', expected: 'failed' },
  { language: 'bash', code: 'echo 3; exit 3', expected: 'failed', stdout: '3\n' },
  { code: `process.stdout.write("x".repeat(${LARGE}))`, stdout: 'x'.repeat(LARGE) },
  {
    code: `for (let at = 0; at < 40; at += 1) { console.log('line €', at); ${sleep(20)} }`,
    stdout: Array.from({ length: 40 }, (_, at) => `line € ${at}\n`).join(''),
  },
  {
    code: `import { writeFileSync } from 'node:fs'; writeFileSync(process.env.SKILLCELL_OUTPUT + '/a.bin', Buffer.alloc(99, 7));`,
    stdout: '',
  },
  { code: DIGEST, sendsFile: true },
  { code: DIGEST, sendsFile: true },
  { language: 'bash', code: `setsid bash -c 'exec -a ${DAEMON} sleep 600' & exec -a ${DAEMON} sleep 0.5` },
  { code: sleep(600_000), expected: 'canceled', endless: true },
];

/**
 * Makes a job of a random kind.
 *
 * @param marks folder of the host in which programs without isolation write their beginnings
 */
export function servedJob(random: SeededRandom, name: string, marks: string): ServedJob {
  const { language = 'javascript', code, expected = 'succeeded', stdout, endless, sendsFile } = random.pick(KINDS);
  const isolation = random.pick(['none', 'none', 'namespace'] as const);
  const marked = isolation === 'none' ? `${markLine(language, `${marks}/${name}`)}\n${code}` : code;
  const common = { kind: 'exec', label: name, language, isolation, code: marked, env: { SECRET: name } };
  const job = { name, expected, marks: isolation === 'none', endless: endless ?? false };
  if (sendsFile === undefined) return { ...job, request: common, ...(stdout === undefined ? {} : { stdout }) };
  const bytes = Buffer.alloc(UPLOAD_BYTES, `${name}\0`);
  const printed = `${createHash('sha256').update(bytes).digest('hex')}\n`;
  const destination = 'data/in.bin';
  if (random.between(0, 1) === 1) return { ...job, request: common, stdout: printed, upload: { destination, bytes } };
  const files = { [destination]: { base64: bytes.toString('base64') } };
  return { ...job, request: { ...common, files }, stdout: printed };
}

/** Code that adds a line to a file, in one write. */
function markLine(language: string, path: string): string {
  const quoted = JSON.stringify(path);
  if (language === 'bash') return `echo begun >> ${quoted}`;
  if (language === 'python') return `open(${quoted}, 'a').write('begun\\n')`;
  return `(await import('node:fs')).appendFileSync(${quoted}, 'begun\\n');`;
}
