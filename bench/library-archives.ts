import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { crc32, deflateRaw, deflateRawSync, inflateRaw } from 'node:zlib';
import { onlySkill, openArchive } from '../src/archives/open-archive.ts';
import { packSkill } from '../src/archives/pack-skill.ts';
import { readArchiveFile } from '../src/archives/read-archive-file.ts';
import { readSkillFolder } from '../src/archives/read-skill-folder.ts';
import { removeTree } from '../src/durable/remove-tree.ts';
import { writeTree } from '../src/durable/write-tree.ts';
import { seededRandom } from '../src/evals/seeded-random.ts';
import { skillDigest } from '../src/skills/text/digest.ts';
import { listFiles } from '../src/library/stores/cache/tree-cache.ts';
import type { BenchmarkGroup, BenchmarkOptions } from './benchmark-group.ts';
import { measurementOf, type Measurement, type Taken } from './measurement.ts';
import { takeTurns } from './take-turns.ts';

const MIB = 1024 * 1024;
const ROUNDS = 9;
const PACK = { id: 'library.pack20m', unit: 'ms', goal: 'ratio ≤ 1.6' };
const UNPACK = { id: 'library.unpack50m', unit: 'ms', goal: 'ratio ≤ 2.5' };
const BOMB = { id: 'library.bomb', unit: 'ms', goal: 'ratio ≤ 0.3' };
const BOMB_MEMORY = { id: 'library.bomb.memory', unit: 'MiB', goal: 'median ≤ 32 MiB' };
const PACK_LOOP = 'loop.pack20m';
const UNPACK_LOOP = 'loop.unpack50m';
const script = fileURLToPath(new URL('refuse-bombs.ts', import.meta.url));

/** The output of `refuse-bombs.ts`: the slowest refusal, and the refusal with the most memory. */
export interface BombReport {
  milliseconds: number;
  extraMib: number;
}

/** Archives of skills, against loops that do only the necessary work on the bytes. */
export const libraryArchives: BenchmarkGroup = { ids: [PACK.id, UNPACK.id, BOMB.id, BOMB_MEMORY.id], run };

async function run({ samples = ROUNDS, progress }: BenchmarkOptions): Promise<Measurement[]> {
  const folder = realpathSync.native(mkdtempSync(join(tmpdir(), 'bench-archives-')));
  try {
    const small = join(folder, 'small');
    writeSkill(small, 20);
    const large = join(folder, 'large');
    writeSkill(large, 49);
    const archive = join(folder, 'large.zip');
    const { archive: bytes } = await packSkill('large', readSkillFolder(large)?.tree ?? new Map(), { store: false });
    writeFileSync(archive, bytes);
    const packed = Object.entries(filesIn(large)).map(([name, content]) => [name, deflateRawSync(content)] as const);
    const bombs: BombReport[] = [];
    const clean = async (): Promise<void> => removeTree(join(folder, 'out'));
    const subjects = [
      { id: PACK_LOOP, sample: () => timed(() => packLoop(small)) },
      { id: PACK.id, sample: () => timed(() => pack(small)) },
      { id: UNPACK_LOOP, prepare: clean, sample: () => timed(() => unpackLoop(packed, join(folder, 'out'))) },
      { id: UNPACK.id, prepare: clean, sample: () => timed(() => unpack(archive, folder)) },
      {
        id: BOMB.id,
        async sample() {
          // In its own process, so that memory left by earlier work hides nothing.
          const { stdout } = await promisify(execFile)(process.execPath, ['--expose-gc', script]);
          const report = JSON.parse(stdout) as BombReport;
          bombs.push(report);
          return report.milliseconds;
        },
      },
    ];
    const values = await takeTurns(subjects, samples, progress);
    const taken = (id: string): Taken => values.get(id) ?? [];
    const loop = { id: UNPACK_LOOP, values: taken(UNPACK_LOOP) };
    const memory = 'failed' in taken(BOMB.id) ? taken(BOMB.id) : bombs.map(({ extraMib }) => extraMib);
    return [
      measurementOf({ ...PACK, values: taken(PACK.id), baseline: { id: PACK_LOOP, values: taken(PACK_LOOP) } }),
      measurementOf({ ...UNPACK, values: taken(UNPACK.id), baseline: loop }),
      measurementOf({ ...BOMB, values: taken(BOMB.id), baseline: loop }),
      measurementOf({ ...BOMB_MEMORY, values: memory, baseline: { id: 'packed', values: [10] } }),
    ];
  } finally {
    removeTree(folder);
  }
}

async function timed(work: () => Promise<void>): Promise<number> {
  const started = performance.now();
  await work();
  return performance.now() - started;
}

/** A skill with files of a megabyte, with repeated words as in a text. */
function writeSkill(folder: string, files: number): void {
  const random = seededRandom(files);
  const words = Array.from({ length: 32 }, () => random.between(36 ** 3, 36 ** 6).toString(36));
  mkdirSync(folder);
  writeFileSync(join(folder, 'SKILL.md'), '---\nname: large\ndescription: Large.\n---\nBody.\n');
  const text = Array.from({ length: MIB / 4 }, () => random.pick(words as [string, ...string[]])).join(' ');
  for (let index = 0; index < files; index += 1) {
    // Whole sentences repeat, too.
    const line = (): string => text.slice(random.between(0, text.length - 400)).slice(0, 200);
    writeFileSync(
      join(folder, `file${index}.txt`),
      Array.from({ length: MIB / 200 }, line)
        .join('')
        .slice(0, MIB),
    );
  }
}

function filesIn(folder: string): Record<string, Buffer> {
  return Object.fromEntries(readdirSync(folder).map((name) => [name, readFileSync(join(folder, name))]));
}

async function packLoop(folder: string): Promise<void> {
  for (const name of readdirSync(folder)) {
    const content = readFileSync(join(folder, name));
    crc32(content);
    await promisify(deflateRaw)(content);
  }
}

async function pack(folder: string): Promise<void> {
  await packSkill('small', readSkillFolder(folder)?.tree ?? new Map(), { store: false });
}

async function unpackLoop(packed: readonly (readonly [string, Buffer])[], out: string): Promise<void> {
  mkdirSync(out);
  for (const [name, bytes] of packed) {
    const content = await promisify(inflateRaw)(bytes);
    crc32(content);
    createHash('sha256').update(content).digest('hex');
    writeFileSync(join(out, name), content);
  }
}

async function unpack(archive: string, folder: string): Promise<void> {
  const { bytes } = await readArchiveFile(archive);
  const { tree } = onlySkill(await openArchive(bytes));
  skillDigest(listFiles(tree));
  if (!writeTree(folder, 'out', tree, 'plain')) throw new Error('Cannot measure: the folder is there already.');
}
