import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { JobInput } from '../../queue/seams/job-files.ts';
import type { IncomingFiles } from '../http/incoming-files.ts';
import { readForm } from '../http/read-form.ts';
import { parseJson } from '../http/parse-json.ts';
import { RequestRefused } from '../http/problem.ts';
import { jsonPointer } from '../http/validate.ts';

const MIB: number = 1024 * 1024;
/** Bytes of all files of one form. */
const FORM_BYTES: number = 32 * MIB;
/** Bytes of the part `job`. */
const JOB_BYTES: number = MIB;
const FILE_PREFIX = 'files/';

/** A file of a form. */
export type Upload = { destination: string } & JobInput;

/**
 * Reads a job from a form: its part `job` becomes the body, and its parts `files/<destination>` the uploads.
 *
 * @throws {RequestRefused} `request.invalid`, `request.too-large`
 */
export async function readJobForm(
  request: FastifyRequest,
  reply: FastifyReply,
  incoming: IncomingFiles,
): Promise<void> {
  const uploads: Upload[] = [];
  let job: unknown;
  const form = incoming.begin(reply);
  let room = FORM_BYTES;
  await readForm(request, async (part) => {
    if (part.type === 'field') {
      if (part.fieldname !== 'job' || job !== undefined) throw unknownPart(part.fieldname);
      // A part of the type JSON is parsed already.
      job = parseJson(Buffer.from(typeof part.value === 'string' ? part.value : JSON.stringify(part.value)));
      return;
    }
    if (part.fieldname === 'job' && job === undefined) {
      job = parseJson(Buffer.concat(await Readable.from(atMost(part.file, JOB_BYTES)).toArray()));
      return;
    }
    const destination = part.fieldname.slice(FILE_PREFIX.length);
    if (!part.fieldname.startsWith(FILE_PREFIX) || destination === '') throw unknownPart(part.fieldname);
    const content = await form.receive(atMost(part.file, room));
    room -= content.size;
    uploads.push({ destination, content, executable: false });
  });
  request.body = job ?? null;
  request.uploads = uploads;
}

/** @throws {RequestRefused} `request.too-large` */
async function* atMost(content: AsyncIterable<Uint8Array>, most: number): AsyncGenerator<Uint8Array> {
  let size = 0;
  for await (const piece of content) {
    size += piece.length;
    if (size > most) throw tooLarge();
    yield piece;
  }
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
    `Cannot take the form: its files may have ${FORM_BYTES} bytes together, and its job ${JOB_BYTES}.`,
  );
}
