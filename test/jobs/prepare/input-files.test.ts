import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ExecOptions } from '../../../src/contracts/jobs/job.ts';
import type { JobResult } from '../../../src/contracts/jobs/result.ts';
import { createOrchestrator } from '../../../src/jobs/create-orchestrator.ts';
import { prepareInputFiles, readInputFiles } from '../../../src/jobs/prepare/input-files.ts';
import { SHARED_LEVELS, requireLevel } from '../../fixtures/levels.ts';

const orchestrator = createOrchestrator();
afterAll(() => orchestrator.close());

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'inputs-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

/** Lists every file of the working folder except the program: its text, and whether it is executable. */
const LIST = `import { readdirSync, readFileSync, statSync } from 'node:fs';
  const files = readdirSync('.', { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const paths = files.map(({ parentPath, name }) => (parentPath === '.' ? name : parentPath + '/' + name)).sort();
  export default paths.filter((path) => path !== 'main.mjs').map((path) =>
    [path, readFileSync(path, 'utf8'), (statSync(path).mode & 0o100) !== 0]);`;

const run = (files: ExecOptions['files'], more: object = {}): Promise<JobResult> =>
  orchestrator.exec({ isolation: 'none', code: LIST, ...(files === undefined ? {} : { files }), ...more });

/** Writes files below the test's folder. */
function write(files: Record<string, string>): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(join(folder, path, '..'), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
}

describe.each(SHARED_LEVELS)('files by destination at level %s', (isolation) => {
  beforeEach((context) => requireLevel(context, isolation));

  it('may be texts, bytes, files and folders of the host', async () => {
    write({ 'one.csv': 'a,b\n', 'tree/b.txt': 'b', 'tree/deep/a.sh': 'a', 'tree/z': '' });
    chmodSync(join(folder, 'tree/deep/a.sh'), 0o755);
    const files = {
      'text.txt': 'naïve\n',
      'raw/bytes': Buffer.from('x'),
      'data/table.csv': { source: join(folder, 'one.csv') },
      tree: { source: join(folder, 'tree') },
      'tree/more.txt': 'beside',
    };
    const result = await run(files, { isolation });
    expect(result.value).toEqual([
      ['data/table.csv', 'a,b\n', false],
      ['raw/bytes', 'x', false],
      ['text.txt', 'naïve\n', false],
      ['tree/b.txt', 'b', false],
      ['tree/deep/a.sh', 'a', true],
      ['tree/more.txt', 'beside', false],
      ['tree/z', '', false],
    ]);
    expect(result.diagnostics.filter(({ code }) => code === 'file.omitted')).toEqual([]);
  });
});

