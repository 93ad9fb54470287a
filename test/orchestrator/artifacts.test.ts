import { createHash } from 'node:crypto';
import {
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { JobResult } from '../../src/contracts/result.ts';
import { createOrchestrator } from '../../src/orchestrator/create-orchestrator.ts';
import { writeBeneath } from '../../src/orchestrator/write-beneath.ts';
import { LEVELS, requireLevel } from '../fixtures/levels.ts';

const orchestrator = createOrchestrator();
afterAll(() => orchestrator.close());

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'artifacts-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

/** The program that writes files below its output folder. */
function writes(files: Record<string, string>): string {
  return `import { mkdirSync, writeFileSync } from 'node:fs';
    import { dirname, join } from 'node:path';
    for (const [path, text] of Object.entries(${JSON.stringify(files)})) {
      const full = join(process.env.SKILLCELL_OUTPUT, path);
      mkdirSync(dirname(full), { recursive: true });
      writeFileSync(full, text);
    }`;
}

describe.each(LEVELS)('artifacts at level %s', (isolation) => {
  beforeEach((context) => requireLevel(context, isolation));
  const run = (files: Record<string, string>, more: object = {}): Promise<JobResult> =>
    orchestrator.exec({ isolation, code: writes(files), ...more });

  it.each([
    ['/proc/nope/deep', 'ENOENT'],
    ['/sys/nope', process.getuid?.() === 0 ? 'EPERM' : 'EACCES'],
  ])('are an error of ours, and soon, where %s cannot take them', async (output, code) => {
    const started = performance.now();
    const refused = run({ 'table.csv': 'a,b\n' }, { output });
    await expect(refused).rejects.toMatchObject({
      code: 'artifact.write-failed',
      message: expect.stringContaining(`${code}, got "table.csv"`) as string,
    });
    expect(performance.now() - started).toBeLessThan(20_000);
  });

  it('are kept as streams, with size, digest and media type, in path order', async () => {
    const files = { 'table.csv': 'a,b\n', 'a/chart.svg': '<svg/>', 'a/data.unknown': '', 'naïve name.md': '# é' };
    const result = await run(files);
    expect(result.outcome).toBe('succeeded');
    expect(result.artifacts.map(({ path, mediaType, visibility }) => [path, mediaType, visibility])).toEqual([
      ['a/chart.svg', 'image/svg+xml', 'external'],
      ['a/data.unknown', 'application/octet-stream', 'external'],
      ['naïve name.md', 'text/markdown', 'external'],
      ['table.csv', 'text/csv', 'external'],
    ]);
    for (const { path, bytes, sha256 } of result.artifacts) {
      const content = await buffer(orchestrator.artifact(result.jobId, path));
      expect(content.toString()).toBe(files[path as keyof typeof files]);
      expect(bytes).toBe(content.length);
      expect(sha256).toBe(createHash('sha256').update(content).digest('hex'));
    }
    expect(() => orchestrator.artifact(result.jobId, 'table')).toThrow(
      expect.objectContaining({ code: 'file.unreadable' }),
    );
    expect(() => orchestrator.artifact('another-job', 'table.csv')).toThrow(
      expect.objectContaining({ code: 'file.unreadable' }),
    );
  });

  it('are written to a folder that is made for them, readable and not executable, and nothing else is in it', async () => {
    const output = join(folder, 'new', 'output');
    const result = await run({ 'b.txt': 'two', 'a/deep/a.txt': 'one' }, { output });
    expect(result.artifacts.map(({ path }) => path)).toEqual(['a/deep/a.txt', 'b.txt']);
    const found = readdirSync(output, { recursive: true, encoding: 'utf8' }).toSorted();
    expect(found).toEqual(['a', 'a/deep', 'a/deep/a.txt', 'b.txt']);
    expect(readFileSync(join(output, 'a/deep/a.txt'), 'utf8')).toBe('one');
    expect(statSync(join(output, 'b.txt')).mode & 0o777).toBe(0o644);
    expect(() => orchestrator.artifact(result.jobId, 'b.txt')).toThrow();
  });

  it('D23 a link at an artifact\u2019s name is replaced, and one on the way is refused; what is behind stays as it was', async () => {
    const behind = join(folder, 'behind');
    mkdirSync(behind);
    writeFileSync(join(behind, 'file'), 'precious');
    const output = join(folder, 'output');
    mkdirSync(output);
    symlinkSync(join(behind, 'file'), join(output, 'a.txt'));
    symlinkSync(behind, join(output, 'sub'));
    symlinkSync('a.txt', join(output, 'self'));
    const result = await run({ 'a.txt': 'new', 'sub/file': 'new', 'self/x': 'new', 'fine.txt': 'fine' }, { output });
    expect(result.artifacts.map(({ path }) => path)).toEqual(['a.txt', 'fine.txt']);
    expect(result.omitted.map(({ path }) => path).toSorted()).toEqual(['self/x', 'sub/file']);
    expect(readFileSync(join(behind, 'file'), 'utf8')).toBe('precious');
    expect(readdirSync(behind)).toEqual(['file']);
    expect(lstatSync(join(output, 'a.txt')).isFile()).toBe(true);
    expect(readFileSync(join(output, 'a.txt'), 'utf8')).toBe('new');
    expect(readdirSync(output).filter((name) => name.startsWith('.'))).toEqual([]);
  });

  it('replace files of an earlier run, and never a folder', async () => {
    mkdirSync(join(folder, 'folder'));
    writeFileSync(join(folder, 'file'), 'old');
    const result = await run({ file: 'new', folder: 'a file now' }, { output: folder });
    expect(readFileSync(join(folder, 'file'), 'utf8')).toBe('new');
    expect(statSync(join(folder, 'folder')).isDirectory()).toBe(true);
    expect(result.omitted).toEqual([{ path: 'folder', reason: expect.stringContaining('EISDIR') }]);
    expect(readdirSync(folder).toSorted()).toEqual(['file', 'folder']);
  });

  it('over their number or sum are left behind by name, and the job ends as limit / artifacts', async () => {
    const many = Object.fromEntries(Array.from({ length: 5 }, (_, index) => [`f${index}`, 'x']));
    const count = await run(many, { limits: { artifactFiles: 3 } });
    expect(count).toMatchObject({ outcome: 'limit', limit: 'artifacts' });
    expect(count.artifacts).toHaveLength(3);
    expect(count.omitted.map(({ path }) => path)).toEqual(['f3', 'f4']);
    const sum = await run({ a: 'x'.repeat(600), b: 'x'.repeat(600) }, { limits: { artifactTotalBytes: 1_000 } });
    expect(sum).toMatchObject({ outcome: 'limit', limit: 'artifacts', omitted: [{ path: 'b' }] });
  });

  it('larger than one may be, or deeper, are left behind by name', async () => {
    const result = await run(
      { large: 'x'.repeat(101), 'a/b/c': 'deep', ok: 'ok' },
      { limits: { artifactFileBytes: 100, artifactDepth: 2 } },
    );
    expect(result.artifacts.map(({ path }) => path)).toEqual(['ok']);
    expect(result.omitted.map(({ path }) => path)).toEqual(['a/b', 'large']);
  });

  it('of a program that failed are collected as well', async () => {
    const result = await orchestrator.exec({ isolation, code: `${writes({ partial: 'x' })} throw new Error('late');` });
    expect(result.outcome).toBe('failed');
    expect(result.artifacts.map(({ path }) => path)).toEqual(['partial']);
  });
});

describe('writeBeneath()', () => {
  it('leaves no part of a file when it cannot be put at its name', async () => {
    mkdirSync(join(folder, 'taken', 'full'), { recursive: true });
    await expect(writeBeneath(folder, 'taken', Buffer.from('x'))).rejects.toMatchObject({ code: 'EISDIR' });
    expect(readdirSync(folder)).toEqual(['taken']);
  });

  it('takes a root behind a link, which is the caller\u2019s own, and no link below it', async () => {
    const real = join(folder, 'real');
    mkdirSync(real);
    symlinkSync(real, join(folder, 'root'));
    await writeBeneath(join(folder, 'root'), 'a/b', Buffer.from('x'));
    expect(readFileSync(join(real, 'a/b'), 'utf8')).toBe('x');
    symlinkSync('a', join(real, 'link'));
    await expect(writeBeneath(join(folder, 'root'), 'link/c', Buffer.from('x'))).rejects.toMatchObject({
      code: expect.stringMatching(/ELOOP|ENOTDIR/),
    });
    expect(readdirSync(join(real, 'a'))).toEqual(['b']);
  });
});
