import type { Multipart } from '@fastify/multipart';
import { createLimiter } from '../../protocol/limiter.ts';
import type { FastifyReply, FastifyRequest } from 'fastify';
import * as z from 'zod';
import { NAME_SCHEMA, NAMESPACE_SCHEMA } from '../../registry/kinds/kind-schemas.ts';
import type { IncomingFiles } from '../http/incoming-files.ts';
import { collectGarbage } from '../../protocol/collect-garbage.ts';
import { readForm } from '../http/read-form.ts';
import { RequestRefused } from '../http/problem.ts';
import { jsonPointer } from '../http/validate.ts';

/** Bytes of an archive. */
const ARCHIVE_BYTES: number = 10 * 1024 * 1024;
const FIELDS = z.strictObject({ name: NAME_SCHEMA.optional(), namespace: NAMESPACE_SCHEMA.optional() });

/** An archive with the fields beside it. */
export interface UploadForm {
  /** The file on the disk that has its bytes until the answer. */
  path: string;
  file: string;
  name?: string;
  namespace?: string;
}

/** An archive is in memory while it is stored. */
const oneAtATime = createLimiter({ room: 1 });

/**
 * Reads the form of an upload, `file`, `name` and `namespace`, and works on it. Archives are in memory one after the other.
 *
 * @param work gets a signal that aborts when the client is gone, and the file with it
 * @throws {RequestRefused} `request.invalid`, `request.too-large`, `request.media-type`
 */
export async function withUpload<Result>(
  request: FastifyRequest,
  reply: FastifyReply,
  incoming: IncomingFiles,
  work: (form: UploadForm, signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  if (!request.isMultipart())
    throw new RequestRefused('request.media-type', 'Cannot take the archive: it must be a form with the part "file".');
  const fields: Record<string, unknown> = {};
  const archives: Pick<UploadForm, 'path' | 'file'>[] = [];
  const take = async (part: Multipart): Promise<void> => {
    if (part.type === 'field') fields[part.fieldname] = part.value;
    else if (part.fieldname === 'file') {
      const { path } = await incoming.begin(reply).receive(part.file);
      archives.push({ path, file: part.filename });
      if (part.file.truncated) throw tooLarge();
    } else throw invalid(part.fieldname, 'a form of a skill has the parts file, name and namespace');
  };
  await readForm(request, take, { fileSize: ARCHIVE_BYTES, files: 1, fields: 2 });
  const [archive] = archives;
  if (archive === undefined) throw invalid('file', 'the part is missing');
  const checked = FIELDS.safeParse(fields);
  if (!checked.success) {
    const [issue] = checked.error.issues;
    throw invalid(String(issue?.path[0] ?? ''), issue?.message ?? 'it is not valid');
  }
  const named = checked.data as Pick<UploadForm, 'name' | 'namespace'>;
  const gone = new AbortController();
  reply.raw.once('close', () => gone.abort(invalid('file', 'its client is gone')));
  return await oneAtATime.run(async () => {
    try {
      return await work({ ...archive, ...named }, gone.signal);
    } finally {
      await collectGarbage();
    }
  });
}

function tooLarge(): RequestRefused {
  return new RequestRefused('request.too-large', `Cannot take the archive: it has more than ${ARCHIVE_BYTES} bytes.`);
}

function invalid(name: string, detail: string): RequestRefused {
  return new RequestRefused(
    'request.invalid',
    `Cannot take the form: ${detail}, in the part ${JSON.stringify(name)}.`,
    [{ pointer: jsonPointer([name]), detail }],
  );
}
