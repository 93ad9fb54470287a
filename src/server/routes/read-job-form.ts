import type { FastifyRequest } from 'fastify';
import { SkillcellError } from '../../contracts/errors/skillcell-error.ts';
import type { JobInput } from '../../queue/seams/job-files.ts';
import { readForm } from '../http/read-form.ts';
import { parseJson } from '../http/parse-json.ts';
import { RequestRefused } from '../http/problem.ts';
import { jsonPointer } from '../http/validate.ts';

const MIB: number = 1024 * 1024;
/** Bytes of all files of one form. */
const FORM_BYTES: number = 32 * MIB;
/** Bytes of all forms that are being read. */
const MOST_BYTES: number = 48 * MIB;
const FILE_PREFIX = 'files/';

/** A file of a form. */
export type Upload = { destination: string } & JobInput;

let heldBytes = 0;

/**
 * Reads a job from a form: its part `job` becomes the body, and its parts `files/<destination>` the uploads.
 *
 * @throws {RequestRefused} `request.invalid`, `request.too-large`
 */
export async function readJobForm(request: FastifyRequest): Promise<void> {
  const uploads: Upload[] = [];
  let job: unknown;
  let bytes = 0;
  try {
    await readForm(request, async (part) => {
      if (part.type === 'field') {
        if (part.fieldname !== 'job' || job !== undefined) throw unknownPart(part.fieldname);
        // A part of the type JSON is parsed already.
        job = parseJson(typeof part.value === 'string' ? part.value : JSON.stringify(part.value));
        return;
      }
      if (part.fieldname === 'job' && job === undefined) {
        job = parseJson((await part.toBuffer()).toString('utf8'));
        return;
      }
      const destination = part.fieldname.slice(FILE_PREFIX.length);
      if (!part.fieldname.startsWith(FILE_PREFIX) || destination === '') throw unknownPart(part.fieldname);
      const pieces: Buffer[] = [];
      for await (const piece of part.file as AsyncIterable<Buffer>) {
        bytes += piece.length;
        heldBytes += piece.length;
        if (bytes > FORM_BYTES) throw tooLarge();
        if (heldBytes > MOST_BYTES) {
          throw new SkillcellError('service.unavailable', 'Cannot take the form: other forms take all the room.');
        }
        pieces.push(piece);
      }
      uploads.push({ destination, bytes: Buffer.concat(pieces), executable: false });
    });
  } finally {
    heldBytes -= bytes;
  }
  request.body = job ?? null;
  request.uploads = uploads;
}

function unknownPart(name: string): RequestRefused {
  const detail = 'a form has one part "job" and parts "files/<destination>"';
  return new RequestRefused('request.invalid', `Cannot take the form: ${detail}, got ${JSON.stringify(name)}.`, [
    { pointer: jsonPointer([name]), detail },
  ]);
}

function tooLarge(): RequestRefused {
  return new RequestRefused(
    'request.too-large',
    `Cannot take the form: its files may have ${FORM_BYTES} bytes together.`,
  );
}
