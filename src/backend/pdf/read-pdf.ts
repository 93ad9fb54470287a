import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { quotedText, visibleText } from '../../contracts/text/quoted-text.ts';
import { SkillcellError } from '../../contracts/errors/skillcell-error.ts';
import { createOrchestrator } from '../../jobs/create-orchestrator.ts';
import type { Orchestrator } from '../../jobs/orchestrator.ts';
import { READ_LIMIT } from '../../skills/load/files/read-skill-file.ts';
import { digestOf } from '../../skills/text/digest.ts';
import { oneLine } from '../../skills/text/text.ts';
import type { TreeCache } from '../../library/stores/cache/tree-cache.ts';
import { MEMORY_EXIT, PDF_FILES, PDF_WORKER, pdfProgram } from './pdf-program.ts';
import { openCheckedFiles } from '../../library/stores/cache/checked-files.ts';

/** Texts of documents, by the digests of the documents. */
export interface KeptTexts {
  find(digest: string): string | undefined;
  keep(digest: string, text: string): void;
}

/** Extracts the texts of PDFs. */
export interface PdfReader {
  /** @throws SkillcellError `file.unreadable` with the fault of the document, `runner.isolation-unmet`, `orchestrator.closed` */
  read(document: Uint8Array, path: string, signal?: AbortSignal): Promise<string>;
  close(): Promise<void>;
}

/** Options of {@link createPdfReader}. */
export interface PdfReaderOptions {
  cache: TreeCache;
  orchestrator?: Pick<Orchestrator, 'exec' | 'readArtifact'> | undefined;
  limits?: { timeoutMs?: number | undefined; memoryMib?: number | undefined } | undefined;
}

const DEFAULT_LIMITS = { timeoutMs: 30_000, memoryMib: 384 };
/** Memory of a sandbox beyond the limit of the program, so that the program itself reports the excess. */
const MEMORY_MARGIN_MIB = 128;

/** Reads PDFs in sandboxes: documents are not trusted, and their reader is large. Texts are kept by the digests of documents. */
export function createPdfReader({ cache, orchestrator, limits = {} }: PdfReaderOptions): PdfReader {
  const { timeoutMs = DEFAULT_LIMITS.timeoutMs, memoryMib = DEFAULT_LIMITS.memoryMib } = limits;
  let texts: KeptTexts | undefined;
  let own: Orchestrator | undefined;
  let closed = false;
  return {
    async read(document, path, signal) {
      if (closed) {
        const hint = 'Open another backend.';
        const message = `Cannot extract the text of the PDF ${quotedText(path)}: its reader was closed.`;
        throw new SkillcellError('orchestrator.closed', message, { hint });
      }
      if (!isPdf(document)) throw unreadable(document.length === 0 ? 'it is empty' : 'it is no PDF', path);
      const kept = (texts ??= openKeptTexts(cache, maker()));
      const digest = digestOf(document);
      const known = kept.find(digest);
      if (known !== undefined) return known;
      const host = orchestrator ?? (own ??= createOrchestrator());
      const result = await host.exec({
        code: pdfProgram(memoryMib),
        language: 'javascript',
        isolation: 'namespace',
        files: { ...programFiles(), [PDF_FILES.document]: document },
        limits: { runTimeoutMs: timeoutMs, memoryMib: memoryMib + MEMORY_MARGIN_MIB },
        ...(signal === undefined ? {} : { signal }),
      });
      signal?.throwIfAborted();
      const size = result.artifacts.find((artifact) => artifact.path === PDF_FILES.text)?.bytes;
      if (result.outcome !== 'succeeded' || size === undefined || size > READ_LIMIT) {
        const reason =
          result.outcome === 'timeout'
            ? `reading it takes more than ${timeoutMs} ms`
            : result.outcome === 'out_of_memory' || result.exitCode === MEMORY_EXIT
              ? `reading it takes more than ${memoryMib} MiB of memory`
              : size !== undefined
                ? `its text has more than ${READ_LIMIT} bytes`
                : result.stderr.text.includes('PasswordException')
                  ? 'it has a password'
                  : `it cannot be read (${said(result.stderr.text)})`;
        throw unreadable(reason, path);
      }
      const text = await host.readArtifact(result, PDF_FILES.text, 'utf8');
      kept.keep(digest, text);
      return text;
    },
    async close() {
      closed = true;
      await own?.close();
    },
  };
}

/** Whether the beginning holds the mark of a PDF. Readers of PDFs accept about a thousand other bytes before it. */
export function isPdf(content: Uint8Array): boolean {
  return Buffer.from(content.subarray(0, 1_024)).includes('%PDF-');
}

function unreadable(reason: string, path: string): SkillcellError {
  const message = `Cannot extract the text of the PDF ${quotedText(path)}: ${reason}.`;
  return new SkillcellError('file.unreadable', message, { hint: 'Refer to the file by its path.' });
}

/** The last line that the program wrote, which may be text of the document. */
function said(stderr: string): string {
  const line = oneLine(stderr.trim().split('\n').at(-1) ?? '').slice(0, 120);
  return line === '' ? 'no reason is given' : visibleText(line);
}

/** Name and version of the extractor: another version may extract another text. */
function maker(): string {
  const manifest = readFileSync(join(unpdfFolder(), '..', 'package.json'), 'utf8');
  return `unpdf-${(JSON.parse(manifest) as { version: string }).version}`;
}

function unpdfFolder(): string {
  return dirname(createRequire(import.meta.url).resolve('unpdf'));
}

let program: Record<string, Uint8Array | string> | undefined;

/** The files of unpdf, as the package has them. */
function programFiles(): Record<string, Uint8Array | string> {
  if (program !== undefined) return program;
  const folder = unpdfFolder();
  program = {
    [PDF_FILES.unpdf]: readFileSync(join(folder, 'index.mjs')),
    [PDF_FILES.pdfjs]: readFileSync(join(folder, 'pdfjs.mjs')),
    [PDF_FILES.worker]: PDF_WORKER,
  };
  return program;
}

/**
 * Texts in a cache, which evicts them like its other entries.
 *
 * @param maker name and version of the extractor: another one may extract another text
 */
export function openKeptTexts(cache: TreeCache, maker: string): KeptTexts {
  const files = openCheckedFiles(cache, 'index');
  const keyOf = (digest: string): string => JSON.stringify(['text of a document', maker, digest]);
  return {
    find: (digest) => files.find(keyOf(digest))?.toString('utf8'),
    keep: (digest, text) => void files.keep(keyOf(digest), Buffer.from(text)),
  };
}
