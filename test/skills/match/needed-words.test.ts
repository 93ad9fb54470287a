import fc from 'fast-check';
import { RE2JS } from 're2js';
import { describe, expect, test } from 'vitest';
import type { Skill } from '../../../src/contracts/skills/skill.ts';
import { foldForMention, isMentioned } from '../../../src/skills/match/mentions.ts';
import { matchSkills } from '../../../src/skills/match/triggers.ts';
import { verbForms } from '../../../src/skills/match/triggers.ts';
import { isMet } from '../../../src/skills/parse/needed-words.ts';
import { compilePatterns } from '../../../src/skills/parse/trigger-patterns.ts';
import { foldCase, foldText } from '../../../src/skills/text/words/fold-text.ts';
import { searchedText, holdsWord, soughtWord } from '../../../src/skills/text/words/sought-word.ts';
import { compareCodePoints, oneLine } from '../../../src/skills/text/text.ts';
import { hasWord } from '../../../src/skills/text/words/whole-word.ts';

/** Characters with several case forms, with none, and of several units, and those that patterns consist of. */
const CHARACTERS = [...'abkKsSxß09 \n-_.ſKẞıİiIσςΣΟüÜéßĿŒßZ中😀𐐀𐐨', 'e\u0301', '\u0345', 'DŽ', 'Dž', 'ST', 'ſt'];
const character = fc.constantFrom(...CHARACTERS);
const literal = fc.array(character, { maxLength: 6 }).map((parts) => parts.join(''));
const queryText = fc.oneof(
  fc.array(character, { maxLength: 30 }).map((parts) => parts.join('')),
  fc.string(),
);

const quoted = literal.map((text) => text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&'));
const piece = fc.constantFrom(
  ...['.', '\\d', '\\w+', '\\s*', '\\b', '\\B', '^', '$', '[^k]', '[a-z]', '[kx]', '\\pL', '\\x{212A}', '\\Qa.b\\E'],
  ...['(?i)', '(?-i)', '(?s)', '(?m)', '', '\\x73', '[[:alpha:]]', '[^\\x00-\\x{10FFFF}]', '(?-i:Ks)', '\\x{D801}'],
);
const { pattern } = fc.letrec<{ pattern: string }>((tie) => ({
  pattern: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    quoted,
    piece,
    fc.tuple(tie('pattern'), tie('pattern')).map(([a, b]) => a + b),
    fc.tuple(tie('pattern'), tie('pattern')).map(([a, b]) => `(?:${a}|${b})`),
    fc.tuple(tie('pattern'), tie('pattern')).map(([a, b]) => `${a}|${b}`),
    fc
      .tuple(tie('pattern'), fc.constantFrom('*', '+', '?', '{0}', '{2}', '{1,3}', '{0,2}', '*?', '+?', '{2,}'))
      .map(([a, times]) => `(${a})${times}`),
  ),
}));

/** The patterns that match without the filter: each is compiled and searched alone. */
function oneByOne(sources: readonly string[], query: string): string[] {
  return sources.filter((source) => {
    try {
      return RE2JS.compile(source, RE2JS.CASE_INSENSITIVE).test(query);
    } catch {
      return false; // an unusable pattern matches nothing
    }
  });
}

function bySearch(sources: readonly string[], query: string): string[] {
  const folded = searchedText(foldCase(query));
  return compilePatterns(sources)
    .patterns.filter(({ need, test }) => (need === undefined || isMet(need, folded)) && test(query))
    .map(({ source }) => source);
}

