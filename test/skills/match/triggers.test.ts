import { describe, expect, test } from 'vitest';
import type { Skill } from '../../../src/contracts/skills/skill.ts';
import { asksForSkills } from '../../../src/skills/match/asks-for-skills.ts';
import { foldText } from '../../../src/skills/text/words/fold-text.ts';
import { parseSkillMarkdown } from '../../../src/skills/parse/parse-skill.ts';
import { compilePatterns } from '../../../src/skills/parse/trigger-patterns.ts';
import { createTriggerSession } from '../../../src/skills/match/trigger-session.ts';
import { matchSkills } from '../../../src/skills/match/triggers.ts';
import { verbForms } from '../../../src/skills/match/triggers.ts';
import { hasWord } from '../../../src/skills/text/words/whole-word.ts';
import { cpuMs } from '../../fixtures/cpu-ms.ts';

/** A skill in the form of the loader, with the fields that matching reads. */
function skillOf(skillId: string, frontMatter: string): Skill {
  const bytes = new TextEncoder().encode(`---\nname: ${skillId}\ndescription: D.\n${frontMatter}\n---\nBody.\n`);
  const { fields, extra, body, brief, diagnostics } = parseSkillMarkdown(bytes, { folder: skillId });
  const place = { rootKind: 'builtin' as const, root: 0, rootPath: '', dir: skillId };
  const content = { fields, extra, body, brief, tools: [], sources: [], files: [], digest: '', diagnostics };
  return { id: `public.${skillId}`, namespace: 'public', skillId, name: skillId, ...place, ...content };
}

const long = 'a'.repeat(100_000);

describe('threats by patterns', () => {
  test.each<[string, string, boolean]>([
    ['^(a+)+$', `${long}b`, false],
    ['^(a|aa)+$', `${long}b`, false],
    ['(.*a){20}', long, true],
    ['([a-zA-Z]+)*\\d', long, false],
    ['\\s+$', `${' '.repeat(100_000)}x`, false],
    ['(.*)*(.*)*(.*)*(.*)*z', long, false],
    ['x{1000}y', 'x'.repeat(100_000), false],
  ])('J01 J02 %s takes linear time', (pattern, query, found) => {
    const { patterns, diagnostics } = compilePatterns([pattern]);
    expect(diagnostics).toEqual([]);
    // A backtracking engine would need longer than the age of the universe.
    expect(cpuMs(() => expect(patterns[0]?.test(query)).toBe(found))).toBeLessThan(2000);
  });

  test.each([
    'foo(?=bar)',
    '(?!y)f',
    '(?<=a)b',
    '(?<!x)bar',
    '(o)\\1',
    '\\k<n>',
    '(?>a)',
    'a{1001}',
    '((a{1000}){1000}){1000}',
    'x'.repeat(513),
    'x'.repeat(100_000),
    '[',
    '(',
    '*',
    '\\u{110000}',
    '\ud800',
  ])('J03 J04 the pattern %j is refused when the skill is read', (pattern) => {
    const { patterns, diagnostics } = compilePatterns([pattern, 'ok']);
    expect(diagnostics.map(({ code, severity }) => [code, severity])).toEqual([['trigger.pattern', 'warning']]);
    expect(patterns.map(({ source }) => source)).toEqual(['ok']);
  });

  test('J03 only the first fifty patterns count', () => {
    const { patterns, diagnostics } = compilePatterns(Array.from({ length: 10_000 }, (_, index) => `q${index}`));
    expect(patterns).toHaveLength(50);
    expect(diagnostics.map(({ code }) => code)).toEqual(['trigger.too-many']);
  });

  test('J04 a pattern keeps no state between queries', () => {
    const [pattern] = compilePatterns(['ab']).patterns;
    expect([1, 2, 3].map(() => pattern?.test('xAb'))).toEqual([true, true, true]);
    expect(pattern?.test('ba')).toBe(false);
  });

  test('refused patterns are diagnostics of the skill', () => {
    expect(
      skillOf('x', 'triggers: {patterns: ["(?=a)", "(b)\\\\1", fine]}').diagnostics.map(({ code }) => code),
    ).toEqual(['trigger.pattern', 'trigger.pattern']);
  });
});

describe('hasWord()', () => {
  test.each<[string, string, boolean]>([
    ['use c++ now', 'c++', true],
    ['c++11', 'c++', false],
    ['asp.net', '.net', false],
    ['a .net app', '.net', true],
    ['ünpdf', 'pdf', false],
    ['pdf_x', 'pdf', false],
    ['𝒜pdf', 'pdf', false],
    ['😀pdf😀', 'pdf', true],
    ['转成pdf格式', 'pdf', true],
    ['a表格b', '表格', true],
    ['pdfs pdf', 'pdf', true],
    ['', 'pdf', false],
    ['pdf', '', false],
  ])('in %j looks for %j', (text, word, found) => {
    expect(hasWord(text, word)).toBe(found);
  });
});

