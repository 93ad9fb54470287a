import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { SkillcellError } from '../src/contracts/errors/skillcell-error.ts';
import { MISSING_CEPH, startCeph } from '../test/fixtures/ceph.ts';
import { openRawBucket } from '../test/fixtures/raw-bucket.ts';
import type { BenchmarkGroup, BenchmarkOptions } from './benchmark-group.ts';
import type { S3Outcome, S3Task } from './library-s3-once.ts';
import { type Measurement, measurementOf } from './measurement.ts';
import { type Subject, takeTurns } from './take-turns.ts';

const COLD = 'library.s3.cold10k';
const WARM = 'library.s3.warm10k';
const BASELINE = 's3.bare10k';
const IDS = [COLD, `${COLD}.requests`, `${COLD}.memory`, `${COLD}.peak`, `${COLD}.kept`, WARM, `${WARM}.requests`];
const COUNT = 10_000;
const ROUNDS = 3;
const BUCKET = 'bench';
const PREFIX = 'u1/skills/';
const MIB = 1024 * 1024;
/** A small heap forces prompt garbage collection; otherwise the peak would depend on V8's laziness. */
const SMALL_HEAP = ['--max-old-space-size=40', '--max-semi-space-size=1'];

/** The heads of 10,000 skills in a bucket of a Ceph on this machine, against Amazon's client with the same requests, 16 at once. */
export const libraryS3: BenchmarkGroup = { ids: IDS, run };

async function run({ samples = ROUNDS, progress }: BenchmarkOptions): Promise<Measurement[]> {
  // A full run skips a group that fails with this code, like the groups that need an engine.
  if (MISSING_CEPH !== undefined)
    throw new SkillcellError('engine.unavailable', `Cannot measure: the program ${MISSING_CEPH} is missing.`);
  const folder = mkdtempSync(join(tmpdir(), 'bench-s3-'));
  await using ceph = await startCeph();
  try {
    const { endpoint, owner } = ceph;
    await fill(endpoint, owner.credentials, progress);
    const task = (who: S3Task['who'], cache: string): S3Task => {
      return {
        who,
        endpoint,
        credentials: owner.credentials,
        bucket: BUCKET,
        prefix: PREFIX,
        cache: join(folder, cache),
      };
    };
    const last = new Map<string, S3Outcome>();
    let cold = 0;
    const subject = (id: string, make: () => S3Task): Subject => ({
      id,
      async sample() {
        const outcome = await once(make());
        last.set(id, outcome);
        return outcome.ms;
      },
    });
    const subjects = [
      subject(BASELINE, () => task('bare', 'none')),
      subject(COLD, () => task('ours', `cold-${(cold += 1)}`)),
      subject(WARM, () => task('ours', 'cold-1')),
    ];
    const values = await takeTurns(subjects, samples, progress);
    const small = { bare: [] as number[], ours: [] as number[] };
    for (let sample = 1; sample <= samples; sample += 1)
      for (const who of ['bare', 'ours'] as const) {
        const { memoryBytes } = await once(task(who, `small-${sample}`), SMALL_HEAP);
        small[who].push(memoryBytes / MIB);
        progress(`${sample} of ${samples} in a small heap, ${who}`);
      }
    const taken = (id: string) => ({ id, values: values.get(id) ?? [] });
    const count = (id: string, unit: string, goal: string, own: number, other: number): Measurement =>
      measurementOf({ id, unit, goal, values: [own], baseline: { id: BASELINE, values: [other] } });
    const [bare, first, second] = [BASELINE, COLD, WARM].map((id) => last.get(id));
    const ready = bare !== undefined && first !== undefined && second !== undefined;
    return [
      measurementOf({ ...taken(COLD), unit: 'ms', goal: 'ratio ≤ 1.3', baseline: taken(BASELINE) }),
      measurementOf({ ...taken(WARM), unit: 'ms', goal: null, baseline: taken(BASELINE) }),
      ...(ready
        ? [
            count(`${COLD}.requests`, 'requests', 'ratio ≤ 1', first.requests, bare.requests),
            measurementOf({
              id: `${COLD}.memory`,
              unit: 'MiB',
              goal: 'median ≤ 50',
              values: small.ours,
              baseline: { id: BASELINE, values: small.bare },
            }),
            count(`${COLD}.peak`, 'MiB', 'ratio ≤ 1.1', first.memoryBytes / MIB, bare.memoryBytes / MIB),
            count(`${COLD}.kept`, 'MiB', 'median ≤ 50', first.keptBytes / MIB, bare.keptBytes / MIB),
            count(`${WARM}.requests`, 'requests', `median ≤ ${bare.pages}`, second.requests, bare.pages),
          ]
        : []),
    ];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function fill(
  endpoint: string,
  credentials: S3Task['credentials'],
  progress: (text: string) => void,
): Promise<void> {
  const bucket = openRawBucket(endpoint, credentials, BUCKET);
  await bucket.create();
  let next = 0;
  const work = async (): Promise<void> => {
    for (let index = next++; index < COUNT; index = next++) {
      const name = `skill-${index}`;
      const text = `---\nname: ${name}\ndescription: What ${name} is for, in a sentence of some length.\n---\n${'A line of it.\n'.repeat(60)}`;
      await bucket.put(`${PREFIX}category-${index % 100}/${name}/SKILL.md`, text);
      if (index % 2_500 === 0) progress(`${index} of ${COUNT} skills written`);
    }
  };
  await Promise.all(Array.from({ length: 16 }, work));
  bucket.close();
}

async function once(task: S3Task, flags: readonly string[] = []): Promise<S3Outcome> {
  const program = fileURLToPath(new URL('library-s3-once.ts', import.meta.url));
  const { stdout } = await promisify(execFile)(process.execPath, [
    '--expose-gc',
    ...flags,
    program,
    JSON.stringify(task),
  ]);
  const outcome = JSON.parse(stdout) as S3Outcome;
  if (outcome.skills !== COUNT) throw new Error(`Cannot measure: not all skills were read, got ${outcome.skills}.`);
  return outcome;
}
