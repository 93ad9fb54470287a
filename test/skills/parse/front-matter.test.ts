import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readFrontMatter } from '../../../src/skills/parse/front-matter.ts';
import { parseSkillMarkdown } from '../../../src/skills/parse/parse-skill.ts';
import type { ParsedSkill } from '../../../src/skills/parse/parse-skill.ts';
import { validateStrict } from '../../../src/skills/parse/strict-validate.ts';
import { cpuMs } from '../../fixtures/cpu-ms.ts';

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const parse = (text: string): ParsedSkill => parseSkillMarkdown(bytes(text), { folder: 'alpha' });
const codes = (text: string): string[] => parse(text).diagnostics.map(({ code }) => code);
const skill = (lines: string): string => `---\nname: alpha\ndescription: Does things.\n${lines}\n---\nBody.\n`;

describe('threats to frontmatter', () => {
  test.each(['js', 'javascript', 'JS', ' js ', 'coffee', 'toml', 'json', 'yaml', '\u00a0', '\rx'])(
    'I01 a fence with %j behind it is refused and nothing in it runs',
    (language) => {
      const canary = globalThis as { skillcellCanary?: number };
      const text = `---${language}\n{ description: (globalThis.skillcellCanary = 1, "x") }\n---\nBody.\n`;
      expect(codes(text)).toEqual(['frontmatter.language']);
      expect(canary.skillcellCanary).toBeUndefined();
    },
  );

  test.each(['constructor', '__proto__', 'toString'])('I02 a fence named %s is refused', (language) => {
    expect(codes(`---${language}\na: 1\n---\n`)).toEqual(['frontmatter.language']);
  });

  test('I03 an invalid file is invalid the second time too', () => {
    const text = skill('tags: [a');
    expect(codes(text)).toEqual(['frontmatter.yaml']);
    expect(codes(text)).toEqual(['frontmatter.yaml']);
  });

  test('I04 changing a result does not change the next reading', () => {
    const text = skill('tags: [a]\nmetadata: {k: {deep: 1}}\nother: {x: 1}');
    const first = parse(text);
    first.fields.tags?.push('b');
    first.fields.metadata!['k'] = 'changed';
    (first.extra['other'] as Record<string, unknown>)['x'] = 2;
    const second = parse(text);
    expect(second.fields.tags).toEqual(['a']);
    expect(second.fields.metadata).toEqual({ k: { deep: 1 } });
    expect(second.extra).toEqual({ other: { x: 1 } });
  });

  test.each(['a: &a [x]\nb: [*a, *a]', 'a: &a {b: *a}', 'a: *missing'])('I05 aliases are refused: %j', (lines) => {
    expect(codes(skill(lines))).toEqual(['frontmatter.yaml']);
  });

  test('I06 merge keys are ordinary keys, however many there are', () => {
    const { loaded, extra, fields } = parse(skill('<<: {license: MIT, version: 2}\nx: {<<: []}'));
    expect(loaded).toBe(true);
    expect(fields).not.toHaveProperty('license');
    expect(extra).toEqual({ '<<': { license: 'MIT', version: 2 }, x: { '<<': [] } });
  });

  test('I07 __proto__ is a key like any other and pollutes nothing', () => {
    const lines =
      '__proto__: {polluted: 1}\nmetadata: {__proto__: {polluted: 2}, constructor: x}\nx: {<<: {__proto__: {polluted: 3}}}';
    const { loaded, fields, extra } = parse(skill(lines));
    expect(loaded).toBe(true);
    expect(Object.getPrototypeOf(extra)).toBe(Object.prototype);
    expect(Object.getPrototypeOf(fields.metadata)).toBe(Object.prototype);
    expect(Object.getOwnPropertyDescriptor(extra, '__proto__')?.value).toEqual({ polluted: 1 });
    expect({ ...extra }).not.toHaveProperty('polluted');
    expect({} as { polluted?: number }).not.toHaveProperty('polluted');
    expect(validateStrict('alpha', bytes(skill('__proto__: {a: 1}')), 'SKILL.md').map(({ code }) => code)).toEqual([
      'strict.field-unknown',
    ]);
  });

  test.each([
    '!!js/function "function () {}"',
    '!!binary aGk=',
    '!!timestamp 2026-01-01',
    '!!set {a}',
    '!!omap [a: 1]',
    '!custom x',
    '! x',
    '!<tag:example.com,2026:x> y',
    '!!int abc',
    '!!seq x',
  ])('I08 the tag of %j is refused', (value) => {
    expect(codes(skill(`x: ${value}`))).toEqual(['frontmatter.yaml']);
    expect(codes(skill(`x: {y: [${value}]}`))).toEqual(['frontmatter.yaml']);
  });

  test('I08 tags of the core schema are read', () => {
    const lines =
      'a: !!int 0x1F\nb: !!float 1.5\nc: !!bool true\nd: !!null ~\ne: !!str 1\nf: !!seq [1]\ng: !!map {h: 1}\ni: !<tag:yaml.org,2002:str> 2';
    expect(parse(skill(lines)).extra).toEqual({ a: 31, b: 1.5, c: true, d: null, e: '1', f: [1], g: { h: 1 }, i: '2' });
  });

  test.each<[string, string, string]>([
    ['depth 100,000', skill(`x: ${'['.repeat(100_000)}`), 'frontmatter.too-large'],
    ['depth within the limit', skill(`x: ${'['.repeat(8000)}`), 'frontmatter.yaml'],
    ['depth by keys within the limit', skill('? '.repeat(8000)), 'frontmatter.yaml'],
    ['10 MB', skill(`x: ${'y'.repeat(10_000_000)}`), 'skill.too-large'],
    ['a key of 900 KB', skill(`${'k'.repeat(900_000)}: 1`), 'frontmatter.too-large'],
    ['300,000 lines without an end', `---\n${'x\n'.repeat(300_000)}`, 'frontmatter.unclosed'],
    ['100,000 ruled lines that are not fences', `---\n${'---x\n'.repeat(100_000)}`, 'frontmatter.unclosed'],
  ])('I09 %s ends quickly with one error', (_, text, code) => {
    // Twenty milliseconds of CPU time on an idle machine; without our limits, minutes.
    expect(cpuMs(() => expect(codes(text)).toEqual([code]))).toBeLessThan(2_000);
  });

  test.each<[string, unknown]>([
    ['yes', 'yes'],
    ['on', 'on'],
    ['1e999', Infinity],
    ['0x', '0x'],
    ['.nan', NaN],
    ['0777', 777],
    ['0o17', 15],
  ])('I10 the value %s is that of YAML 1.2 core', (written, value) => {
    expect(parse(skill(`x: ${written}`)).extra).toEqual({ x: value });
  });

  test.each(['a: 1\na: 2', 'x: {y: 1, "y": 2}', '1: a\n"1": b\n1: c', 'x:\n\ty: 1', 'a: 1\n...\nb: 2', 'a: 1\n--- x'])(
    'I10 refused: %j',
    (lines) => {
      expect(codes(skill(lines))).toEqual(['frontmatter.yaml']);
    },
  );

  test.each<[string, ...string[]]>([
    ['""', 'skill.description-missing'],
    ['~', 'skill.description-missing'],
    ['[a]', 'skill.field-type', 'skill.description-missing'],
    ['{a: b}', 'skill.field-type', 'skill.description-missing'],
    ['x'.repeat(1025), 'skill.description-long'],
  ])('I11 the description %s is reported', (description, ...expected) => {
    expect(codes(`---\nname: alpha\ndescription: ${description}\n---\n`)).toEqual(expected);
  });

  test('I11 markup in a description is text', () => {
    expect(parse('---\ndescription: <script>alert(1)</script>\n---\n').fields.description).toBe(
      '<script>alert(1)</script>',
    );
  });

  test('I12 allowed-tools is a list of texts, metadata is text to text in strict mode', () => {
    expect(parse(skill('allowed-tools: Bash(*)')).fields.allowedTools).toEqual(['Bash(*)']);
    expect(validateStrict('alpha', bytes(skill('metadata: {a: {b: 1}}')), 'SKILL.md').map(({ code }) => code)).toEqual([
      'strict.metadata',
    ]);
  });
});

