import type { SeededRandom } from '../../seeded-random.ts';
import { digestOf } from '../cluster-jobs.ts';

/** A job of a user of a service, with all that its end must have. */
export interface ReplicaJob {
  /** Its label, and the idempotency key of its requests. */
  name: string;
  lines: number;
  /** Calls of the tool `journal.read`. */
  reads: number;
  /** Whether it calls `journal.write`, once. */
  writes: boolean;
  /** KiB of its input, which it copies to its artifact; 0 for neither. */
  inputKib: number;
  /** Time that it waits between its lines, in all. */
  waitsMs: number;
  /** Whether its user cancels it. It runs for a minute then. */
  isCanceled: boolean;
}

/** Name of the input, and of the artifact. */
export const FILE = 'bytes.bin';
/** The most bursts of lines. */
const BURSTS = 8;
const CANCELED_MS = 60_000;

/** Makes a job of a random kind. */
export function replicaJob(random: SeededRandom, name: string): ReplicaJob {
  const isCanceled = random.between(0, 9) === 0;
  return {
    ...{ name, isCanceled },
    lines: random.pick([1, 10, 100, 1_000, 8_000]),
    reads: random.pick([0, 1, 3]),
    writes: random.between(0, 4) === 0,
    inputKib: random.pick([0, 0, 1, 300, 1_500]),
    waitsMs: isCanceled ? CANCELED_MS : random.pick([0, random.between(0, 2_000), random.between(0, 8_000)]),
  };
}

/** The body of its request. */
export function requestOf(job: ReplicaJob): object {
  const { name, inputKib } = job;
  return {
    kind: 'exec',
    label: name,
    code: programOf(job),
    tools: ['journal.read', 'journal.write'],
    files: inputKib > 0 ? { [FILE]: { base64: inputOf(job).toString('base64') } } : {},
  };
}

/** Its calls name its run: each attempt has one. */
function programOf(job: ReplicaJob): string {
  return `import { callTool } from 'skillcell';
import { randomUUID } from 'node:crypto';
import { copyFileSync } from 'node:fs';
const run = randomUUID();
const { name, lines, reads, writes, inputKib, waitsMs } = ${JSON.stringify(job)};
for (let burst = 0, line = 0; burst < ${BURSTS}; burst += 1) {
  for (; line < (lines * (burst + 1)) / ${BURSTS}; line += 1) console.log(\`\${name} says line \${line} é\`);
  await new Promise((resolve) => setTimeout(resolve, waitsMs / ${BURSTS}));
  if (burst < reads) await callTool('journal.read', { name, run });
  if (burst === 4 && writes) await callTool('journal.write', { name, run });
}
if (inputKib > 0) copyFileSync('${FILE}', process.env.SKILLCELL_OUTPUT + '/${FILE}');`;
}

function inputOf({ name, inputKib }: ReplicaJob): Buffer {
  return Buffer.alloc(inputKib * 1_024, `${name}\n`);
}

/** Digests of the output and the artifact of a job that has succeeded. */
export function digestsOf(job: ReplicaJob): { stdout: string; artifact: string | null } {
  const text = Array.from({ length: job.lines }, (_, line) => `${job.name} says line ${line} é\n`).join('');
  return { stdout: digestOf(text), artifact: job.inputKib > 0 ? digestOf(inputOf(job)) : null };
}
