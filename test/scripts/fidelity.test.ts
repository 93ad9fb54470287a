import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { closingLines } from '../../scripts/fidelity/describe-compared.ts';
import { readPrograms } from '../../scripts/fidelity/read-programs.ts';
import { hostPlace } from '../../scripts/fidelity/plain-place.ts';
import { type ComparedProgram, runFidelity } from '../../scripts/fidelity/run-fidelity.ts';
import { missingForPlainRuns } from '../../scripts/fidelity/run-plainly.ts';
import { createLocalRunner } from '../../src/sandboxes/local/local-runner.ts';
import { requireHere } from '../fixtures/describe-with.ts';
import { BEST_LEVEL } from '../fixtures/levels.ts';

let root: string;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'fidelity-test-'));
});
afterEach(() => rmSync(root, { recursive: true }));

function save(files: Record<string, string>): void {
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(root, name)), { recursive: true });
    writeFileSync(join(root, name), content);
  }
}

describe('readPrograms()', () => {
  it('reads each file with the ending of a language, except files that another program needs', () => {
    save({
      'a.py': '# fidelity: files ["helper.py"]\nimport helper\n',
      'helper.py': 'print(1)\n',
      'deep/b.cjs': '#!/usr/bin/env node\n// why it is here\n// fidelity: args ["x", "y z"]\n// fidelity: stdin "in"\n',
      'data.csv': 'a\n',
    });
    const [first, second, ...more] = readPrograms(root);
    expect(more).toEqual([]);
    expect(first).toMatchObject({ id: 'a.py', language: 'python', files: { 'helper.py': 'print(1)\n' } });
    expect(second).toMatchObject({ id: 'deep/b.cjs', language: 'javascript', args: ['x', 'y z'], stdin: 'in' });
  });

  it('reads a program below each heading of a Markdown file, with its further files', () => {
    save({
      'topic.md':
        '# Topic\n\n## One\n\nText.\n\n```sh\n## no heading\necho 1\n```\n\n## Two\n\n~~~ts\n// fidelity: bytes "crlf"\nlet x;\n~~~\n\n```json file=a.json\n{}\n```\n',
    });
    expect(readPrograms(root)).toMatchObject([
      { id: 'topic.md#One', fileName: 'main.sh', code: '## no heading\necho 1\n', files: {} },
      {
        id: 'topic.md#Two',
        fileName: 'main.ts',
        code: expect.stringMatching(/\r\nlet x;\r\n$/),
        files: { 'a.json': '{}\n' },
      },
    ]);
  });

  it.each([
    ['an unknown need', { 'a.py': '# fidelity: argv []\n' }],
    ['an unknown row', { 'a.py': '# fidelity: on-purpose "laziness"\n' }],
    ['a program without heading', { 'a.md': '```py\nprint(1)\n```\n' }],
    ['a block that is not closed', { 'a.md': '## A\n\n```py\nprint(1)\n' }],
    ['an unknown ending', { 'a.md': '## A\n\n```rb\nputs 1\n```\n' }],
  ])('refuses %s', (_, files) => {
    save(files);
    expect(() => readPrograms(root)).toThrow(/^Cannot read a\./);
  });
});

it('a run distinguishes same, differing, differing on purpose and unstable programs', async (context) => {
  requireHere(context, missingForPlainRuns());
  save({
    'same.sh': '# fidelity: args ["a b"]\necho "$1"; echo left >out/file; exit 3\n',
    // A job has a file or variable that a plain run lacks, at any level.
    'differs.sh': 'ls -d /opt/skillcell/launch || ls "${SKILLCELL_JOB_MARK:+/}"\n',
    'purpose.sh': '# fidelity: on-purpose "skillcell"\nls -d /opt/skillcell/launch || ls "${SKILLCELL_JOB_MARK:+/}"\n',
    'unsteady.sh': 'echo $RANDOM$RANDOM$RANDOM\n',
  });
  const levels = [{ openRunner: () => createLocalRunner(), isolation: BEST_LEVEL, place: await hostPlace() }];
  const compared = await runFidelity(readPrograms(root), { levels, atOnce: 1 });
  const verdicts = Object.fromEntries(compared.map(({ id, verdict }: ComparedProgram) => [id, verdict]));
  expect(verdicts).toEqual({
    'differs.sh': 'differs',
    'purpose.sh': 'on purpose',
    'same.sh': 'same',
    'unsteady.sh': 'skipped',
  });
  expect(closingLines(compared)).toBe('1 differ on purpose: skillcell\n1 same, 1 differ, 1 skipped\n');
});
