import type Docker from 'dockerode';
import { SkillcellError } from '../../../contracts/errors/skillcell-error.ts';

/** An engine, a registry or a package mirror that is silent for so long counts as dead. */
const SILENT_MS = 5 * 60_000;

/** Progress event of a build, a pull or an import. Each event has only some of the fields. */
interface ProgressEvent {
  stream?: string;
  status?: string;
  id?: string;
  progressDetail?: { total?: number };
  error?: string;
}

/**
 * Waits for the end of a build, a pull or an import, and passes on its progress line by line. An error event fails the whole call.
 *
 * @returns the last status; for an import, the id of the image
 * @throws SkillcellError `image.build-failed`
 */
export async function followProgress(
  engine: Docker,
  output: NodeJS.ReadableStream,
  onProgress: (line: string) => void,
  silentMs: number = SILENT_MS,
): Promise<string> {
  return await new Promise<string>((resolve, reject) => {
    let failure: string | undefined;
    let status = '';
    const fail = (reason: string, cause?: Error): void =>
      reject(
        new SkillcellError('image.build-failed', `Cannot build the image: ${reason.trim().slice(-1_000)}.`, { cause }),
      );
    const silence = setTimeout(() => {
      fail(`the engine said nothing for ${silentMs / 1_000} s`);
      (output as NodeJS.ReadableStream & { destroy?: () => void }).destroy?.();
    }, silentMs);
    const done = (error: Error | null): void => {
      clearTimeout(silence);
      if (error !== null) fail(error.message, error);
      else if (failure !== undefined) fail(failure);
      else resolve(status);
    };
    const onEvent = (event: ProgressEvent): void => {
      silence.refresh();
      failure ??= event.error;
      status = event.status ?? status;
      for (const line of linesOf(event)) if (line.trim() !== '') onProgress(line.trim());
    };
    engine.modem.followProgress(output, done, onEvent);
  });
}

/** Reports the steps of a transfer, but not its byte counters. */
function linesOf({ stream, status, id, progressDetail }: ProgressEvent): string[] {
  if (stream !== undefined) return stream.split(/[\r\n]+/);
  if (status === undefined || progressDetail?.total !== undefined) return [];
  return [id === undefined ? status : `${id}: ${status}`];
}
