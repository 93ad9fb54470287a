import { describe, expect, it } from 'vitest';
import { escapeControls, escapeJson, escapeLine } from '../../../src/cli/terminal/escape-controls.ts';

describe('escapeControls()', () => {
  it.each([
    ['an ANSI sequence', '\u001b[2J', '\\x1b[2J'],
    ['an OSC sequence', '\u001b]0;title\u0007', '\\x1b]0;title\\x07'],
    ['a C1 sequence', '\u009b31m', '\\x9b31m'],
    ['a carriage return', 'safe\rEVIL', 'safe\\rEVIL'],
    ['bidirectional controls', 'a\u202eb\u2066c\u200f', 'a\\u{202e}b\\u{2066}c\\u{200f}'],
    ['a backspace and a delete', '\b\u007f', '\\x08\\x7f'],
    ['tag characters', '\u{e0041}', '\\u{e0041}'],
  ])('writes out %s', (_name, text, escaped) => {
    expect(escapeControls(text)).toBe(escaped);
  });

  it('leaves text, line breaks, tabs and emoji as they are', () => {
    const text = 'Grüße\tשלום\n👩\u200d💻 日本\n';
    expect(escapeControls(text)).toBe(text);
  });
});

describe('escapeLine()', () => {
  it('keeps a name on one line', () => {
    expect(escapeLine('a\nb\tc')).toBe('a\\nb\\tc');
  });
});

describe('escapeJson()', () => {
  it('keeps the value, without characters that a terminal acts on', () => {
    const value = { text: '\u001b[0m\u009b\u202e\u{e0041}\u2028 é\n' };
    const escaped = escapeJson(JSON.stringify(value, null, 2));
    expect(escaped).not.toMatch(/[\u0080-\u009f\u202e\u2028\u{e0041}]/u);
    expect(JSON.parse(escaped)).toEqual(value);
  });
});
