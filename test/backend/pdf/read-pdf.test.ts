import { mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { removeTree } from '../../../src/durable/remove-tree.ts';
import { openKeptTexts } from '../../../src/backend/pdf/read-pdf.ts';
import { createPdfReader } from '../../../src/backend/pdf/read-pdf.ts';
import type { ExecOptions } from '../../../src/contracts/jobs/job.ts';
import { SkillcellError } from '../../../src/contracts/errors/skillcell-error.ts';
import { createOrchestrator } from '../../../src/jobs/create-orchestrator.ts';
import type { Orchestrator } from '../../../src/jobs/orchestrator.ts';
import { createLocalRunner } from '../../../src/sandboxes/local/local-runner.ts';
import { digestOf } from '../../../src/skills/text/digest.ts';
import { openTreeCache, type TreeCache } from '../../../src/library/stores/cache/tree-cache.ts';
import { pdfDocument, shown } from '../../fixtures/pdf-document.ts';
import { requireLevel } from '../../fixtures/levels.ts';

describe('the reader of PDFs', () => {
  let folder: string;
  let cache: TreeCache;
  let orchestrator: Orchestrator;
  const jobs: { isolation: string }[] = [];
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'read-pdf-'));
    cache = openTreeCache(join(folder, 'cache'));
    orchestrator = createOrchestrator({ runners: [createLocalRunner()] });
  });
  afterAll(async () => {
    await orchestrator.close();
    cache.close();
    removeTree(folder);
  });

  const read = (document: Uint8Array, limits = {}): Promise<string> => {
    const counted: Pick<Orchestrator, 'exec' | 'readArtifact'> = {
      async exec(options) {
        const result = await orchestrator.exec(options);
        jobs.push({ isolation: result.isolation ?? 'never started' });
        return result;
      },
      readArtifact: orchestrator.readArtifact.bind(orchestrator),
    };
    return createPdfReader({ cache, orchestrator: counted, limits }).read(document, '/skills/a/b/form.pdf');
  };

  test('gives the text of each page, made in a sandbox once', async (context) => {
    requireLevel(context, 'namespace');
    jobs.length = 0;
    const document = pdfDocument([shown('Hello deeds'), shown('page two')]);
    expect(await read(document)).toBe('Hello deeds\n\npage two\n');
    expect(await read(document)).toBe('Hello deeds\n\npage two\n');
    expect(jobs).toEqual([{ isolation: 'namespace' }]);
    // A text that was changed in the cache is made anew.
    const index = join(folder, 'cache', 'index');
    for (const name of readdirSync(index))
      writeFileSync(join(index, name), `${readFileSync(join(index, name), 'utf8')}more`);
    expect(await read(document)).toBe('Hello deeds\n\npage two\n');
    expect(jobs).toHaveLength(2);
  });

  test('reports a document that is no PDF', async (context) => {
    requireLevel(context, 'namespace');
    await expect(read(Buffer.from('%PDF-1.4 garbage'))).rejects.toMatchObject({
      code: 'file.unreadable',
      message: expect.stringContaining('it cannot be read (InvalidPDFException') as string,
    });
  });

  test('starts nothing for an empty document, or one that does not begin like a PDF', async () => {
    jobs.length = 0;
    const cases = [
      ['', 'it is empty'],
      ['Plain text.', 'it is no PDF'],
      ['PK\u0003\u0004', 'it is no PDF'],
    ] as const;
    for (const [document, reason] of cases)
      await expect(read(Buffer.from(document))).rejects.toMatchObject({
        code: 'file.unreadable',
        message: `Cannot extract the text of the PDF "/skills/a/b/form.pdf": ${reason}.`,
      });
    expect(jobs).toEqual([]);
  });

  test('reports the password of a document', async (context) => {
    requireLevel(context, 'namespace');
    await expect(read(pdfDocument([shown('hidden')], { hasPassword: true }))).rejects.toMatchObject({
      code: 'file.unreadable',
      message: 'Cannot extract the text of the PDF "/skills/a/b/form.pdf": it has a password.',
    });
  });

  test('ends a document that takes too long, and reports it', async (context) => {
    requireLevel(context, 'namespace');
    const endless = pdfDocument(['q Q '.repeat(10_000_000)]);
    await expect(read(endless, { timeoutMs: 1_500, memoryMib: 1_024 })).rejects.toMatchObject({
      code: 'file.unreadable',
      message: 'Cannot extract the text of the PDF "/skills/a/b/form.pdf": reading it takes more than 1500 ms.',
    });
  });

  test('ends a document that takes too much memory, and reports it', async (context) => {
    requireLevel(context, 'namespace');
    const bomb = pdfDocument([`${shown('x')}\n`.repeat(2_000_000)]);
    await expect(read(bomb, { memoryMib: 192 })).rejects.toMatchObject({
      code: 'file.unreadable',
      message:
        'Cannot extract the text of the PDF "/skills/a/b/form.pdf": reading it takes more than 192 MiB of memory.',
    });
  });

  test('asks for a namespace at least', async () => {
    const asked: unknown[] = [];
    const refusing = {
      exec: async ({ isolation, limits }: ExecOptions) => {
        asked.push({ isolation, limits });
        throw new SkillcellError('runner.isolation-unmet', 'Cannot start a sandbox: none isolates, got none.');
      },
      readArtifact: () => Promise.reject(new Error('no artifact')),
    };
    const reader = createPdfReader({ cache, orchestrator: refusing });
    await expect(reader.read(pdfDocument([shown('never seen')]), 'x.pdf')).rejects.toMatchObject({
      code: 'runner.isolation-unmet',
    });
    expect(asked).toEqual([{ isolation: 'namespace', limits: { runTimeoutMs: 30_000, memoryMib: 512 } }]);
  });

  test('finds the texts of its version of the package, but not those of another', async () => {
    const manifest = join(dirname(createRequire(import.meta.url).resolve('unpdf')), '..', 'package.json');
    const { version } = JSON.parse(readFileSync(manifest, 'utf8')) as { version: string };
    const [own, other] = [pdfDocument([shown('own')]), pdfDocument([shown('other')])];
    openKeptTexts(cache, `unpdf-${version}`).keep(digestOf(own), 'kept');
    openKeptTexts(cache, 'unpdf-0.0.0').keep(digestOf(other), 'kept');
    const none = {
      exec: () => Promise.reject(new Error('made anew')),
      readArtifact: () => Promise.reject(new Error()),
    };
    const reader = createPdfReader({ cache, orchestrator: none });
    expect(await reader.read(own, 'x.pdf')).toBe('kept');
    await expect(reader.read(other, 'x.pdf')).rejects.toThrow('made anew');
  });

  test('reads nothing after it was closed', async () => {
    const reader = createPdfReader({ cache });
    await reader.close();
    await expect(reader.read(pdfDocument([shown('late')]), 'late.pdf')).rejects.toMatchObject({
      code: 'orchestrator.closed',
      message: 'Cannot extract the text of the PDF "late.pdf": its reader was closed.',
    });
  });
});
