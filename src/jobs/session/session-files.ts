import { relativePathFault } from '../../contracts/text/relative-path.ts';
import type { OmittedFile } from '../../contracts/jobs/result.ts';
import {
  SESSION_FILE_BYTES,
  type SessionExport,
  type SessionFile,
  type SessionFiles,
} from '../../contracts/jobs/session.ts';
import { SkillcellError } from '../../contracts/errors/skillcell-error.ts';
import {
  CUT_ROW,
  EMPTY_FOLDER,
  MOST_ROWS,
  ROWS_BYTES,
  type WorkspaceRow,
} from '../../protocol/messages/session-messages.ts';
import { printablePath, shownPathFault } from '../../protocol/files/shown-path.ts';
import { type TarFile, writeTar } from '../../protocol/files/tar.ts';
import type { FileRequests } from './file-requests.ts';
import { SandboxRefusal } from './sandbox-refusal.ts';
import type { RunGround } from '../run/run-ground.ts';
import * as z from 'zod/mini';
import { parseBoundedJson } from '../../protocol/channel/bounded-json.ts';

/** Enough for the longest path with each byte escaped, and the other fields. */
const LINE_BYTES = 32 * 1024;
const FAULT_CHARACTERS = 200;
const rowSchema = z.strictObject({
  path: z.string(),
  kind: z.enum(['file', 'folder', 'other']),
  bytes: z.number().check(z.int(), z.nonnegative()),
  executable: z.optional(z.boolean()),
  fault: z.optional(z.string().check(z.maxLength(FAULT_CHARACTERS))),
});

/** An operation of `session.files` or `session.export`. */
type WorkspaceOperation = 'read' | 'write' | 'list' | 'delete' | 'export';

const MIB = 1024 * 1024;
const MOST_OMITTED = 200;
/** The output folder. */
const OUTPUT = 'out';

/**
 * Creates the files of a session as its caller sees them: whole files of the workspace, without links.
 *
 * @param ground throws if the session has ended
 * @param busy wraps each operation, so that the session does not count as idle
 */
export function createSessionFiles(
  requests: FileRequests,
  ground: () => RunGround,
  busy: <T>(work: Promise<T>) => Promise<T>,
): { files: SessionFiles; export(): Promise<SessionExport> } {
  const perform = async (
    op: WorkspaceOperation,
    path: string,
    maxBytes: number,
    content?: Uint8Array,
  ): Promise<Buffer> => {
    try {
      return await requests.perform({ op, path }, maxBytes, content);
    } catch (error) {
      throw error instanceof SandboxRefusal ? unreadable(op, path, error.message) : error;
    }
  };
  const rows = async (path: string): Promise<SessionFile[]> => {
    const text = await perform('list', path, ROWS_BYTES);
    return await readable('list', text, listed);
  };

  async function read(path: string): Promise<Buffer>;
  async function read(path: string, encoding: 'utf8'): Promise<string>;
  async function read(path: string, encoding?: 'utf8'): Promise<Buffer | string> {
    const bytes = await busy(perform('read', checked(path), SESSION_FILE_BYTES));
    return encoding === undefined ? bytes : bytes.toString(encoding);
  }

  return {
    files: {
      read,
      async write(path, content) {
        const bytes = typeof content === 'string' ? Buffer.from(content) : content;
        if (!(bytes instanceof Uint8Array)) throw invalid('the content must be a text or bytes');
        if (bytes.length > SESSION_FILE_BYTES)
          throw invalid(`the content must have at most ${SESSION_FILE_BYTES} bytes, got ${bytes.length}`);
        await busy(perform('write', checked(path), 0, bytes));
      },
      list: (path) => busy(rows(path === undefined || path === '' ? '' : checked(path))),
      async delete(path) {
        await busy(perform('delete', checked(path), 0));
      },
    },
    async export() {
      const maxBytes = ground().job.limits.workspaceMib * MIB + ROWS_BYTES;
      return await busy(perform('export', '', maxBytes).then((text) => readable('export', text, archiveOf)));
    },
  };
}

/** Reads a list from the sandbox: hostile input, refused if it is malformed. */
async function readable<T>(op: WorkspaceOperation, text: Buffer, read: (text: Buffer) => T | Promise<T>): Promise<T> {
  try {
    return await read(text);
  } catch (cause) {
    throw unreadable(op, '', (cause as Error).message, cause);
  }
}

