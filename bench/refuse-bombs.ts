/** Refuses archives of ten megabytes that unpack to more than the limits allow, and prints the slowest time and the largest memory of a refusal. */
import { constants, deflateRawSync, gzipSync } from 'node:zlib';
import { openArchive } from '../src/archives/open-archive.ts';
import { rawTarGz } from '../test/fixtures/archives/raw-tar.ts';
import { rawZip, type RawZipEntry } from '../test/fixtures/archives/raw-zip.ts';
import { forgetPeak, peakMemory } from '../test/fixtures/peak-memory.ts';
import type { BombReport } from './library-archives.ts';

const MIB = 1024 * 1024;
const PACKED = 9.9 * MIB;
const SKILL = { name: 'SKILL.md', content: 'x' };

const block = deflateRawSync(Buffer.alloc(MIB), { level: 9, finishFlush: constants.Z_FULL_FLUSH });
const repeated = (of: Buffer): Buffer =>
  Buffer.concat([...Array.from({ length: Math.floor(PACKED / of.length) }, () => of), deflateRawSync('')]);
/** Zeros that unpack to a thousand times the size. */
const zeros = repeated(block);
/** Bytes without repetition, which take the longest to inflate. */
const noise = Buffer.from(Array.from({ length: MIB }, (_, index) => (Math.imul(index, 2_654_435_761) >>> 13) & 0x3f));
const slow = repeated(deflateRawSync(noise, { finishFlush: constants.Z_FULL_FLUSH }));
const bomb = (packed: Buffer, size: number): RawZipEntry => ({ name: 'bomb', method: 8, packed, size, crc: 0 });

const CASES: [string, () => Buffer][] = [
  ['H08 declares 49 MiB', () => rawZip([SKILL, bomb(zeros, 49 * MIB)])],
  ['H08 declares its true size', () => rawZip([SKILL, bomb(zeros, 0xffff_fff0)])],
  ['H08 in TAR', () => rawTarGz([SKILL, { name: 'bomb', content: Buffer.alloc(60 * MIB) }])],
  [
    'H09',
    () =>
      rawZip([
        SKILL,
        bomb(slow, MIB),
        ...Array.from({ length: 40 }, (_, index) => ({
          ...bomb(slow, MIB),
          name: `b${index}`,
          elsewhere: true,
          offset: 39,
        })),
      ]),
  ],
  ['H10 declares ten bytes', () => rawZip([SKILL, bomb(slow, 10)])],
  [
    'H10 declares 4 GiB',
    () => rawZip([SKILL, { name: 'a', content: 'ten bytes.', method: 8, size: 0xffff_fff0 }, bomb(slow, 10)]),
  ],
  ['H11', () => rawZip(Array.from({ length: 65_000 }, (_, index) => ({ name: `f${index}`, content: 'x'.repeat(40) })))],
];

const report: BombReport = { milliseconds: 0, extraMib: 0 };
await openArchive(rawZip([SKILL]));
await openArchive(gzipSync('')).catch(() => undefined);
for (const [name, archive] of CASES) {
  const bytes = archive();
  globalThis.gc?.();
  const before = forgetPeak(process.pid);
  const started = performance.now();
  const taken = await openArchive(bytes).then(
    () => true,
    () => false,
  );
  if (taken) throw new Error(`Cannot measure refusals: an archive was taken, got ${name}.`);
  const milliseconds = performance.now() - started;
  const extraMib = (peakMemory(process.pid) - before) / MIB;
  process.stderr.write(`${name}: ${milliseconds.toFixed(0)} ms, ${extraMib.toFixed(1)} MiB\n`);
  report.milliseconds = Math.max(report.milliseconds, milliseconds);
  report.extraMib = Math.max(report.extraMib, extraMib);
}
process.stdout.write(`${JSON.stringify(report)}\n`);
