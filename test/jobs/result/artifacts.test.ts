import { execFileSync, spawnSync } from 'node:child_process';
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
import type { JobResult } from '../../../src/contracts/jobs/result.ts';
import { createOrchestrator } from '../../../src/jobs/create-orchestrator.ts';
import type { Orchestrator } from '../../../src/jobs/orchestrator.ts';
import { writeBeneath } from '../../../src/durable/write-beneath.ts';
import { requireHere } from '../../fixtures/describe-with.ts';
import { BEST_LEVEL, SHARED_LEVELS, requireLevel } from '../../fixtures/levels.ts';
import { NAMES_WITH_JOINERS } from '../../fixtures/names-with-joiners.ts';
import { startQuietClock } from '../../fixtures/quiet-clock.ts';

const orchestrator = createOrchestrator();
afterAll(() => orchestrator.close());

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'artifacts-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

/** A program that writes files below its output folder. */
function writes(files: Record<string, string>): string {
  return `import { mkdirSync, writeFileSync } from 'node:fs';
    import { dirname, join } from 'node:path';
    for (const [path, text] of Object.entries(${JSON.stringify(files)})) {
      const full = join(process.env.SKILLCELL_OUTPUT, path);
      mkdirSync(dirname(full), { recursive: true });
      writeFileSync(full, text);
    }`;
}

