import { describe, expect, it } from 'vitest';
import type { SkillTree } from '../../../src/contracts/skills/skill.ts';
import { skillDifference } from '../../../src/library/install/steps/skill-difference.ts';
import { digestOf } from '../../../src/skills/text/digest.ts';

/** Files with their texts; a text with `#!` at the start is executable. */
type Texts = Readonly<Record<string, string>>;

const treeOf = (texts: Texts): SkillTree =>
  new Map(
    Object.entries(texts).map(([path, text]) => [
      path,
      { bytes: Buffer.from(text), executable: text.startsWith('#!') },
    ]),
  );

/** The difference of the files; those in `lost` are locked, but their bytes are gone. */
async function filesOf(before: Texts, after: Texts, lost: Texts = {}): Promise<unknown[]> {
  const files = [...treeOf({ ...before, ...lost })].map(([path, { bytes, executable }]) => ({
    path,
    digest: digestOf(bytes),
    bytes: bytes.length,
    executable,
  }));
  const { files: rows } = await skillDifference(
    { tree: treeOf(before), skill: undefined, files },
    { tree: treeOf(after), skill: undefined },
  );
  return rows;
}

describe('skillDifference()', () => {
  const BINARY = '\0binary';
  it.each<[string, unknown[], Texts, Texts, Texts?]>([
    ['equal files', [], { a: 'one\n' }, { a: 'one\n' }],
    ['a changed file', [{ state: 'changed', lines: '@@ -1,1 +1,1 @@\n-one\n+two\n' }], { a: 'one\n' }, { a: 'two\n' }],
    ['an added file', [{ state: 'added', lines: '@@ -0,0 +1,1 @@\n+one\n' }], {}, { a: 'one\n' }],
    ['a removed file', [{ state: 'removed', lines: '@@ -1,1 +0,0 @@\n-one\n' }], { a: 'one\n' }, {}],
    ['an added program', [{ state: 'added', executable: true, lines: '@@ -0,0 +1,1 @@\n+#!a\n' }], {}, { a: '#!a\n' }],
    ['an added file without text', [{ state: 'added', lines: '' }], {}, { a: '' }],
    ['a removed program', [{ state: 'removed', lines: '@@ -1,1 +0,0 @@\n-#!a\n' }], { a: '#!a\n' }, {}],
    ['binary bytes', [{ state: 'changed' }], { a: BINARY }, { a: `${BINARY}2` }],
    ['lost bytes', [{ state: 'changed' }], {}, { a: 'two\n' }, { a: 'one\n' }],
    ['lost bytes that are equal', [], {}, { a: 'one\n' }, { a: 'one\n' }],
  ])('shows %s', async (_name, rows, before, after, lost) => {
    const expected = rows.map((row) => ({ path: 'a', ...(row as object) }));
    expect(await filesOf(before, after, lost)).toEqual(expected);
  });

  it.each([true, false])('shows an executable bit that becomes %s beside equal bytes', async (executable) => {
    const stateOf = (isProgram: boolean): { tree: SkillTree; skill: undefined } => ({
      tree: new Map([['a', { bytes: Buffer.from('run\n'), executable: isProgram }]]),
      skill: undefined,
    });
    const files = [{ path: 'a', digest: digestOf('run\n'), bytes: 4, executable: !executable }];
    const { files: rows } = await skillDifference({ ...stateOf(!executable), files }, stateOf(executable));
    expect(rows).toEqual([{ path: 'a', state: 'changed', executable, lines: '' }]);
  });
});
