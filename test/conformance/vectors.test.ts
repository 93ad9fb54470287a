import { describe, expect, test } from 'vitest';
import { readVectors, runVector } from './vectors.ts';

const folder = process.env['SKILLCELL_VECTORS'] ?? new URL('./vectors', import.meta.url).pathname;

for (const { name, cases } of readVectors(folder)) {
  describe(name, () => {
    for (const vector of cases) {
      test(`${vector.id}: ${vector.why}`, () => {
        for (const { key, expected, actual } of runVector(name, vector))
          expect({ [key]: actual }).toEqual({ [key]: expected });
      });
    }
  });
}
