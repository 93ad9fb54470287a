import { createHash } from 'node:crypto';
import type { JobInput } from '../seams/job-files.ts';
import type { JobRequest, RequestContent, StoredFile, StoredRequest } from './job-request.ts';
import { SkillcellError } from '../../contracts/errors/skillcell-error.ts';

/** Separates a job from the bytes of its files and of its standard input, which is the last input. */
export function storeRequest(
  request: JobRequest,
  uploads: readonly ({ destination: string } & JobInput)[],
): { request: StoredRequest; inputs: JobInput[] } {
  const { files = {}, ...job } = request;
  const given = Object.entries(files).map(([destination, content]) => ({ destination, ...inputOf(content) }));
  const inputs = [...given, ...uploads];
  const seen = new Set<string>();
  const twice = inputs.find(({ destination }) => seen.size === seen.add(destination).size);
  if (twice !== undefined) {
    throw new SkillcellError(
      'job.invalid',
      `Cannot accept the job: two files have one destination, got "${twice.destination}".`,
    );
  }
  const stored = inputs.map((input) => ({
    destination: input.destination,
    executable: input.executable,
    ...measured(input),
  }));
  if (job.kind === 'script' || job.stdin === undefined) {
    return { request: { job, files: stored, stdin: null }, inputs };
  }
  const { stdin, ...withoutStdin } = job;
  const last = inputOf(stdin);
  return { request: { job: withoutStdin, files: stored, stdin: measured(last) }, inputs: [...inputs, last] };
}

function measured({ content }: JobInput): Pick<StoredFile, 'bytes' | 'sha256'> {
  if (!(content instanceof Uint8Array)) return { bytes: content.size, sha256: content.sha256 };
  return { bytes: content.length, sha256: createHash('sha256').update(content).digest('hex') };
}

function inputOf(content: RequestContent): JobInput {
  if (typeof content === 'string') return { content: Buffer.from(content), executable: false };
  return { content: Buffer.from(content.base64, 'base64'), executable: content.executable ?? false };
}
