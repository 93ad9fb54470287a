import { createHash } from 'node:crypto';
import { SkillcellError } from '../contracts/errors/skillcell-error.ts';
import type { Artifact, JobResult, OmittedFile } from '../contracts/jobs/result.ts';
import { writeArtifact } from '../jobs/result/receive-artifacts.ts';
import { shownPathFault } from '../protocol/files/shown-path.ts';

/**
 * Downloads the artifacts of a job. An artifact that cannot have its name here is omitted, as by the orchestrator.
 *
 * @param read reads one artifact
 * @param folder a folder of this machine
 * @returns the result, with the artifacts that the folder holds
 * @throws SkillcellError `artifact.write-failed`, `service.unavailable` if bytes differ from those of the result
 */
export async function saveArtifacts(
  read: (path: string) => Promise<Buffer>,
  result: JobResult,
  folder: string,
): Promise<JobResult> {
  const artifacts: Artifact[] = [];
  const omitted: OmittedFile[] = [];
  for (const artifact of result.artifacts) {
    const { path } = artifact;
    const fault = shownPathFault(path);
    const left =
      fault === undefined
        ? await writeArtifact(folder, path, await checkedBytes(read, artifact))
        : { path, reason: fault };
    if (left === undefined) artifacts.push(artifact);
    else omitted.push(left);
  }
  return { ...result, artifacts, omitted: [...result.omitted, ...omitted] };
}

async function checkedBytes(read: (path: string) => Promise<Buffer>, { path, sha256 }: Artifact): Promise<Buffer> {
  const bytes = await read(path);
  if (createHash('sha256').update(bytes).digest('hex') === sha256) return bytes;
  const message = `Cannot keep the artifact: its bytes differ from those of the result, got ${JSON.stringify(path)}.`;
  throw new SkillcellError('service.unavailable', message);
}
