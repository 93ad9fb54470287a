import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type FoundForm, findEach, findForm } from '../../../src/egress/secrets/find-form.ts';
import { makePlaceholder } from '../../../src/egress/secrets/make-placeholder.ts';
import { makeWashTable } from '../../../src/egress/secrets/wash-table.ts';
import { ENCODINGS } from './encodings.ts';

const VALUES = ['ghp_16C7e42F292c6912E7710c838347Ae178B4a', 'ghp_16C7e42F', 'a "word"\\/ ü+%', '8 bytes!', 'éééé'];
/** A part of a form, mostly a whole one. */
const part = fc
  .record({
    value: fc.constantFrom(...VALUES),
    encoding: fc.constantFrom(...ENCODINGS),
    before: fc.constantFrom('', 'a', 'ÿÿ', '\n'),
    cut: fc.oneof(fc.constant(0), fc.integer({ min: -9, max: 9 })),
  })
  .map(({ value, encoding, before, cut }) => {
    const form = encoding.encode(before + value);
    return cut < 0 ? form.slice(0, cut) : form.slice(cut);
  });
const piece = fc.oneof(part, fc.string({ unit: fc.constantFrom(...'aG=%\\\n\r&+/_-'), maxLength: 20 }));

describe('findForm()', () => {
  test('finds the same as a trial at each position', () => {
    const secrets = VALUES.map((value) => ({ value, placeholder: makePlaceholder(value) }));
    const tables = [...secrets.map((secret) => [secret]), secrets].map(makeWashTable);
    let found = 0;
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 8 }), fc.boolean(), (pieces, isEnd) => {
        const bytes = Buffer.from(pieces.join(''));
        for (const table of tables) {
          let at = 0;
          for (;;) {
            const quick: FoundForm | undefined = findForm(table, bytes, at, isEnd);
            expect(quick).toEqual(findEach(table.starts, bytes, at, isEnd));
            if (quick?.end === undefined) break;
            at = quick.end;
            found += 1;
          }
        }
      }),
      { numRuns: 1000 },
    );
    expect(found).toBeGreaterThan(500);
  });
});