describe.each(SHARED_LEVELS)('artifacts at level %s', (isolation) => {
  beforeEach((context) => requireLevel(context, isolation));
  const run = (files: Record<string, string>, more: object = {}): Promise<JobResult> =>
    orchestrator.exec({ isolation, code: writes(files), ...more });

  it.each([
    ['/proc/nope/deep', 'ENOENT'],
    ['/sys/nope', process.getuid?.() === 0 ? 'EPERM' : 'EACCES'],
  ])('fail the job soon, as our error, if %s cannot hold them', async (output, code) => {
    const elapsedMs = startQuietClock();
    const refused = run({ 'table.csv': 'a,b\n' }, { output });
    await expect(refused).rejects.toMatchObject({
      code: 'artifact.write-failed',
      message: `Cannot write the artifact "table.csv" to the output folder of the job: ${code}.`,
    });
    expect(elapsedMs()).toBeLessThan(20_000);
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

  it('are read as bytes or text, and changes by one reader do not affect others', async () => {
    const result = await run({ 'note.txt': 'naïve\n' });
    const bytes = await orchestrator.readArtifact(result, 'note.txt');
    expect(bytes).toEqual(Buffer.from('naïve\n'));
    bytes.fill(0);
    expect(await orchestrator.readArtifact(result, 'note.txt', 'utf8')).toBe('naïve\n');
    await expect(orchestrator.readArtifact(result, 'other')).rejects.toMatchObject({ code: 'file.unreadable' });
    await expect(orchestrator.readArtifact(result, 'a\u202eb')).rejects.toThrow(String.raw`got a\u{202e}b of job`);
    await expect(orchestrator.readArtifact(result, 'note.txt', 'latin1' as 'utf8')).rejects.toMatchObject({
      code: 'options.invalid',
      message: 'Cannot read an artifact: the encoding must be utf8, got "latin1".',
    });
  });

  it('D10 with invisible characters in the name are left behind, and the name is shown', async () => {
    const names = ['report\u202etxt.exe', 'zero\u200bwidth', 'tag\u{e0041}'];
    const result = await run({ ...Object.fromEntries(names.map((name) => [name, 'x'])), 'fine ❤\ufe0f.txt': 'x' });
    expect(result.artifacts.map(({ path }) => path)).toEqual(['fine ❤\ufe0f.txt']);
    const reason = expect.stringContaining('invisible character') as string;
    expect(result.omitted).toEqual([
      { path: 'report\\u{202e}txt.exe', reason },
      { path: 'tag\\u{e0041}', reason },
      { path: 'zero\\u{200b}width', reason },
    ]);
  });

  it('keep joiner characters that a language or an emoji needs, and so do input files', async () => {
    const files = Object.fromEntries(NAMES_WITH_JOINERS.map((name) => [`in/${name}`, name]));
    const code = 'cp -r in/. out/';
    const { artifacts, omitted } = await orchestrator.exec({ isolation: BEST_LEVEL, language: 'bash', code, files });
    expect(artifacts.map(({ path }) => path)).toEqual(NAMES_WITH_JOINERS.toSorted());
    expect(omitted).toEqual([]);
  });

  it('are written to a new folder, readable and not executable, with no other files in it', async () => {
    const output = join(folder, 'new', 'output');
    const result = await run({ 'b.txt': 'two', 'a/deep/a.txt': 'one' }, { output });
    expect(result.artifacts.map(({ path }) => path)).toEqual(['a/deep/a.txt', 'b.txt']);
    const found = readdirSync(output, { recursive: true, encoding: 'utf8' }).toSorted();
    expect(found).toEqual(['a', 'a/deep', 'a/deep/a.txt', 'b.txt']);
    expect(readFileSync(join(output, 'a/deep/a.txt'), 'utf8')).toBe('one');
    expect(statSync(join(output, 'b.txt')).mode & 0o777).toBe(0o644);
    expect(() => orchestrator.artifact(result.jobId, 'b.txt')).toThrow();
  });

  it('D23 replace a symlink at their name, are refused behind a symlink, and never change its target', async () => {
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
    const result = await run({ file: 'new', folder: 'a file now' }, { output: folder, expect: ['file', 'folder'] });
    expect(readFileSync(join(folder, 'file'), 'utf8')).toBe('new');
    expect(statSync(join(folder, 'folder')).isDirectory()).toBe(true);
    expect(result.omitted).toEqual([{ path: 'folder', reason: expect.stringContaining('EISDIR') }]);
    expect(readdirSync(folder).toSorted()).toEqual(['file', 'folder']);
    expect(result).toMatchObject({
      outcome: 'failed',
      error: { name: 'ContractError', message: expect.stringContaining('EISDIR') as string },
      contract: { satisfied: false, missing: ['folder'] },
    });
  });

  it('over their limits of number or sum are named in omitted, and the job ends as limit / artifacts', async () => {
    const many = Object.fromEntries(Array.from({ length: 5 }, (_, index) => [`f${index}`, 'x']));
    const count = await run(many, { limits: { artifactFiles: 3 } });
    expect(count).toMatchObject({ outcome: 'limit', limit: 'artifacts' });
    expect(count.artifacts).toHaveLength(3);
    expect(count.omitted.map(({ path }) => path)).toEqual(['f3', 'f4']);
    const sum = await run({ a: 'x'.repeat(600), b: 'x'.repeat(600) }, { limits: { artifactTotalBytes: 1_000 } });
    expect(sum).toMatchObject({ outcome: 'limit', limit: 'artifacts', omitted: [{ path: 'b' }] });
  });

  it('over the limits of size or depth are named in omitted', async () => {
    const result = await run(
      { large: 'x'.repeat(101), 'a/b/c': 'deep', ok: 'ok' },
      { limits: { artifactFileBytes: 100, artifactDepth: 2 } },
    );
    expect(result.artifacts.map(({ path }) => path)).toEqual(['ok']);
    expect(result.omitted.map(({ path }) => path)).toEqual(['a/b', 'large']);
  });

  it('that are declared and omitted are missing, with the reason', async () => {
    const sizes = { artifactFileBytes: 100, artifactDepth: 2, artifactFiles: 3 };
    const files = { '1.txt': '1', 'a/b/deep': 'x', large: 'x'.repeat(101), 'm.txt': 'm', 'n.txt': 'n', 'z.txt': 'z' };
    const expected = ['1.txt', 'a/b/deep', 'large', 'never', 'z.txt'];
    const result = await run(files, { expect: expected, limits: sizes });
    expect(result).toMatchObject({
      outcome: 'failed',
      exitCode: 0,
      error: {
        name: 'ContractError',
        message:
          'Declared outputs are missing: a/b/deep (left out: deeper than 2 folders), large (left out: over 100 bytes, got 101), never, z.txt (left out: more than 3 files).',
      },
      contract: { satisfied: false, missing: ['a/b/deep', 'large', 'never', 'z.txt'] },
    });
    expect(result.omitted.map(({ path }) => path)).toEqual(['a/b', 'large', 'z.txt']);
    const delivered = await run(files, { expect: ['1.txt', 'm.txt'], limits: sizes });
    expect(delivered).toMatchObject({ outcome: 'limit', limit: 'artifacts', contract: { satisfied: true } });
  });

  it('of a program that failed are collected as well', async () => {
    const result = await orchestrator.exec({ isolation, code: `${writes({ partial: 'x' })} throw new Error('late');` });
    expect(result.outcome).toBe('failed');
    expect(result.artifacts.map(({ path }) => path)).toEqual(['partial']);
  });
});

it('artifacts that do not fit on a full disk fail the job as our error, and are not omitted', async (context) => {
  const mounted = process.getuid?.() === 0 && spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', folder]);
  requireHere(
    context,
    mounted !== false && mounted.status === 0 ? undefined : 'the right to mount a small file system',
  );
  try {
    const job = { isolation: 'none' as const, output: folder };
    const fits = await orchestrator.exec({ ...job, code: writes({ 'fits.txt': 'x' }) });
    expect(fits).toMatchObject({ outcome: 'succeeded', artifacts: [{ path: 'fits.txt' }], omitted: [] });
    const full = orchestrator.exec({ ...job, code: writes({ 'large.txt': 'x'.repeat(100_000) }) });
    await expect(full).rejects.toMatchObject({
      code: 'artifact.write-failed',
      message: 'Cannot write the artifact "large.txt" to the output folder of the job: ENOSPC.',
    });
    expect(readdirSync(folder)).toEqual(['fits.txt']);
  } finally {
    execFileSync('umount', [folder]);
  }
});

describe('artifacts in memory', () => {
  const write = (own: Orchestrator, jobId: string, bytes: number): Promise<JobResult> =>
    own.exec({ isolation: 'none', jobId, code: writes({ 'a.txt': 'x'.repeat(bytes) }) });

  it('are bounded: the oldest are evicted, which the result reports, and reading them has its own error code', async () => {
    await using own = createOrchestrator({ keptArtifactBytes: 1_000 });
    const first = await write(own, 'first', 600);
    const second = await write(own, 'second', 400);
    expect([...first.diagnostics, ...second.diagnostics].map(({ code }) => code)).not.toContain('artifact.dropped');
    expect(await own.readArtifact(first, 'a.txt', 'utf8')).toHaveLength(600);
    const third = await write(own, 'third', 1);
    expect(third.diagnostics).toContainEqual(
      expect.objectContaining({ code: 'artifact.dropped', message: expect.stringContaining('job first') as string }),
    );
    await expect(own.readArtifact(first, 'a.txt')).rejects.toMatchObject({
      code: 'artifact.evicted',
      message: expect.stringContaining('1000 bytes') as string,
    });
    expect(await own.readArtifact(second, 'a.txt')).toHaveLength(400);
    expect(await own.readArtifact(third, 'a.txt')).toHaveLength(1);
  });

  it('of a job that alone exceeds the bound are not kept, and the others stay', async () => {
    await using own = createOrchestrator({ keptArtifactBytes: 1_000 });
    const small = await write(own, 'small', 100);
    const large = await write(own, 'large', 1_001);
    expect(large.diagnostics.map(({ code }) => code)).toContain('artifact.dropped');
    await expect(own.readArtifact(large, 'a.txt')).rejects.toMatchObject({ code: 'artifact.evicted' });
    expect(await own.readArtifact(small, 'a.txt')).toHaveLength(100);
  });

  it('of a reused id are those of the last job, counted once', async () => {
    await using own = createOrchestrator({ keptArtifactBytes: 1_000 });
    const other = await write(own, 'other', 300);
    for (const size of [600, 600, 500]) await write(own, 'same', size);
    expect(await own.readArtifact({ jobId: 'same' }, 'a.txt')).toHaveLength(500);
    expect(await own.readArtifact(other, 'a.txt')).toHaveLength(300);
    // Even if the last job left no artifacts.
    await own.exec({ jobId: 'same', isolation: 'none', code: '1' });
    await expect(own.readArtifact({ jobId: 'same' }, 'a.txt')).rejects.toMatchObject({ code: 'file.unreadable' });
  });
});

describe('writeBeneath()', () => {
  it('leaves no partial file if the name is taken by a folder', async () => {
    mkdirSync(join(folder, 'taken', 'full'), { recursive: true });
    await expect(writeBeneath(folder, 'taken', Buffer.from('x'))).rejects.toMatchObject({ code: 'EISDIR' });
    expect(readdirSync(folder)).toEqual(['taken']);
  });

  it('follows a symlink to the root, which is the caller\u2019s own, and no symlink below it', async () => {
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
