import { createHash } from 'node:crypto';
import type { JobLimits } from '../../contracts/jobs/limits.ts';
import type { Artifact, OmittedFile } from '../../contracts/jobs/result.ts';
import { SkillcellError } from '../../contracts/errors/skillcell-error.ts';
import type { StreamReader } from '../../protocol/channel/channel.ts';
import { createTarReader, TarRefused } from '../../protocol/files/tar.ts';
import { invisibleFault } from '../../protocol/files/shown-path.ts';
import { mediaType } from './media-type.ts';
import { writeBeneath } from '../../durable/write-beneath.ts';

/** Takes the artifacts that a sandbox sends. The archive is hostile until its caps and names are checked. */
export interface ArtifactCollector {
  /** Begins an archive. @returns the reader of its stream @throws {TarRefused} at a second archive */
  begin(): StreamReader;
  /**
   * Resolves when the archive is complete, at once if none began. Call it after the result has arrived: the sandbox sends its
   * archive before the result, so an archive without an end is then broken.
   */
  done(): Promise<void>;
  artifacts: Artifact[];
  /** Files that arrived but could not be written. */
  omitted: OmittedFile[];
  /** Bytes by path, if no folder was given. */
  kept: Map<string, Buffer>;
}

/** Errors of the output folder itself. The name or kind of a file cannot cause them, so they are the host's failure. */
const HOST_FAULTS: ReadonlySet<string> = new Set([
  'EACCES',
  'EDQUOT',
  'EIO',
  'EMFILE',
  'ENFILE',
  'ENOENT',
  'ENOSPC',
  'EPERM',
  'EROFS',
]);

function writeFailure(code: string, path: string, cause: unknown): SkillcellError {
  const message = `Cannot write the artifact ${JSON.stringify(path)} to the output folder of the job: ${code}.`;
  return new SkillcellError('artifact.write-failed', message, { cause });
}

/**
 * Writes an artifact below the output folder of its job.
 *
 * @returns the omitted file, if it cannot have its name
 * @throws SkillcellError `artifact.write-failed` for a fault of the folder
 */
export async function writeArtifact(folder: string, path: string, bytes: Buffer): Promise<OmittedFile | undefined> {
  try {
    await writeBeneath(folder, path, bytes);
    return undefined;
  } catch (cause) {
    const code = (cause as NodeJS.ErrnoException).code ?? 'error';
    if (HOST_FAULTS.has(code)) throw writeFailure(code, path, cause);
    return { path, reason: `it cannot be written (${code})` };
  }
}

/** Creates the collector of one job. `folder` is the output folder; without it the files stay in memory. */
export function receiveArtifacts(
  limits: JobLimits,
  folder: string | undefined,
  onArtifact: (artifact: Artifact) => Promise<void>,
): ArtifactCollector {
  const artifacts: Artifact[] = [];
  const omitted: OmittedFile[] = [];
  const kept = new Map<string, Buffer>();
  let begun = false;
  let ended = false;
  const caps = {
    files: limits.artifactFiles,
    fileBytes: limits.artifactFileBytes,
    totalBytes: limits.artifactTotalBytes,
  };
  const archive = createTarReader(caps, async ({ path, bytes }) => {
    const fault = invisibleFault(path);
    // A correct sandbox omits such a file: a sandbox that sends it was taken over.
    if (fault !== undefined) throw new TarRefused(`Cannot take an archive: ${fault}.`);
    const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    if (folder === undefined) kept.set(path, buffer);
    else {
      const left = await writeArtifact(folder, path, buffer);
      if (left !== undefined) {
        omitted.push(left);
        return;
      }
    }
    const sha256 = createHash('sha256').update(buffer).digest('hex');
    const artifact: Artifact = {
      path,
      bytes: buffer.length,
      sha256,
      mediaType: mediaType(path),
      visibility: 'external',
    };
    artifacts.push(artifact);
    await onArtifact(artifact);
  });
  return {
    artifacts,
    omitted,
    kept,
    async done() {
      if (begun && !ended) throw new TarRefused('Cannot take an archive: the result came before its end.');
      if (begun) await archive.done;
    },
    begin() {
      if (begun) throw new TarRefused('Cannot take an archive: there was one already.');
      begun = true;
      return {
        data: (chunk) => archive.reader.data(chunk),
        end() {
          ended = true;
          archive.reader.end();
        },
      };
    },
  };
}