describe('recovery of unquoted colons', () => {
  const values = (lines: string): Record<string, unknown> => {
    const read = parse(`---\ndescription: D\n${lines}\n---\n`);
    return { ...read.extra, codes: read.diagnostics.map(({ code }) => code) };
  };

  test('quotes values at any depth, in lists of maps too, and keeps comments out', () => {
    expect(values('x:\n  y: a: b\n  z: http://x.y: yes # why: because')).toEqual({
      x: { y: 'a: b', z: 'http://x.y: yes' },
      codes: ['frontmatter.recovered'],
    });
    expect(values('x:\n  - k: a: b\n    l: end:\n  - k: plain')).toEqual({
      x: [{ k: 'a: b', l: 'end:' }, { k: 'plain' }],
      codes: ['frontmatter.recovered'],
    });
  });

  test('folds continuation lines as YAML does', () => {
    expect(values('x: a: b\n  c\n\n  d\n\n\n  e # f\ny: 1')).toEqual({
      x: 'a: b c\nd\n\ne',
      y: 1,
      codes: ['frontmatter.recovered'],
    });
  });

  test('ends a value at a comment line', () => {
    expect(values('x: a: b\n  # note: this\ny: 1')).toEqual({ x: 'a: b', y: 1, codes: ['frontmatter.recovered'] });
  });

  test('leaves quoted, flow and block values alone, also in lists', () => {
    const untouched =
      'b: |\n  k: v: w\n\n  k: v: w\nq: "one\n  k: v: w"\ns:\n  - >-\n    k: v: w\n  - "k: v: w"\nt: !!str |\n  k: v: w\n';
    expect(values(`${untouched}x: a: b`)).toEqual({
      b: 'k: v: w\n\nk: v: w\n',
      q: 'one k: v: w',
      s: ['k: v: w', 'k: v: w'],
      t: 'k: v: w\n',
      x: 'a: b',
      codes: ['frontmatter.recovered'],
    });
  });

  test('names the line of the first fault', () => {
    const read = parse('---\nname: alpha\ndescription: a\nx: b: c\n---\n');
    expect(read.diagnostics).toEqual([
      expect.objectContaining({ code: 'frontmatter.recovered', line: 4, path: 'SKILL.md' }),
    ]);
  });

  test('is not part of strict mode', () => {
    expect(readFrontMatter('---\na: b: c\n---\n', { recover: false }).ok).toBe(false);
    expect(readFrontMatter('---\na: b: c\n---\n', { recover: true }).ok).toBe(true);
  });
});

