import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type MainRun, runMain } from '../../fixtures/run-main.ts';
import { skillLibrary, skillText, type SkillLibrary } from '../../fixtures/skill-library.ts';
import { runCli } from '../../fixtures/spawn-cli.ts';

let library: SkillLibrary;
let cache: string;
beforeAll(() => {
  cache = mkdtempSync(join(tmpdir(), 'cli-search-'));
  library = skillLibrary({
    'letters/SKILL.md': skillText(
      { name: 'letters', description: 'How letters\u202e look.' },
      '# Letters\n\nSay hello.\n',
    ),
    'internal/hush/SKILL.md': skillText({ name: 'hush', description: 'Quiet letters.' }, 'Hush.\n'),
  });
});
afterAll(() => {
  library[Symbol.dispose]();
  rmSync(cache, { recursive: true });
});

const search = (...argv: string[]): Promise<MainRun> =>
  runMain(['skills', 'search', '--root', library.root, ...argv], { env: { XDG_CACHE_HOME: cache } });

describe('skillcell skills search', () => {
  it('prints the hits with their places, and the words on stderr', async () => {
    expect(await search('a letter that says hello')).toEqual({
      code: 0,
      stdout: expect.stringMatching(
        /^public\.letters {2}[\d.]+ {2}How letters look\.\n {2}id: letters · description: letters · headings: Letters · body: Letters, Say, hello\n {2}body:5 \| # Letters Say hello\.\n$/,
      ) as string,
      stderr:
        '1 of 1 found among 1 skills; words, and skills that hold them: hello (1), letter (1), sai (1); 2 words did not count.\n',
    });
  });

  it('exits with 1 when nothing is found', async () => {
    expect(await search('hush')).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(/no skill holds a word/) as string,
    });
    expect(await search('"*"')).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(/holds no word/) as string,
    });
  });

  it('prints the whole answer as JSON', async () => {
    const { code, stdout, stderr } = await search('letters', '--json', '--max', '1');
    expect([code, stderr]).toEqual([0, '']);
    expect(JSON.parse(stdout)).toMatchObject({
      hits: [{ id: 'public.letters' }],
      found: 1,
      searched: 1,
      ignored: 0,
      diagnostics: [],
    });
    expect(await search('letters', '--max', '0')).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/--max/) as string,
    });
  });

  it('as a process prints no warning, and ends with exit code 3 if this Node cannot search', async () => {
    const env = { XDG_CACHE_HOME: cache };
    const argv = ['skills', 'search', 'letters', '--root', library.root, '--json'];
    expect(await runCli(argv, { env })).toMatchObject({ code: 0, stderr: '' });
    const without = await runCli(argv, { env: { ...env, NODE_OPTIONS: '--no-experimental-sqlite' } });
    expect(without).toMatchObject({ code: 3, stderr: '' });
    expect(JSON.parse(without.stdout)).toMatchObject({ error: { code: 'search.unavailable' } });
  });
});