describe('a folder of the host', () => {
  it('L01 gives only its regular files, follows no link, and reports omitted entries', async () => {
    write({ 'tree/kept': 'kept', secret: 'secret', 'elsewhere/file': 'secret', 'tree/report\u202etxt.exe': 'x' });
    symlinkSync(join(folder, 'secret'), join(folder, 'tree/link'));
    symlinkSync(join(folder, 'elsewhere'), join(folder, 'tree/linked'));
    symlinkSync('.', join(folder, 'tree/self'));
    symlinkSync('/nowhere', join(folder, 'tree/dangling'));
    execFileSync('mkfifo', [join(folder, 'tree/pipe')]);
    writeFileSync(Buffer.concat([Buffer.from(`${folder}/tree/`), Buffer.of(0xff, 0x41)]), 'x');
    const result = await run({ t: { source: join(folder, 'tree') } });
    expect(result.value).toEqual([['t/kept', 'kept', false]]);
    const omitted = result.diagnostics.filter(({ code }) => code === 'file.omitted');
    expect(omitted.map(({ path, message }) => [path, message])).toEqual([
      ['t/dangling', 'a symbolic link'],
      ['t/link', 'a symbolic link'],
      ['t/linked', 'a symbolic link'],
      ['t/pipe', 'a pipe'],
      ['t/report\\u{202e}txt.exe', 'bidirectional, zero-width or other invisible character in the name'],
      ['t/self', 'a symbolic link'],
      ['t/\ufffdA', 'its name is not UTF-8'],
    ]);
  });

  it('behind a link of the caller\u2019s own is accepted', async () => {
    write({ 'real/a': 'a' });
    symlinkSync('real', join(folder, 'alias'));
    expect((await run({ t: { source: join(folder, 'alias') } })).value).toEqual([['t/a', 'a', false]]);
  });

  it('that is empty gives no files', async () => {
    mkdirSync(join(folder, 'empty'));
    expect(await run({ t: { source: join(folder, 'empty') } })).toMatchObject({ outcome: 'succeeded', value: [] });
  });

  it('that is larger than the workspace, in bytes or in entries, is refused before anything starts', async () => {
    write({ 'tree/a': 'x'.repeat(700 * 1024), 'tree/b': 'x'.repeat(700 * 1024) });
    const bytes = run({ t: { source: join(folder, 'tree') } }, { limits: { workspaceMib: 1 } });
    await expect(bytes).rejects.toMatchObject({
      code: 'file.unreadable',
      message: expect.stringContaining('up to t/b: together') as string,
    });
    write(Object.fromEntries(Array.from({ length: 60 }, (_, index) => [`many/${index}`, ''])));
    const entries = run({ t: { source: join(folder, 'many') } }, { limits: { workspaceInodes: 50 } });
    await expect(entries).rejects.toThrow('over 50 files and folders');
  });

  it('names 200 omitted entries, and counts the others', async () => {
    mkdirSync(join(folder, 'links'));
    for (let index = 0; index < 210; index += 1) symlinkSync('/x', join(folder, `links/${index}`));
    const { diagnostics } = await prepareInputFiles([{ destination: 't', source: join(folder, 'links') }], {
      workspaceMib: 1,
      workspaceInodes: 1_000,
    });
    expect(diagnostics).toHaveLength(201);
    expect(diagnostics.at(-1)).toMatchObject({ message: '10 more entries were left out' });
  });

  it('L04 whose file or subfolder was replaced by a link meanwhile is not read through it', async () => {
    write({ 'tree/sub/file': 'kept', 'secret/file': 'secret' });
    const limits = { workspaceMib: 1, workspaceInodes: 100 };
    const prepared = await prepareInputFiles([{ destination: 't', source: join(folder, 'tree') }], limits);
    const read = async (): Promise<string[]> => {
      const texts: string[] = [];
      for await (const { bytes } of readInputFiles(prepared.files, 1_000)) texts.push(Buffer.from(bytes).toString());
      return texts;
    };
    expect(await read()).toEqual(['kept']);
    rmSync(join(folder, 'tree/sub/file'));
    symlinkSync(join(folder, 'secret/file'), join(folder, 'tree/sub/file'));
    await expect(read()).rejects.toMatchObject({ code: 'file.unreadable' });
    rmSync(join(folder, 'tree/sub'), { recursive: true });
    symlinkSync(join(folder, 'secret'), join(folder, 'tree/sub'));
    await expect(read()).rejects.toMatchObject({ code: 'file.unreadable' });
  });
});

describe('files by destination are refused', () => {
  it.each<[unknown, string]>([
    [{ a: 5 }, 'files.a must be a text, bytes or { source }, got 5.'],
    [{ a: { path: '/x' } }, 'there is no field files.a.path, got "/x".'],
    [{ a: {} }, 'files.a.source is missing: it must be a text.'],
    [{ a: { source: '' } }, 'files.a.source must be a text that is not empty, got "".'],
    [{ '../a': 'x' }, 'files["../a"] must be a relative path: a . or .. component, got "../a".'],
    [{ 'a b': 5 }, 'files["a b"] must be a text, bytes or { source }, got 5.'],
    [{ 'a\u200b': 'x' }, 'must be a relative path: bidirectional, zero-width or other invisible character in the name'],
    [{ 'main.mjs': 'x' }, 'files has the destination of the program itself, got main.mjs.'],
    [{ out: 'x' }, 'files has a destination in the output folder, got out.'],
    [{ a: 'x', 'a/b': 'y' }, 'a destination is both a file and a folder, got a.'],
    [JSON.parse('{ "__proto__": "x" }'), 'files cannot hold a file of this name, got __proto__.'],
    ['a.csv', 'files must be an object of contents by destination, got "a.csv".'],
  ])('%j', async (files, message) => {
    await expect(run(files as never)).rejects.toMatchObject({
      code: 'job.invalid',
      message: expect.stringContaining(message) as string,
    });
  });
});
