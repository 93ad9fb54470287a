import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { existsSync, lstatSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { SkillcellError } from '../../../src/contracts/errors/skillcell-error.ts';
import { openS3Access, type S3Access } from '../../../src/library/stores/s3/s3-access.ts';
import { bucketFiles } from '../../../src/queue/seams/bucket-files.ts';
import type { ExpectedInput, FiledJob, JobFiles } from '../../../src/queue/seams/job-files.ts';
import { type Ceph, MISSING_CEPH, startCeph } from '../../fixtures/ceph.ts';
import { describeWith } from '../../fixtures/describe-with.ts';
import { openRawBucket, type RawBucket } from '../../fixtures/raw-bucket.ts';

const BUCKET = 'files';
const HOUR_MS = 3_600_000;

describeWith('the files of jobs in a bucket', MISSING_CEPH, () => {
  let ceph: Ceph;
  let raw: RawBucket;
  let access: S3Access;
  let folder: string;
  beforeAll(async () => {
    ceph = await startCeph();
    raw = openRawBucket(ceph.endpoint, ceph.owner.credentials, BUCKET);
    await raw.create();
    access = openS3Access({ bucket: BUCKET, endpoint: ceph.endpoint, credentials: ceph.owner.credentials });
  });
  afterAll(async () => {
    access?.close();
    raw?.close();
    await ceph?.[Symbol.asyncDispose]();
  });
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'skillcell-bucket-'));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  /** The files as a host sees them. */
  const host = (name: string, through: Partial<S3Access> = {}): JobFiles => {
    mkdirSync(join(folder, name), { recursive: true });
    return bucketFiles(join(folder, name), { access: { ...access, ...through }, prefix: 'jobs/', owner: name });
  };
  const job = (id: string, attempt: number, owner: string): FiledJob => ({ id, attempt, owner, state: 'finished' });
  const write = (files: JobFiles, id: string, name: string, content: string | Buffer): void => {
    mkdirSync(dirname(files.path(id, name)), { recursive: true });
    writeFileSync(files.path(id, name), content);
  };
  const bytesOf = async (files: JobFiles, given: FiledJob, name: string): Promise<Buffer | undefined> => {
    const end = await files.size(given, name);
    if (end === undefined) return undefined;
    const pieces: Buffer[] = [];
    for await (const piece of files.read(given.id, name, { start: 0, end })) pieces.push(piece as Buffer);
    return Buffer.concat(pieces);
  };
  const expectedOf = (content: Buffer, executable: boolean): ExpectedInput => ({
    ...{ bytes: content.length, executable },
    sha256: createHash('sha256').update(content).digest('hex'),
  });

  it('leaves nothing of a removed job on this host, also while the bucket is away', async () => {
    const away = new SkillcellError('store.unavailable', 'on purpose');
    const files = host('one', { list: () => Promise.reject(away) });
    const id = randomUUID();
    await files.create(id, [{ content: Buffer.from('given'), executable: false }]);
    await expect(files.remove(id)).rejects.toBe(away);
    expect(existsSync(files.path(id, ''))).toBe(false);
  });

  it('brings the inputs of a job to the host that runs it, and refuses others', async () => {
    const [one, two] = [host('one'), host('two')];
    const contents = [randomBytes(9_000_000), Buffer.from('#!/bin/sh\n'), Buffer.alloc(0)];
    const expected = contents.map((content, at) => expectedOf(content, at === 1));
    const [id, changed, gone] = [randomUUID(), randomUUID(), randomUUID()];
    for (const each of [id, changed, gone])
      await one.create(
        each,
        contents.map((content, at) => ({ content, executable: at === 1 })),
      );
    await two.take(id, expected);
    for (const [at, content] of contents.entries())
      expect(readFileSync(two.path(id, `in/${at}`)).equals(content)).toBe(true);
    expect([0, 1].map((at) => lstatSync(two.path(id, `in/${at}`)).mode & 0o777)).toEqual([0o600, 0o700]);
    await raw.put(`jobs/${changed}/in/1`, '#!/bin/no\n');
    await raw.remove(`jobs/${gone}/in/2`);
    for (const each of [changed, gone]) {
      // The second time, too: what is not right is not kept.
      for (const _ of [1, 2]) await expect(two.take(each, expected)).rejects.toMatchObject({ code: 'file.unreadable' });
    }
    expect(existsSync(two.path(changed, 'in/1'))).toBe(false);
    // Only what was compared is shown.
    expect(await two.size(job(changed, 1, 'one'), 'in/1')).toBeUndefined();
  });

  it('shows the files of the attempt that ended, on any host', async () => {
    const [one, two, three] = [host('one'), host('two'), host('three')];
    const [id, odd] = [randomUUID(), `${'ü'.repeat(120)}/`.repeat(4) + 'a b+%2e.txt'];
    for (const [files, attempt] of [
      [one, 1],
      [two, 2],
    ] as const) {
      await files.take(id, []);
      write(files, id, 'stdout', `of ${attempt}`);
      write(files, id, 'stderr', '');
      write(files, id, `artifacts/${odd}`, `made by ${attempt}`);
      write(files, id, `events.${attempt}.jsonl`, `{"attempt":${attempt}}\n`);
      await files.publish({ id, attempt }, ['stdout', 'stderr', `artifacts/${odd}`]);
    }
    const ended = job(id, 2, 'two');
    for (const files of [two, three]) {
      const names = ['stdout', 'stderr', `artifacts/${odd}`];
      const shown = await Promise.all(names.map(async (name) => (await bytesOf(files, ended, name))?.toString()));
      expect(shown).toEqual(['of 2', '', 'made by 2']);
      expect(await files.size(ended, 'artifacts/other')).toBeUndefined();
      await files.bringLogs(ended);
      expect(readFileSync(files.path(id, 'events.2.jsonl'), 'utf8')).toBe('{"attempt":2}\n');
    }
    expect(existsSync(three.path(id, 'events.1.jsonl'))).toBe(false);
    // What the first attempt has left on its host is dropped when its run ends.
    await one.leave(id);
    expect((await bytesOf(one, ended, 'stdout'))?.toString()).toBe('of 2');
    await three.remove(id);
    expect(await raw.keys(`jobs/${id}/`)).toEqual([]);
  });

  it('shows nothing that the process of a lost attempt uploads after another one has ended it', async () => {
    const [lost, other] = [host('one'), host('two')];
    const id = randomUUID();
    await lost.take(id, []);
    write(lost, id, 'stdout', 'late');
    write(lost, id, 'events.1.jsonl', '{"late":1}\n');
    await lost.publish({ id, attempt: 1 }, ['stdout']);
    const ended = job(id, 1, 'three');
    expect(await bytesOf(other, ended, 'stdout')).toBeUndefined();
    await other.bringLogs(ended);
    expect(existsSync(other.path(id, 'events.1.jsonl'))).toBe(false);
    expect(await bytesOf(other, job(id, 1, 'one'), 'stdout')).toEqual(Buffer.from('late'));
  });

  it('publishes nothing in silence that is not there', async () => {
    const files = host('one');
    const id = randomUUID();
    await files.take(id, []);
    await expect(files.publish({ id, attempt: 1 }, ['artifacts/missing'])).rejects.toMatchObject({ code: 'ENOENT' });
  });

  it('removes what has no row only when no host can be about to write it', async () => {
    const [one, two] = [host('one'), host('two')];
    const [id, local] = [randomUUID(), randomUUID()];
    await one.create(id, [{ content: Buffer.from('a'), executable: false }]);
    mkdirSync(two.path(local, ''));
    expect(await two.ids()).toEqual(expect.arrayContaining([id, local]));
    for (const each of [id, local]) await two.removeStray(each);
    expect([await raw.keys(`jobs/${id}/`), existsSync(two.path(local, ''))]).toEqual([[`jobs/${id}/in/0`], false]);
    const list: S3Access['list'] = async (...given) => {
      const page = await access.list(...given);
      return { ...page, at: page.at + HOUR_MS + 5_000 };
    };
    await host('three', { list }).removeStray(id);
    expect(await raw.keys(`jobs/${id}/`)).toEqual([]);
  });

  it('leaves alone what others keep in the same bucket', async () => {
    await raw.put('jobs/photos/one.jpg', 'not ours');
    const files = host('one');
    const id = randomUUID();
    await files.create(id, [{ content: Buffer.from('a'), executable: false }]);
    expect(await files.ids()).toContain(id);
    expect(await files.ids()).not.toContain('photos');
  });

  it('names a full disk, and leaves no half copy', async () => {
    const files = host('one', {
      async download(key, path) {
        await access.download(key, path);
        throw Object.assign(new Error('no space'), { code: 'ENOSPC' });
      },
    });
    const id = randomUUID();
    await host('two').create(id, [{ content: Buffer.from('a'), executable: false }]);
    await expect(files.take(id, [expectedOf(Buffer.from('a'), false)])).rejects.toMatchObject({ code: 'disk.full' });
    expect(existsSync(files.path(id, 'in/0'))).toBe(false);
  });
});
