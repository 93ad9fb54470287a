import { describe, expect, it } from 'vitest';
import { readZip } from '../../src/archives/zip/read-zip.ts';
import { seededRandom } from '../chaos/seeded-random.ts';
import { describeWith } from '../fixtures/describe-with.ts';
import { rawZip } from '../fixtures/archives/raw-zip.ts';
import { fuzzArchives, shown, someZip } from '../fuzz/fuzz-archives.ts';
import { missingPython, startPythonZipfile } from '../fuzz/python-zipfile.ts';

const SEEDS = 400;

describe('what is accepted', () => {
  it('is read alike by yauzl, over seeded archives with lies', async () => {
    for (let seed = 1; seed <= SEEDS; seed += 1)
      await expect(fuzzArchives(seededRandom(seed)), `seed ${seed}`).resolves.toBeUndefined();
  });
});

describeWith('what is accepted', missingPython(), () => {
  it("is read alike by Python's zipfile, over seeded archives with lies", async () => {
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

  it('fails a fuzzed case that Python reads otherwise, or not at all', async () => {
    await using python = startPythonZipfile();
    const bytes = rawZip([{ name: 'a', content: 'x' }]);
    expect(await python.read(bytes)).toEqual({ a: 'eA==' });
    await expect(python.read(bytes.subarray(1))).rejects.toThrow('Python does not read what is accepted');
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