describe('neededWords()', () => {
  test('rules out no matching pattern', () => {
    const sources = fc.array(pattern, { maxLength: 5 });
    fc.assert(
      fc.property(sources, queryText, (patterns, query) => {
        expect(bySearch(patterns, query)).toEqual(oneByOne(patterns, query));
      }),
      { numRuns: 3_000 },
    );
  });

  test('rules out no literal that a text holds in another case', () => {
    const swap = (text: string, up: boolean): string => (up ? text.toUpperCase() : text.toLowerCase());
    fc.assert(
      fc.property(quoted, fc.boolean(), queryText, (source, up, around) => {
        const query = `${around}${swap(source.replaceAll('\\', ''), up)}${around}`;
        expect(bySearch([source], query)).toEqual(oneByOne([source], query));
      }),
      { numRuns: 2_000 },
    );
  });

  test('knows all case forms that the engine treats as one character', () => {
    const cased: string[] = [];
    for (let point = 0; point <= 0x10ffff; point += 1) {
      if (point >= 0xd800 && point <= 0xdfff) continue;
      const text = String.fromCodePoint(point);
      if (text.toLowerCase() !== text || text.toUpperCase() !== text) cased.push(text);
    }
    expect(cased.length).toBeGreaterThan(2_800);
    const all = cased.join('');
    for (const text of cased) {
      const matcher = RE2JS.compile(RE2JS.quote(text), RE2JS.CASE_INSENSITIVE).matcher(all);
      while (matcher.find()) expect(foldCase(matcher.group() ?? '')).toBe(foldCase(text));
    }
  });

  test.each<[string, string[]]>([
    ['greet\\s+\\w+', ['greet']],
    ['(?:from|to) csv', ['from', 'to', ' csv']],
    ['(?:from|\\d+)', []],
    ['(?:table)+s?', ['table']],
    ['(?:table)*', []],
    ['\\d{4}', []],
    ['a|', []],
    ['', []],
    ['Straße \\bＡ', ['strasse ', 'ａ']],
  ])('of %j is %j', (source, words) => {
    const [{ need } = { need: undefined }] = compilePatterns([source]).patterns;
    const found = JSON.stringify(need ?? null).matchAll(/"text":"([^"]*)"/g);
    expect(new Set(Array.from(found, ([, word]) => word))).toEqual(new Set(words));
  });
});

test('holdsWord() equals includes()', () => {
  fc.assert(
    fc.property(queryText, literal, fc.nat(40), fc.nat(8), (text, word, start, length) => {
      const where = searchedText(text);
      expect(holdsWord(where, soughtWord(word))).toBe(text.includes(word));
      expect(holdsWord(where, soughtWord(text.slice(start, start + length)))).toBe(true);
    }),
    { numRuns: 2_000 },
  );
});

test('matchSkills() finds and reports the same matches as each trigger alone', () => {
  const word = fc.oneof(literal, fc.constantFrom('greet', 'plan-b', 'a b', 'copy', 'c++', '表格', 'Straße'));
  const written = fc.array(fc.oneof(word, quoted, pattern), { minLength: 1, maxLength: 4 });
  const skill = fc.record({
    name: word,
    keywords: fc.array(word, { maxLength: 3 }),
    verbs: written,
    patterns: written,
  });
  const sentence = fc
    .array(fc.oneof(word, fc.constantFrom('greets', 'copying', 'planned', 'skill', 'sk:s0', '"s1"', ' ')), {
      maxLength: 8,
    })
    .map((parts) => parts.join(' '));
  fc.assert(
    fc.property(fc.array(skill, { maxLength: 4 }), fc.oneof(queryText, sentence), (given, query) => {
      const skills = given.map(({ name, keywords, verbs, patterns }, index): Skill => {
        const fields = { name, triggers: { keywords, verbs, patterns } };
        return { id: `public.s${index}`, skillId: `s${index}`, name, fields } as unknown as Skill;
      });
      const expected = skills.map((one) => [one.id, hitsOf(one, query)] as const).filter(([, hits]) => hits.length > 0);
      const { matches } = matchSkills(query, skills, { max: 10 });
      expect(Object.fromEntries(matches.map(({ id, hits }) => [id, hits]))).toEqual(Object.fromEntries(expected));
    }),
    { numRuns: 2_000 },
  );
});

/** The hits of one skill, with a separate search for each trigger. */
function hitsOf({ id, skillId, name, fields: { triggers } }: Skill, query: string): string[] {
  const folded = foldText(query);
  const forMention = foldForMention(query);
  const names = [skillId, id, name].map((text) => foldForMention(oneLine(text))).filter((text) => text !== '');
  return [
    ...(triggers?.keywords ?? []).filter((word) => hasWord(folded, foldText(word))).map((word) => `keyword:${word}`),
    ...(triggers?.verbs ?? [])
      .filter((verb) => verbForms(foldText(verb)).some((form) => hasWord(folded, form)))
      .map((verb) => `verb:${verb}`),
    ...oneByOne(triggers?.patterns ?? [], query).map((source) => `pattern:${source}`),
    ...(names.some((text) => isMentioned(forMention, text)) ? [`mention:${id}`] : []),
  ]
    .filter((hit, index, all) => all.indexOf(hit) === index)
    .toSorted(compareCodePoints);
}
