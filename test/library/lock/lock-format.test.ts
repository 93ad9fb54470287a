import { describe, expect, it } from 'vitest';
import { type LockedSkill, parseLock, writeLock } from '../../../src/library/lock/format/lock-format.ts';
import { digestOf, skillDigest } from '../../../src/skills/text/digest.ts';
import { codeOf } from '../../skills/code-of.ts';

const files = [
  { path: 'SKILL.md', digest: digestOf('a'), bytes: 1, executable: false },
  { path: 'run.sh', digest: digestOf('b'), bytes: 1, executable: true },
];
const bad = files.map((file) => ({ ...file, digest: 'md5:1' }));

function locked(id: string, more: Partial<LockedSkill> = {}): LockedSkill {
  return {
    id,
    version: '1.0',
    place: `.agents/skills/${id.slice(id.indexOf('.') + 1)}`,
    origin: { type: 'git', source: 'https://example.test/a', folder: '.', commit: '0'.repeat(40), ref: 'main' },
    digest: skillDigest(files),
    files,
    approval: null,
    ...more,
  };
}

const parse = (text: string): unknown => parseLock(Buffer.from(text), 'skillcell.lock.json');
const written = (...skills: LockedSkill[]): string => writeLock(new Map(skills.map((one) => [one.id, one])));

describe('the lock file', () => {
  it('has the same bytes for the same skills in any order, without a time', () => {
    const [a, b] = [locked('custom.a'), locked('custom.b', { files: files.toReversed() })];
    expect(written(b, a)).toBe(written(a, b));
    const read = parseLock(Buffer.from(written(b, a)), 'skillcell.lock.json');
    expect([...read.keys()]).toEqual(['custom.a', 'custom.b']);
    expect(writeLock(read)).toBe(written(a, b));
    expect(read.get('custom.b')).toEqual(locked('custom.b'));
  });

  it('may have quotation marks, blanks and colons in its texts, and places with a common beginning', () => {
    const approval = { by: 'Ana "A": \\', digest: skillDigest(files) };
    const skills = [locked('custom.a', { place: 'a', approval }), locked('custom.b', { place: 'ab/c' })];
    expect([...(parse(written(...skills)) as Map<string, LockedSkill>).values()]).toEqual(skills);
  });

  it.each<[string, string, string]>([
    ['no JSON', '<<<<<<< ours\n{}', 'it must hold JSON'],
    ['a later form', '{"schema":"skillcell/lock@2","new":1}', 'it is of form 2, and this version reads form 1'],
    ['another schema', '{"schema":"other@1","skills":{}}', 'schema'],
    ['a key that reaches a prototype', '{"schema":"skillcell/lock@1","skills":{"__proto__":{}}}', 'it must hold JSON'],
    ['a repeated key', written(locked('custom.a')).replace('"custom.a": {', '"custom.a": {}, "custom.a" : {'), 'twice'],
    [
      'an absolute place',
      written(locked('custom.a')).replace('.agents/skills/a', '/etc/a'),
      'must be a folder below that of',
    ],
    ['a byte order mark', `\uFEFF${written(locked('custom.a'))}`, 'byte order mark'],
    ['an id without a namespace', written(locked('custom.a')).replace('"custom.a"', '"alpha"'), 'full id'],
    ['a file with another digest', written(locked('custom.a')).replace(digestOf('a'), digestOf('c')), 'digest must be'],
    ['a place above its folder', written(locked('custom.a')).replace('.agents/skills/a', '../a'), 'place'],
    ['a place in a folder of git', written(locked('custom.a')).replace('.agents/skills/a', '.GIT/hooks'), 'place'],
    [
      'two skills in one place',
      written(locked('custom.a'), locked('custom.b', { place: '.agents/skills/a' })),
      'one place',
    ],
    [
      'a built-in skill with a place',
      written(locked('custom.a')).replace('"type": "git"', '"type": "builtin"'),
      'skills of the package have no place',
    ],
    ['a skill of a source without a place', written(locked('custom.a', { place: null })), 'all others have one'],
    ['a file that is listed twice', written(locked('custom.a', { files: [...files, ...files] })), 'listed twice'],
    ['an unknown field', written(locked('custom.a')).replace('"version"', '"verzion"'), 'version is missing'],
    ['a place beside a folder of git', written(locked('custom.a')).replace('.agents/skills/a', 'a/.ｇit/b'), 'place'],
    [
      'a file above the skill',
      written(locked('custom.a')).replace('"run.sh"', '"../run.sh"'),
      'a path below the skill',
    ],
    ['an invalid digest of a file', written(locked('custom.a', { files: bad, digest: skillDigest(bad) })), 'digest'],
    ['a negative number of bytes', written(locked('custom.a')).replace('"bytes":1', '"bytes":-1'), 'bytes'],
    ['a fraction of a byte', written(locked('custom.a')).replace('"bytes":1', '"bytes":1.5'), 'bytes'],
    [
      'a text in place of a boolean',
      written(locked('custom.a')).replace('"executable":true', '"executable":"no"'),
      'executable',
    ],
    ['an unknown field of a file', written(locked('custom.a')).replace('"bytes":1', '"bytes":1,"x":1'), 'x'],
    ['an invalid commit', written(locked('custom.a')).replace('0'.repeat(40), '--upload-pack=x'), 'commit'],
    [
      'an unknown field of an approval',
      written(locked('custom.a', { approval: { by: 'Ana', digest: skillDigest(files) } })).replace(
        '"by"',
        '"x":1,"by"',
      ),
      'x',
    ],
    [
      'an approval without a name',
      written(locked('custom.a', { approval: { by: '', digest: skillDigest(files) } })),
      'by',
    ],
    [
      'a place at any depth inside another one',
      written(locked('custom.a', { place: 'a' }), locked('custom.b', { place: 'a/b/c/d' })),
      'places within each other',
    ],
    ['too many values', `{"schema":"skillcell/lock@1","more":[${'0,'.repeat(4_000_000)}0]}`, '4000000 values'],
    ['an id with a capital letter', written(locked('custom.a')).replace('"custom.a"', '"custom.A"'), 'full id'],
    [
      'a repeated key behind an escape',
      written(locked('custom.a')).replace('"1.0"', '"1\\": 0", "version"\n: "2"'),
      'twice',
    ],
  ])('is refused with %s', (_, text, reason) => {
    expect(codeOf(() => parse(text))).toBe('lock.invalid');
    expect(() => parse(text)).toThrow(reason);
  });
});
