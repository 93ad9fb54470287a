import { execFileSync } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { removeTree } from '../../src/durable/remove-tree.ts';
import { readZip } from '../../src/archives/read-zip.ts';
import { seededRandom } from '../chaos/seeded-random.ts';
import { describeWith, MISSING_PYTHON } from '../fixtures/describe-with.ts';
import { fuzzArchives, shown, someZip } from '../fuzz/fuzz-archives.ts';

const SEEDS = 400;

describe('what is accepted', () => {
  it('is read alike by yauzl, over seeded archives with lies', async () => {
    for (let seed = 1; seed <= SEEDS; seed += 1)
      await expect(fuzzArchives(seededRandom(seed)), `seed ${seed}`).resolves.toBeUndefined();
  });
});

describeWith('what is accepted', MISSING_PYTHON, () => {
  it("is read alike by Python's zipfile, over seeded archives with lies", async () => {
    const folder = mkdtempSync(join(tmpdir(), 'read-alike-'));
    const expected: Record<string, Record<string, string>> = {};
    try {
      for (let seed = 1; seed <= SEEDS; seed += 1) {
        const bytes = someZip(seededRandom(seed));
        const read = await readZip(bytes).catch(() => undefined);
        if (read === undefined) continue;
        expected[`${seed}.zip`] = shown(read);
        writeFileSync(join(folder, `${seed}.zip`), bytes);
      }
      writeFileSync(join(folder, 'read.py'), PROGRAM);
      const out = execFileSync('/usr/bin/python3', ['read.py'], { cwd: folder, encoding: 'utf8', maxBuffer: 2 ** 28 });
      expect(JSON.parse(out)).toEqual(expected);
      expect(Object.keys(expected).length).toBeGreaterThan(SEEDS / 10);
      expect(Object.keys(expected).length).toBeLessThan(SEEDS);
    } finally {
      removeTree(folder);
    }
  });
});

const PROGRAM = `
import base64, glob, json, zipfile
read = {}
for path in glob.glob("*.zip"):
    files = read[path] = {}
    with zipfile.ZipFile(path) as archive:
        for info in archive.infolist():
            name = info.orig_filename.encode("utf-8" if info.flag_bits & 0x800 else "cp437").decode("utf-8")
            if name.endswith("/"): continue
            out = any(part.startswith("._") for part in name.split("/"))
            files[name] = "" if out else base64.b64encode(archive.read(info)).decode()
print(json.dumps(read))
`;
