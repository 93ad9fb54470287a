import { afterEach, beforeEach, expect, it } from 'vitest';
import { findGit } from '../../../../src/library/stores/git/git-program.ts';
import { readTreeList } from '../../../../src/library/stores/git/list-tree.ts';
import { type ObjectReader, openObjectReader } from '../../../../src/library/stores/git/object-reader.ts';
import { GitFailure, runGit } from '../../../../src/library/stores/git/run-git.ts';
import { commandLines } from '../../../fixtures/command-lines.ts';
import { describeWith, MISSING_GIT } from '../../../fixtures/describe-with.ts';
import { type GitScene, setUpGit } from '../../../fixtures/git-scene.ts';
import { until } from '../../../fixtures/until.ts';

let scene: GitScene;
let reader: ObjectReader;

describeWith('git store: output of git', MISSING_GIT, () => {
  beforeEach(async () => {
    scene = setUpGit();
    reader = openObjectReader(await findGit(), `${scene.repository.path}/.git`);
  });
  afterEach(async () => {
    reader.close();
    await scene.close();
  });

  it('drops an object over the limit, and continues with the next one', async () => {
    const [large, small] = ['x'.repeat(100_000), 'small'].map((text) =>
      scene.repository.git(['hash-object', '-w', '--stdin'], text),
    );
    const answers = [reader.read(large ?? '', 99_999), reader.read('0'.repeat(40), 10), reader.read(small ?? '', 5)];
    const settled = await Promise.allSettled(answers);
    expect(settled.map((each) => ('value' in each ? each.value.content.toString() : `${each.reason}`))).toEqual([
      `Error: the object has over 99999 bytes: ${large}`,
      `Error: there is no such object: ${'0'.repeat(40)}`,
      'small',
    ]);
  });

  it('ends its process when idle', async () => {
    const isOurs = (line: string): boolean => line.includes(scene.repository.path) && line.includes('cat-file');
    const id = scene.repository.git(['hash-object', '-w', '--stdin'], 'text');
    await reader.read(id, 10);
    expect(commandLines().some(isOurs)).toBe(true);
    await until(() => !commandLines().some(isOurs), 'no process of git');
    expect((await reader.read(id, 10)).content.toString()).toBe('text');
  });

  it('uses the first of two files with one name, and refuses unknown formats', () => {
    const row = (id: string): string => `100644 blob ${id.repeat(40)}       1\ta/b\0`;
    expect(readTreeList(Buffer.from(row('1') + row('2'))).files.get('a/b')).toBe('1'.repeat(40));
    for (const other of ['nonsense\0', '100644 blob 12 1\ta\0', `${row('1')}100644\0`])
      expect(() => readTreeList(Buffer.from(other))).toThrow('in an unknown format');
  });

  it('keeps only the end of the error output of a command, which stops on its signal', async () => {
    const command = { program: '/bin/sh', env: {}, timeoutMs: 600_000, outputBytes: 10, fileBytes: 0 };
    const talk = 'i=0; while [ $i -lt 9000 ]; do echo word; i=$((i + 1)); done >&2; echo last >&2; exit 1';
    const failure = await runGit({ ...command, args: ['-c', talk], signal: undefined }).catch(
      (error: unknown) => error,
    );
    if (!(failure instanceof GitFailure)) throw failure;
    expect(failure.words).toHaveLength(4_000);
    expect(failure.words.endsWith('word\nlast\n')).toBe(true);
    const controller = new AbortController();
    const reason = new Error('no longer wanted');
    const running = runGit({ ...command, args: ['-c', 'sleep 600'], signal: controller.signal });
    controller.abort(reason);
    await expect(running).rejects.toBe(reason);
  });
});