test('foldText() folds case beyond lower case and composes', () => {
  expect(foldText('STRASSE')).toBe(foldText('straße'));
  expect(foldText('STRAẞE')).toBe(foldText('straße'));
  expect(foldText('ΟΔΟΣ')).toBe(foldText('οδος'));
  expect(foldText('re\u0301sume\u0301')).toBe(foldText('RÉSUMÉ'));
  expect(foldText(' a \n\t b ')).toBe('a b');
  expect(foldText('ı')).not.toBe(foldText('i'));
});

test('verbForms() knows silent e, y and doubled consonants', () => {
  expect(verbForms('write')).toEqual(expect.arrayContaining(['write', 'writes', 'writing', 'writed']));
  expect(verbForms('copy')).toEqual(expect.arrayContaining(['copies', 'copied', 'copying']));
  expect(verbForms('play')).not.toContain('plaies');
  expect(verbForms('plan')).toEqual(expect.arrayContaining(['planned', 'planning']));
});

test.each<[string, boolean]>([
  ['What can you do?', true],
  ['what else can you do for me', true],
  ['WHAT CAN YOU DO HERE?!', true],
  ['what are your capabilities', true],
  ['skills', true],
  ['Available skills?', true],
  ['which skills are there?', true],
  ['What capabilities do you have?', true],
  ['please show me all the available skills', true],
  ['List your skills, please.', true],
  ['list skills for nursing', false],
  ['capabilities', false],
  ['what skill do I need', false],
  ['what can you do with this pdf', false],
  ['', false],
])('asksForSkills(%j) is %s', (query, asks) => {
  expect(asksForSkills(query)).toBe(asks);
});

describe('matchSkills()', () => {
  const greeter = skillOf('greeter', 'triggers: {keywords: [hello]}');
  const press = skillOf('pdf-press', 'triggers: {keywords: [pdf]}');
  const ids = (query: string, options = {}): string[] =>
    matchSkills(query, [greeter, press], options).matches.map(({ id }) => id);

  test.each<[string, boolean]>([
    ['the greeter said', false],
    ['use "greeter"', true],
    ['use “Greeter”', true],
    ['use `greeter`', true],
    ["greeter's", false],
    ['sk:greeter', true],
    ['ask:greeter', false],
    ['the greeter skill', true],
    ['skill greeter', true],
    ['skillful greeter', false],
    ['the greeter skillfully', false],
    ['public.greeter', true],
  ])('takes %j as a mention of a one-word id: %s', (query, mentioned) => {
    expect(ids(query)).toEqual(mentioned ? ['public.greeter'] : []);
  });

  test('returns no more skills than asked for, and ranks recent ones first among equals', () => {
    expect(ids('hello pdf')).toEqual(['public.greeter', 'public.pdf-press']);
    expect(ids('hello pdf', { recent: ['public.pdf-press'] })).toEqual(['public.pdf-press', 'public.greeter']);
    expect(ids('hello pdf', { max: 1 })).toEqual(['public.greeter']);
  });

  test('leaves a skill with default_enabled: false out', () => {
    const quiet = skillOf('quiet', 'triggers: {keywords: [pdf]}\ndefault_enabled: false');
    expect(matchSkills('pdf', [quiet], {})).toEqual({
      ...{ tier: 1, text: '[1 skills available]\n', matches: [] },
      leftOut: [{ id: 'public.quiet', reason: 'default_enabled: false' }],
    });
  });
});

describe('a trigger session', () => {
  const press = skillOf('pdf-press', 'triggers: {keywords: [pdf]}');

  test('does not keep a skill active that the consumer may no longer see', () => {
    const session = createTriggerSession();
    expect(session.turn({ query: 'pdf', skills: [press] }).active).toEqual(['public.pdf-press']);
    expect(session.turn({ query: 'x', skills: [] }).active).toEqual([]);
    expect(session.turn({ query: 'x', skills: [press] }).active).toEqual(['public.pdf-press']);
  });

  test('is not changed by a question for the skills', () => {
    const session = createTriggerSession();
    expect(session.turn({ query: 'list skills', skills: [press] })).toMatchObject({ tier: 2, active: [] });
  });
});

test.each([
  ['보고서', '보고서를 작성해줘', true],
  ['보고서', '보고서들에서는 무엇이', true],
  ['요약', '이 글을 요약해줘', true],
  ['pdf', 'PDF로 만들어줘', true],
  ['보고서', '보고서체 글꼴', false],
  ['보고', '보고서 작성', false],
  ['report', 'reports를 써줘', false],
])('a Korean particle or ending behind a word does not stop a match: %s in %s', (word, query, expected) => {
  expect(hasWord(foldText(query), foldText(word))).toBe(expected);
});
