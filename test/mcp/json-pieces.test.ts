import { describe, expect, it } from 'vitest';
import { jsonPieces } from '../../src/mcp/server/stdio/json-pieces.ts';

const PIECE = 64 * 1024;

describe('jsonPieces()', () => {
  it.each([
    ['nothing long', { id: 1, result: { text: 'short' } }],
    ['a long text', { text: 'x'.repeat(10 * PIECE + 1), after: true }],
    [
      'two long texts, one of them a line break and quotes',
      { a: '"\n'.repeat(PIECE), b: ['y'.repeat(2 * PIECE)], c: '' },
    ],
    ['a surrogate pair at a cut', { text: `${'x'.repeat(PIECE - 1)}😀${'x'.repeat(PIECE)}` }],
    ['half a surrogate pair', { text: `${'x'.repeat(PIECE)}\ud83d` }],
  ])('is the line of a message that has %s', (_what, message) => {
    const pieces = [...jsonPieces(message)];
    const line = pieces.join('');
    expect(line.indexOf('\n')).toBe(line.length - 1);
    expect(JSON.parse(line)).toEqual(message);
    // An escape is at most six times as long as its character.
    for (const piece of pieces) expect(piece.length).toBeLessThanOrEqual(6 * PIECE);
  });

  it('is one piece for a short text', () => {
    expect([...jsonPieces({ id: 'a', text: 'x'.repeat(PIECE) })]).toHaveLength(1);
  });

  it('cuts a long text', () => {
    expect([...jsonPieces({ text: 'x'.repeat(3 * PIECE) })]).toHaveLength(5);
  });
});
