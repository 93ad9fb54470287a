import type { Multipart } from '@fastify/multipart';
import type { FastifyRequest } from 'fastify';
import * as z from 'zod';
import { NAME_SCHEMA, NAMESPACE_SCHEMA } from '../../registry/kinds/kind-schemas.ts';
import { readForm } from '../http/read-form.ts';
import { RequestRefused } from '../http/problem.ts';
import { jsonPointer } from '../http/validate.ts';

/** Bytes of an archive. */
const ARCHIVE_BYTES: number = 10 * 1024 * 1024;
const FIELDS = z.strictObject({ name: NAME_SCHEMA.optional(), namespace: NAMESPACE_SCHEMA.optional() });

/** An archive with the fields beside it. */
export interface UploadForm {
  bytes: Buffer;
  file: string;
  name?: string;
  namespace?: string;
}

/**
 * Reads the form of an upload: `file`, `name` and `namespace`.
 *
 * @throws {RequestRefused} `request.invalid`, `request.too-large`, `request.media-type`
 */
export async function readUploadForm(request: FastifyRequest): Promise<UploadForm> {
  if (!request.isMultipart())
    throw new RequestRefused('request.media-type', 'Cannot take the archive: it must be a form with the part "file".');
  const fields: Record<string, unknown> = {};
  const archives: Pick<UploadForm, 'bytes' | 'file'>[] = [];
  const take = async (part: Multipart): Promise<void> => {
    if (part.type === 'field') fields[part.fieldname] = part.value;
    else if (part.fieldname === 'file') archives.push({ bytes: await part.toBuffer(), file: part.filename });
    else throw invalid(part.fieldname, 'a form of a skill has the parts file, name and namespace');
  };
  await readForm(request, take, { fileSize: ARCHIVE_BYTES, files: 1, fields: 2 });
  const [archive] = archives;
  if (archive === undefined) throw invalid('file', 'the part is missing');
  const checked = FIELDS.safeParse(fields);
  if (checked.success) return { ...archive, ...(checked.data as Pick<UploadForm, 'name' | 'namespace'>) };
  const [issue] = checked.error.issues;
  throw invalid(String(issue?.path[0] ?? ''), issue?.message ?? 'it is not valid');
}

function invalid(name: string, detail: string): RequestRefused {
  return new RequestRefused(
    'request.invalid',
    `Cannot take the form: ${detail}, in the part ${JSON.stringify(name)}.`,
    [{ pointer: jsonPointer([name]), detail }],
  );
}