function listed(text: Buffer): SessionFile[] {
  return Array.from(readRows(text, false), ({ row: { path, kind, bytes, fault } }) => {
    const why = fault ?? shownPathFault(path);
    return { path: printablePath(path), kind, bytes, ...(why === undefined ? {} : { fault: printablePath(why) }) };
  });
}

/** The regular files of an export as an archive; the other entries are listed with their reasons. */
async function archiveOf(text: Buffer): Promise<SessionExport> {
  const omitted: OmittedFile[] = [];
  let unnamed = 0;
  let isWhole = true;
  const files: TarFile[] = [];
  for (const { row, content } of readRows(text, true)) {
    const fault = faultOf(row);
    if (fault === CUT_ROW.fault) isWhole = false;
    else if (fault !== undefined) {
      if (omitted.length < MOST_OMITTED) omitted.push({ path: printablePath(row.path), reason: printablePath(fault) });
      else unnamed += 1;
    } else if (row.kind === 'file') files.push({ path: row.path, bytes: content, executable: row.executable === true });
  }
  if (!isWhole) omitted.push({ path: CUT_ROW.path, reason: CUT_ROW.fault });
  else if (unnamed > 0) omitted.push({ path: '…', reason: `${unnamed} more entries were left behind` });
  const pieces: Uint8Array[] = [];
  await writeTar(files, { write: async (chunk) => void pieces.push(chunk), end: () => undefined });
  return { archive: Buffer.concat(pieces), omitted };
}

/** Whether the export covers all entries of the workspace. */
export function isWholeExport({ omitted }: SessionExport): boolean {
  return omitted.at(-1)?.reason !== CUT_ROW.fault;
}

/** Why an entry is not in an archive. A folder needs no entry: its files imply it. */
function faultOf({ path, kind, fault }: WorkspaceRow): string | undefined {
  // Every session has an output folder from its start.
  if (kind === 'folder' && (fault === undefined || (path === OUTPUT && fault === EMPTY_FOLDER))) return undefined;
  if (path === OUTPUT && kind === 'file') return 'it stands where the output folder should';
  return fault ?? shownPathFault(path) ?? (kind === 'other' ? 'it is no regular file' : undefined);
}

function checked(path: string): string {
  const fault = typeof path === 'string' ? relativePathFault(path) : 'no text';
  if (fault !== undefined)
    throw invalid(`the path must be relative to the workspace: ${fault}, got ${JSON.stringify(path)}`);
  return path;
}

function invalid(reason: string): SkillcellError {
  return new SkillcellError('job.invalid', `Cannot use the files of the session: ${reason}.`);
}

const VERBS: Record<WorkspaceOperation, string> = {
  read: 'read a file',
  write: 'write a file',
  list: 'list the files',
  delete: 'delete a file',
  export: 'export the workspace',
};

/** `reason` comes from the sandbox and is hostile text. */
function unreadable(op: WorkspaceOperation, path: string, reason: string, cause?: unknown): SkillcellError {
  const place = path === '' ? '' : `, got ${JSON.stringify(path)}`;
  const message = `Cannot ${VERBS[op]} of the session: ${printablePath(reason)}${place}.`;
  return new SkillcellError('file.unreadable', message, { cause });
}

/** Reads the entries of a workspace, each a line of JSON; with `withBytes` the bytes of a file follow its line. The text is hostile. */
export function* readRows(text: Buffer, withBytes: boolean): Generator<{ row: WorkspaceRow; content: Buffer }> {
  let rows = 0;
  for (let offset = 0; offset < text.length;) {
    // One row more may say that the list was cut.
    if ((rows += 1) > MOST_ROWS + 1) throw new Error(`the list has more than ${MOST_ROWS} files`);
    const end = text.indexOf(10, offset);
    if (end < 0 || end - offset > LINE_BYTES)
      throw new Error(`a line of the list does not end within ${LINE_BYTES} bytes`);
    const parsed = z.safeParse(rowSchema, parseBoundedJson(text.subarray(offset, end), { maxBytes: LINE_BYTES }));
    if (!parsed.success) throw new Error('the list has an unknown form');
    const row = parsed.data as WorkspaceRow;
    offset = end + 1;
    const size = withBytes && row.kind === 'file' && row.fault === undefined ? row.bytes : 0;
    if (offset + size > text.length) throw new Error('the list ends early');
    yield { row, content: text.subarray(offset, offset + size) };
    offset += size;
  }
}
