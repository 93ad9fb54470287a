import { isUtf8 } from 'node:buffer';
import { isDeepStrictEqual } from 'node:util';
import { SkillcellError } from '../contracts/errors/skillcell-error.ts';
import type { Diagnostic } from '../contracts/errors/diagnostic.ts';
import type { InputContent, InputFile } from '../contracts/jobs/job.ts';
import { DEFAULT_LIMITS, type JobLimits } from '../contracts/jobs/limits.ts';
import { prepareInputFiles, readInputFiles } from '../jobs/prepare/input-files.ts';
import { type CheckedRequest, checkRequest } from '../jobs/request/job-schema.ts';
import type { TarFile } from '../protocol/files/tar.ts';
import type { JobRequest, RequestContent } from '../queue/request/job-request.ts';
import type { ServiceJob, ServiceJobTeam } from './service-client.ts';

/** A job as it is sent. */
export interface WireJob {
  body: string | FormData;
  /** Entries that were left out of input folders. */
  diagnostics: Diagnostic[];
}

const MIB = 1024 * 1024;
/** Bytes of files from which on they are parts of a form. */
const FORM_BYTES = MIB;
/** Fields that only a process can have. */
const REFUSED = ['jobId', 'context'] as const;

/**
 * Makes the request for a job, with the bytes of its files.
 *
 * @throws SkillcellError `job.invalid`, `options.invalid` for a field that the service cannot take, `file.unreadable`
 */
export async function wireJob({ label, team, ...given }: ServiceJob & ServiceJobTeam): Promise<WireJob> {
  const request = checkRequest(given);
  refuseFields(request);
  const {
    files = [],
    output: _output,
    signal: _signal,
    runner: _runner,
    stdin,
    ...rest
  } = request as CheckedRequest & {
    stdin?: InputContent;
  };
  const limits = { ...DEFAULT_LIMITS, ...request.limits };
  const { inputs, diagnostics } = await readFiles(files, limits);
  const atService = { ...(label === undefined ? {} : { label }), ...(team === undefined ? {} : { team }) };
  const job = { ...rest, ...atService } as JobRequest;
  if (stdin !== undefined && job.kind !== 'script') job.stdin = await standardInput(stdin, limits);
  const asForm = inputs.reduce((sum, { bytes }) => sum + bytes.length, 0) > FORM_BYTES;
  // A part of a form has no mode, so that executable files stay in the job.
  const apart = inputs.filter(({ executable }) => asForm && !executable);
  const inline = inputs.filter((input) => !apart.includes(input));
  job.files = Object.fromEntries(inline.map((input) => [input.path, contentOf(input.bytes, input.executable)]));
  const text = JSON.stringify(job);
  if (!asForm) return { body: text, diagnostics };
  const form = new FormData();
  form.set('job', new Blob([text]));
  for (const { path, bytes } of apart) form.append(`files/${path}`, new Blob([new Uint8Array(bytes)]));
  return { body: form, diagnostics };
}

/** @throws SkillcellError `options.invalid` */
function refuseFields(request: CheckedRequest): void {
  for (const field of REFUSED) if (request[field] !== undefined) throw refused(field, 'the service cannot take it');
  const { runner = 'auto', tools = [], skills } = request;
  if (runner !== 'auto') throw refused('runner', 'the service chooses the runner');
  if (tools.some((tool) => typeof tool !== 'string')) throw refused('tools', 'the service takes ids of its own tools');
  if (skills?.includeInternal !== undefined) throw refused('skills.includeInternal', 'the service cannot take it');
  if (typeof skills?.match === 'object' && skills.match.session !== undefined)
    throw refused('skills.match.session', 'a session is in one process');
  if (request.kind !== 'codegen') return;
  if (typeof request.select === 'object') throw refused('select', 'the service takes true or false');
  const value = request.outputs?.value;
  if (value !== undefined && !isDeepStrictEqual(value, JSON.parse(JSON.stringify(value))))
    throw refused('outputs.value', 'the service takes a JSON schema, such as that of z.toJSONSchema()');
}

function refused(field: string, reason: string): SkillcellError {
  return new SkillcellError('options.invalid', `Cannot send the job: ${reason}, got the field ${field}.`, {
    hint: 'Leave it out, or run the job with createOrchestrator().',
  });
}

async function readFiles(
  files: readonly InputFile[],
  limits: JobLimits,
): Promise<{ inputs: TarFile[]; diagnostics: Diagnostic[] }> {
  const found = await prepareInputFiles(files, limits);
  const inputs: TarFile[] = [];
  for await (const input of readInputFiles(found.files, limits.workspaceMib * MIB)) inputs.push(input);
  return { inputs, diagnostics: found.diagnostics };
}

async function standardInput(stdin: InputContent, limits: JobLimits): Promise<RequestContent> {
  if (typeof stdin === 'string') return stdin;
  if (stdin instanceof Uint8Array) return contentOf(stdin, false);
  const { inputs } = await readFiles([{ destination: 'stdin', source: stdin.source }], limits);
  const [input] = inputs;
  return contentOf(input?.bytes ?? new Uint8Array(), false);
}

function contentOf(bytes: Uint8Array, executable: boolean): RequestContent {
  if (isUtf8(bytes) && !executable) return Buffer.from(bytes).toString('utf8');
  return { base64: Buffer.from(bytes).toString('base64'), ...(executable ? { executable } : {}) };
}
