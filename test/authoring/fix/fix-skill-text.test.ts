import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fixSkillText } from '../../../src/authoring/fix/fix-skill-text.ts';
import { parseSkillMarkdown } from '../../../src/skills/parse/parse-skill.ts';

const fix = (text: string, strict = false): { text: string; changes: string[] } => {
  const { bytes, changes } = fixSkillText(Buffer.from(text), { folder: 'pdf-press', strict });
  return { text: Buffer.from(bytes).toString(), changes: changes.map(({ line, what }) => `${line}: ${what}`) };
};
const codesOf = (text: string): string[] =>
  parseSkillMarkdown(Buffer.from(text), { folder: 'pdf-press' }).diagnostics.map(({ code }) => code);

describe('fixSkillText()', () => {
  it.each([
    ['a byte order mark', '\uFEFF---\ndescription: x\n---\n', '---\ndescription: x\n---\n'],
    ['a colon and a blank', '---\ndescription: Use: this\n---\n', '---\ndescription: "Use: this"\n---\n'],
    ['a colon with a comment', '---\ndescription: a: b # c\n---\n', '---\ndescription: "a: b" # c\n---\n'],
    [
      'a value of two lines',
      '---\ndescription: a: b\n  c\nversion: 1\n---\n',
      '---\ndescription: "a: b c"\n\nversion: 1\n---\n',
    ],
    [
      'a quoted value that continues at column 0',
      '---\ndescription: "a\nb"\n---\n',
      '---\ndescription: "a\n b"\n---\n',
    ],
    [
      'a text that looks like an alias',
      '---\ndescription: *Bold* text\n---\n',
      '---\ndescription: "*Bold* text"\n---\n',
    ],
    ['a text that looks like a list', '---\ndescription: [beta] text\n---\n', '---\ndescription: "[beta] text"\n---\n'],
    [
      'two of these values',
      '---\ndescription: @x "y"\nauthor: `z`\n---\n',
      '---\ndescription: "@x \\"y\\""\nauthor: "`z`"\n---\n',
    ],
    [
      'another name',
      '---\nname: other # old\ndescription: x\n---\n',
      '---\nname: pdf-press # old\ndescription: x\n---\n',
    ],
    ['a quoted name', '---\ndescription: x\nname: "other"\n---\n', '---\ndescription: x\nname: pdf-press\n---\n'],
    [
      'a name for people',
      '---\nname: PDF Press\ndescription: x\n---\n',
      '---\nname: pdf-press\ndisplayName: PDF Press\ndescription: x\n---\n',
    ],
    ['hidden characters', '---\ndescription: a\u200bb\n---\nc\u202ed\ue000\n', '---\ndescription: ab\n---\ncd\ue000\n'],
    [
      'hidden characters as escapes',
      '---\ndescription: "a\\u200bb\\U000E0049 \\\\u200b \\x41\\xAD"\nmore: [{"k\\u202e": "\\u2060"}]\n---\n\\u200b\n',
      '---\ndescription: "ab \\\\u200b \\x41"\nmore: [{"k": ""}]\n---\n\\u200b\n',
    ],
    ['a hidden fence', '---\u200b\ndescription: x\n---\n', '---\ndescription: x\n---\n'],
  ])('mends %s', (_what, before, after) => {
    for (const end of ['\n', '\r\n']) {
      const [given, expected] = [before.replaceAll('\n', end), after.replaceAll('\n', end)];
      const fixed = fix(given);
      expect(fixed.text).toBe(expected);
      expect(fixed.changes).not.toEqual([]);
      expect(fix(fixed.text)).toEqual({ text: expected, changes: [] });
      expect(codesOf(fixed.text)).toEqual([]);
    }
  });

  it('reports each change with its line in the fixed file', () => {
    expect(fix('\uFEFF---\r\nname: PDF Press\r\ndescription: a: b\r\n  c\r\n---\r\nx\u200b\u200b').changes).toEqual([
      '1: removed the byte order mark',
      '6: removed 2 hidden characters',
      '3: put the value of description in quotes',
      '4: joined with the line above, in quotes',
      '2: set the name to "pdf-press", it was "PDF Press"',
      '3: kept the old name as displayName',
    ]);
  });

  it('adds a name, and no other key, only in strict mode', () => {
    const without = '---\ndescription: x\n---\n';
    expect(fix(without)).toEqual({ text: without, changes: [] });
    expect(fix(without, true)).toEqual({
      text: '---\nname: pdf-press\ndescription: x\n---\n',
      changes: ['2: added the name of the folder'],
    });
    expect(fix('---\nname: PDF Press\ndescription: x\n---\n', true).text).toBe(
      '---\nname: pdf-press\ndescription: x\n---\n',
    );
    expect(fix('---\nname:\ndescription: x\n---\n', true).text).toBe('---\nname: pdf-press\ndescription: x\n---\n');
  });

  it.each([
    ['no frontmatter', 'Hello: you\n'],
    ['a fault that only a person can fix', '---\ndescription: x\n  - a\n b\n---\n'],
    ['a possible comment', '---\ndescription: *x #y\n---\n'],
    ['an intended list', '---\ndescription: x\ntags: [a] b\n---\n'],
    ['an unclosed quote', '---\ndescription: "x\n---\n'],
    ['a language', '---js\ndescription: x: y\n---\n'],
    ['escapes of visible joiners', '---\ndescription: "👩\\u200d👧 \\U0001F469\\u200D👧"\n---\n'],
    ['texts that only look like escapes', '---\ndescription: \'\\u200b\' \nb: \\u200b\nc: |\n  "\\u200b"\n---\n'],
    ['visible joiners', '---\ndescription: 👩‍👧 क्‍ष\n---\n'],
    ['a name as a block', '---\nname: |\n  other\ndescription: x\n---\n'],
    ['a name in another spelling of Unicode', '---\nname: ｐｄｆ-press\ndescription: x\n---\n'],
  ])('leaves %s alone, byte for byte', (_what, text) => {
    expect(fix(text)).toEqual({ text, changes: [] });
    expect(fix(text.replaceAll('\n', '\r\n'))).toEqual({ text: text.replaceAll('\n', '\r\n'), changes: [] });
  });

  it('leaves a file that is not text alone', () => {
    for (const bytes of [Buffer.from([0xef, 0xbb, 0xbf, 0xff]), Buffer.from('---\0')])
      expect(fixSkillText(bytes, { folder: 'pdf-press', strict: true })).toEqual({ bytes, changes: [] });
  });

  it('makes only the reported changes, and none the second time, for any file', () => {
    const line = fc.constantFrom(
      ...[
        'name: pdf-press',
        'name: x y',
        'description: a: b',
        'description: c',
        '  goes on: here',
        '\tt',
        '',
        '# c',
        'x',
        '---',
        '- a: b',
      ],
      ...[
        'tags: [a',
        'when_to_use: |',
        '  - x: y',
        'author: @z',
        '"q',
        'k: "a',
        'b"',
        'e\u200b: f\u202e',
        'g: "h\\u200b\\u200d👧',
        'i\\u202e"',
        'j: ["\\xad\\n\\\\u200b"]',
        '\uFEFF',
        'a\r',
        '👩‍👧',
      ],
    );
    const file = fc.tuple(
      fc.boolean(),
      fc.array(line, { maxLength: 8 }),
      fc.array(line, { maxLength: 4 }),
      fc.constantFrom('\n', '\r\n'),
      fc.boolean(),
    );
    fc.assert(
      fc.property(file, ([mark, block, body, end, strict]) => {
        const text = `${mark ? '\uFEFF' : ''}${['---', ...block, '---', ...body].join(end)}`;
        const once = fix(text, strict);
        expect(once.changes.length === 0).toBe(once.text === text);
        expect(fix(once.text, strict)).toEqual({ text: once.text, changes: [] });
        const named = new Set(once.changes.map((change) => Number(/^\d+/.exec(change)?.[0])));
        if (once.changes.some((change) => /added|kept/.test(change))) return;
        const [before, after] = [text.replace(/^\uFEFF/, ''), once.text].map((each) => each.split('\n'));
        expect(after?.filter((each, index) => each !== before?.[index] && !named.has(index + 1))).toEqual([]);
      }),
      { numRuns: 1_000 },
    );
  });
});
