import { describe, expect, test } from 'vitest';
import type { SkillcellError } from '../../../src/contracts/errors/skillcell-error.ts';
import { exportRuntimeGlobals, setSkillsDescriptor } from '../../../src/skills/index.ts';
import { withLibrary } from '../../conformance/library.ts';
import { codeOf } from '../code-of.ts';
import { skillText } from '../text/skill-text.ts';

const LINES = Array.from({ length: 2_500 }, (_, index) => `line ${index}\n`).join('');

const files = {
  'a/SKILL.md': skillText('a', 'A.'),
  'a/lines.txt': LINES,
  'a/windows.txt': '\ufeffone\r\ntwo',
  'a/logo.png': { base64: 'iVBORw0KGgoAAA==' },
  'a/large.txt': { parts: [{ repeat: 'x', times: 10 * 1024 * 1024 + 1 }] },
  'a/just.txt': { parts: [{ repeat: 'x', times: 10 * 1024 * 1024 }] },
};

describe('readSkillFile()', () => {
  test('returns at most 2,000 lines, and tells whether more follow', () => {
    withLibrary({ files }, ({ subsystem }) => {
      const read = (offset?: number, limit?: number) => subsystem.readSkillFile('sk:a', 'lines.txt', { offset, limit });
      expect(read()).toMatchObject({ offset: 0, lines: 2_500, more: true });
      expect(read()).toMatchObject({ text: LINES.slice(0, LINES.indexOf('line 2000\n')) });
      expect(read(2_000)).toMatchObject({ text: LINES.slice(LINES.indexOf('line 2000\n')), more: false });
      expect(read(1, 2)).toMatchObject({ text: 'line 1\nline 2\n', more: true, bytes: LINES.length });
      expect(read(500)).toMatchObject({ more: false });
      expect(read(499)).toMatchObject({ more: true });
      expect(read(9_999)).toMatchObject({ text: '', more: false });
      for (const [offset, limit] of [
        [-1, 1],
        [0.5, 1],
        [Number.NaN, 1],
        [0, 0],
        [0, 2_001],
      ]) {
        expect(codeOf(() => read(offset, limit))).toBe('usage.invalid');
      }
    });
  });

  test('returns text in its decoded form, and bytes unchanged', () => {
    withLibrary({ files }, ({ subsystem }) => {
      expect(subsystem.readSkillFile('a', 'windows.txt')).toMatchObject({ text: 'one\ntwo', lines: 2, bytes: 11 });
      const bytes = subsystem.readSkillFile('a', 'windows.txt', { as: 'bytes' });
      expect(bytes.as === 'bytes' && Buffer.from(bytes.content).toString()).toBe('\ufeffone\r\ntwo');
    });
  });

  test('names the kind and size of a binary file that is read as text', () => {
    withLibrary({ files }, ({ subsystem }) => {
      expect(() => subsystem.readSkillFile('a', 'logo.png')).toThrow(
        'Cannot read "logo.png" of public.a as text: it is a binary file (image/png), got 10 bytes.',
      );
      expect(subsystem.readSkillFile('a', 'logo.png', { as: 'bytes' })).toMatchObject({ bytes: 10 });
    });
  });

  test('reads 10 MiB but not a byte more', () => {
    withLibrary({ files }, ({ subsystem }) => {
      expect(subsystem.readSkillFile('a', 'just.txt')).toMatchObject({ bytes: 10 * 1024 * 1024, lines: 1 });
      expect(codeOf(() => subsystem.readSkillFile('a', 'large.txt', { as: 'bytes' }))).toBe('file.unreadable');
    });
  });

  test('applies the policy of a given consumer, with imports', () => {
    const library = {
      files: {
        'public/a/SKILL.md': skillText('a', 'A.', 'import: internal.core'),
        'internal/core/SKILL.md': skillText('core', 'Core.'),
        'internal/other/SKILL.md': skillText('other', 'Other.'),
        'public/b/SKILL.md': skillText('b', 'B.'),
      },
      agents_config: { c: { disabled: ['public.b'] } },
    };
    withLibrary(library, ({ subsystem }) => {
      const read = (id: string) => subsystem.readSkillFile(id, 'SKILL.md', { consumer: 'c' });
      expect(read('a')).toMatchObject({ id: 'public.a' });
      expect(read('internal.core')).toMatchObject({ id: 'internal.core' });
      expect(codeOf(() => read('internal.other'))).toBe('skills.reference-denied');
      expect(codeOf(() => read('b'))).toBe('skills.reference-denied');
      expect(codeOf(() => read('nothing'))).toBe('skills.reference-unknown');
      expect(subsystem.readSkillFile('b', 'SKILL.md')).toMatchObject({ id: 'public.b' });
    });
  });

  test('reads arrived bytes without the original folder', () => {
    const { descriptor, trees } = withLibrary(
      { files: { 'a/SKILL.md': skillText('a', 'A.'), 'a/x.txt': 'x' } },
      (library) => exportRuntimeGlobals(library.subsystem, { refs: ['a'], consumer: 'c' }),
    );
    const arrived = setSkillsDescriptor(descriptor, { arrived: trees });
    expect(arrived.readSkillFile('a', 'x.txt', { consumer: 'c' })).toMatchObject({ text: 'x' });
    expect(arrived.skillTree('a')).toBe(trees.get('public.a'));
  });

  test('gives advice in the hint of a refusal', () => {
    withLibrary({ files }, ({ subsystem }) => {
      try {
        subsystem.readSkillFile('a', 'logo.png');
        expect.unreachable();
      } catch (error) {
        expect((error as SkillcellError).hint).toBe('Ask for its bytes, or refer to the file by its path.');
      }
    });
  });
});
