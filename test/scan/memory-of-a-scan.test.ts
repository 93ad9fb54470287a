import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';

/** A process with a small heap, in which a list of all findings would not fit. */
const PROGRAM = `
  import { scanTree } from ${JSON.stringify(new URL('../../src/scan/scan-tree.ts', import.meta.url).href)};
  const bytes = Buffer.from(JSON.parse(process.argv[1]).repeat(Number(process.argv[2])));
  const { findings } = scanTree(new Map([['a.md', { bytes, executable: false }]]));
  console.log(findings.length, findings[0].message);`;

describe('the memory of a scan', () => {
  it.each([
    ['hidden characters', 'a\u200b\n'],
    ['look-alikes', 'aA\u0430 '],
    ['links', '[a](b) '],
    ['comments', '<!--c-->'],
  ])('does not grow with the number of findings: %s', (_name, piece) => {
    const count = 1_000_000;
    const argv = [
      '--max-old-space-size=48',
      '--input-type=module',
      '-e',
      PROGRAM,
      JSON.stringify(piece),
      String(count),
    ];
    const { status, stdout } = spawnSync(process.execPath, argv, { encoding: 'utf8', maxBuffer: 1e8 });
    expect([status, stdout]).toEqual([
      0,
      `1001 This file has ${count} of these findings; the first 1000 are listed.\n`,
    ]);
  });
});
