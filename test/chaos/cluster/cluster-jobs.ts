import { createHash } from 'node:crypto';
import type { SeededRandom } from '../seeded-random.ts';

/** A job of a client, with all that its end must have. */
export interface ClusterJob {
  id: string;
  lines: number;
  /** Calls of the tool `read`. */
  reads: number;
  /** Whether it calls `write`, once. */
  writes: boolean;
  /** MiB of its input, which it copies to its artifact; 0 for neither. */
  inputMib: number;
  /** Time that it waits between its lines, in all. */
  waitsMs: number;
}

/** Name of the input, and of the artifact. */
export const FILE = 'bytes.bin';
const MIB = 1024 * 1024;
/** Lines without a pause between them. */
const BURST = 5_000;

/** Makes a job of a random kind. */
export function clusterJob(random: SeededRandom, id: string): ClusterJob {
  return {
    id,
    lines: random.pick([1, 10, 100, 1_000, 20_000]),
    reads: random.pick([0, 1, 3]),
    writes: random.between(0, 3) === 0,
    inputMib: random.pick([0, 0, 1, 4]),
    waitsMs: random.pick([0, random.between(0, 1_000), random.between(0, 3_000)]),
  };
}

/** The program of a job. Its calls name its run, since each sandbox of a job begins the count of its attempts anew. */
export function programOf(job: ClusterJob): string {
  return `import { callTool } from 'skillcell';
import { randomUUID } from 'node:crypto';
import { copyFileSync } from 'node:fs';
const run = randomUUID();
const { id, lines, reads, writes, inputMib, waitsMs } = ${JSON.stringify(job)};
const bursts = Math.max(4, Math.ceil(lines / ${BURST}));
for (let burst = 0, line = 0; burst < bursts; burst += 1) {
  for (; line < (lines * (burst + 1)) / bursts; line += 1) console.log(\`\${id} says line \${line}\`);
  await new Promise((resolve) => setTimeout(resolve, waitsMs / bursts));
  if (burst < reads) await callTool('read', { burst, run });
  if (burst === 2 && writes) await callTool('write', { run });
}
if (inputMib > 0) copyFileSync('${FILE}', process.env.SKILLCELL_OUTPUT + '/${FILE}');`;
}

/** The bytes of its input. */
export function inputOf({ id, inputMib }: ClusterJob): Buffer {
  return Buffer.alloc(inputMib * MIB, `${id}\n`);
}

/** Digests of the output and the artifact of a job that has succeeded. */
export function digestsOf(job: ClusterJob): { stdout: string; artifact: string | null } {
  const text = Array.from({ length: job.lines }, (_, line) => `${job.id} says line ${line}\n`).join('');
  return { stdout: digestOf(text), artifact: job.inputMib > 0 ? digestOf(inputOf(job)) : null };
}

export function digestOf(bytes: string | Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}