describe('fields', () => {
  test('keep unusable parts of triggers and provider in extra', () => {
    const { fields, extra, diagnostics } = parse(
      skill('triggers: {keywords: "a, b", verbs: {x: 1}, patterns: one, other: 2}\nprovider: {module: m, class: [c]}'),
    );
    expect(fields.triggers).toEqual({ keywords: ['a', 'b'], patterns: ['one'] });
    expect(fields.provider).toEqual({ module: 'm' });
    expect(extra).toEqual({ triggers: { verbs: { x: 1 }, other: 2 }, provider: { class: ['c'] } });
    expect(diagnostics.map(({ code }) => code)).toEqual(['skill.field-type', 'skill.field-type']);
  });

  test.each([
    ['displayName', '[x]', 'a text'],
    ['category', '{a: b}', 'a text'],
    ['default_enabled', '"yes"', 'true or false'],
    ['disable-model-invocation', '"no"', 'true or false; this one counts as true'],
    ['tags', '{a: b}', 'a text cut at commas, or a list of texts'],
    ['scripts', '[[x]]', 'a text, or a list of texts'],
    ['when_to_use', '{a: b}', 'a text cut at lines, or a list of texts'],
    ['import', '[{a: b}]', 'a text cut at lines and commas, or a list of texts'],
    ['allowed-tools', '{a: b}', 'a text cut at commas and blanks, or a list of texts'],
    ['metadata', '[x]', 'a map'],
    ['tools', 'x', 'a list'],
    ['triggers', '[{a: b}]', 'a map of keywords, verbs and patterns, a text cut at commas, or a list of texts'],
    ['provider', 'x', 'a map of module and class'],
  ])('of an unusable shape name the allowed values of %s', (key, value, allowed) => {
    expect(parse(skill(`${key}: ${value}`)).diagnostics).toEqual([
      {
        code: 'skill.field-type',
        severity: 'warning',
        message: `The value of ${key} must be ${allowed}.`,
        path: 'SKILL.md',
        line: 4,
        column: 1,
      },
    ]);
  });

  test('of an unusable shape in triggers and provider are named, each at its own line', () => {
    const { fields, diagnostics } = parse(
      skill(
        'triggers:\n  keywords: [a]\n  verbs: {a: b}\n  patterns: [{a: b}]\n  other: {a: b}\nprovider:\n  module: m\n  class: [c]',
      ),
    );
    expect(fields).toMatchObject({ triggers: { keywords: ['a'] }, provider: { module: 'm' } });
    expect(diagnostics.map(({ message, line, column }) => [message, line, column])).toEqual([
      ['The value of triggers.verbs must be a text cut at commas, or a list of texts.', 6, 3],
      ['The value of triggers.patterns must be a text, or a list of texts.', 7, 3],
      ['The value of provider.class must be a text.', 11, 3],
    ]);
  });

  test('that are null or empty count as absent', () => {
    const { fields, extra, diagnostics } = parse(
      skill('tags: []\nauthor: ~\nlicense: ""\nmetadata: {}\nimport:\ntriggers: {keywords: []}\ntools: []'),
    );
    expect(fields).toEqual({ name: 'alpha', description: 'Does things.' });
    expect(extra).toEqual({});
    expect(diagnostics).toEqual([]);
  });

  test('report hidden characters that come out of a YAML escape', () => {
    expect(codes(skill('x: {y: ["a\\u200Bb"]}'))).toEqual(['skill.hidden-text']);
    expect(codes(skill('x: {y: ["a\\u0062b"]}'))).toEqual([]);
  });
});

test('parseSkillMarkdown() and validateStrict() never throw, for any bytes', () => {
  const pieces = fc.constantFrom(
    '---\n',
    'name',
    ': ',
    '- ',
    '"',
    "'",
    '[',
    ']',
    '{',
    '}',
    '|',
    '>',
    '&a ',
    '*a ',
    '!',
    '#',
    '\n',
    '  ',
    '? ',
    ',',
    '\\u',
    '<<',
    '%',
    '@',
    'é',
    '\u200b',
    'description',
  );
  const texts = fc.array(pieces, { maxLength: 40 }).map((parts) => `---\n${parts.join('')}\n---\nBody`);
  fc.assert(
    fc.property(fc.oneof(texts.map(bytes), fc.uint8Array({ maxLength: 200 })), (input) => {
      const read = parseSkillMarkdown(input, { folder: 'alpha' });
      expect(read.loaded).toBe(!read.diagnostics.some(({ severity }) => severity === 'error'));
      validateStrict('alpha', input, 'SKILL.md');
    }),
    { numRuns: 500 },
  );
});
