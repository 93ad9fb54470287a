import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { MadeEvalRun } from '../../src/evals/make-run.ts';
import { writeRun } from '../../src/evals/write-eval-output.ts';

it('writeRun() writes further files of a program below its own folder, with any names from a sandbox', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'eval-output-'));
  try {
    mkdirSync(join(folder, 'out'));
    const paths = ['lib/a.mjs', '../../../../../up.mjs', '/tmp/abs.mjs', 'a/../b.mjs', 'x\u0000'];
    const attempt = { code: 'import "./lib/a.mjs";', files: paths.map((path) => ({ path, code: path })) };
    const made = {
      row: { eval: 'a', side: 'with', run: 1 },
      result: { codegen: { attempts: [attempt] } },
      files: new Map([['b.txt', Buffer.from('b')]]),
      answers: [{ text: 'said' }],
    } as unknown as MadeEvalRun;
    await writeRun(join(folder, 'out'), made, 'javascript');
    expect(readdirSync(folder)).toEqual(['out']);
    const place = join(folder, 'out/runs/a/with-1');
    expect(readdirSync(place, { recursive: true, encoding: 'utf8' }).toSorted()).toEqual([
      ...['answer-1.md', 'artifacts', 'artifacts/b.txt', 'program-1-files', 'program-1-files/lib'],
      ...['program-1-files/lib/a.mjs', 'program-1.mjs', 'result.json', 'run.json'],
    ]);
    expect(readFileSync(join(place, 'program-1-files/lib/a.mjs'), 'utf8')).toBe('lib/a.mjs');
    expect(readFileSync(join(place, 'answer-1.md'), 'utf8')).toBe('said');
  } finally {
    rmSync(folder, { recursive: true });
  }
});
