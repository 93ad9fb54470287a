import { describe, expect, it } from 'vitest';
import { readZip } from '../../src/archives/zip/read-zip.ts';
import { seededRandom } from '../chaos/seeded-random.ts';
import { describeWith } from '../fixtures/describe-with.ts';
import { rawZip } from '../fixtures/archives/raw-zip.ts';
import { fuzzArchives, shown, someZip } from '../fuzz/fuzz-archives.ts';
import { missingPython, startPythonZipfile } from '../fuzz/python-zipfile.ts';

const SEEDS = 400;

describe('an accepted archive', () => {
  it('gives the same files in yauzl, over seeded false archives', async () => {
    for (let seed = 1; seed <= SEEDS; seed += 1)
      await expect(fuzzArchives(seededRandom(seed)), `seed ${seed}`).resolves.toBeUndefined();
  });
});

describeWith('an accepted archive', missingPython(), () => {
  it("gives the same files in Python's zipfile, over seeded false archives", async () => {
    await using python = startPythonZipfile();
    let accepted = 0;
    for (let seed = 1; seed <= SEEDS; seed += 1) {
      const bytes = someZip(seededRandom(seed));
      const read = await readZip(bytes).catch(() => undefined);
      if (read === undefined) continue;
      accepted += 1;
      expect(await python.read(bytes), `seed ${seed}`).toEqual(shown(read));
    }
    expect(accepted).toBeGreaterThan(SEEDS / 10);
    expect(accepted).toBeLessThan(SEEDS);
  });

  it('fails the fuzzer if Python reads it differently or refuses it', async () => {
    await using python = startPythonZipfile();
    const bytes = rawZip([{ name: 'a', content: 'x' }]);
    expect(await python.read(bytes)).toEqual({ a: 'eA==' });
    await expect(python.read(bytes.subarray(1))).rejects.toThrow('Python cannot read an accepted archive');
    const accepted = await seedOfAccepted();
    const other = { ...python, read: async () => ({ other: '' }) };
    await expect(fuzzArchives(seededRandom(accepted), { python: other })).rejects.toThrow('deep');
    await expect(fuzzArchives(seededRandom(accepted), { python })).resolves.toBeUndefined();
  });
});

async function seedOfAccepted(): Promise<number> {
  for (let seed = 1; ; seed += 1)
    if (
      await readZip(someZip(seededRandom(seed))).then(
        () => true,
        () => false,
      )
    )
      return seed;
}
