import { createHash } from 'node:crypto';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { readFolder } from '../src/scan/read/read-folder.ts';
import { scanSources } from '../src/scan/scan-sources.ts';
import type { BenchmarkGroup } from './benchmark-group.ts';
import { SKILL_FILES } from './generate-skills.ts';
import { measureSkills } from './measure-skills.ts';

/** Scanning 1,000 skills, against a loop that only reads and hashes the same files. */
export const libraryScan: BenchmarkGroup = {
  ids: ['library.scan1000'],
  run: (options) =>
    measureSkills(
      {
        id: 'library.scan1000',
        baseline: 'loop.hash1000',
        goal: 'ratio ≤ 8',
        rounds: 15,
        // The result is the number of bytes, which must equal that of the loop.
        open(folder) {
          const root = join(folder, 'skills');
          return Promise.resolve({ work: () => scanned(root), least: () => loopThrough(root) });
        },
      },
      options,
    ),
};

function scanned(root: string): number {
  let bytes = 0;
  for (const { scannedBytes } of scanSources(readFolder(root))) bytes += scannedBytes;
  return bytes;
}

/** The minimal work of any scanner. */
function loopThrough(root: string): number {
  let bytes = 0;
  for (const name of readdirSync(root)) {
    for (const path of SKILL_FILES) {
      const content = readFileSync(join(root, name, path));
      createHash('sha256').update(content).digest('hex');
      bytes += content.length;
    }
  }
  return bytes;
}
