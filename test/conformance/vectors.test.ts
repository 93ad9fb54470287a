import { describe, expect, test } from 'vitest';
import { readVectors, runVector } from './vectors.ts';

const folder = process.env['SKILLCELL_VECTORS'] ?? new URL('./vectors', import.meta.url).pathname;

for (const { name, cases } of readVectors(folder)) {
  describe(name, () => {
    for (const vector of cases) {
      test(`${vector.id}: ${vector.why}`, () => {
        const differences = runVector(name, vector);
        const sides = (side: 'expected' | 'actual'): unknown => differences.map((row) => [row.key, row[side]]);
        expect(sides('actual')).toEqual(sides('expected'));
        expect(differences).toEqual([]);
      });
    }
  });
}
