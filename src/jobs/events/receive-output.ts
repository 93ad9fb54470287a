import type { OutputText } from '../../contracts/jobs/result.ts';
import { addPiece } from '../../protocol/channel/add-piece.ts';
import type { StreamReader } from '../../protocol/channel/channel.ts';
import { outputText } from '../../protocol/output-text.ts';

/** Takes the output streams of a job's runs; what is kept is that of the last one. */
export interface OutputCollector {
  /** A run begins: what earlier runs wrote is let go. Returns what reads its streams. */
  begin(run: number): Record<'stdout' | 'stderr', StreamReader>;
  text(stream: 'stdout' | 'stderr', bytes: number): OutputText;
}

/**
 * Creates a collector that keeps at most `keptBytes` of each stream; a sandbox that sends more is refused.
 *
 * @param onEnd told of the end of each stream
 */
export function receiveOutput(
  keptBytes: number,
  onChunk: (stream: 'stdout' | 'stderr', bytes: Buffer) => Promise<void>,
  onEnd: () => void,
): OutputCollector {
  let current = 0;
  let kept: Record<'stdout' | 'stderr', { chunks: Buffer[]; size: number }> = empty();

  const reader = (run: number, name: 'stdout' | 'stderr'): StreamReader => {
    let size = 0;
    return {
      data(chunk) {
        size += chunk.length;
        if (size > keptBytes) throw new Error(`Cannot take output: the sandbox sends more than ${keptBytes} bytes.`);
        if (run === current) {
          addPiece(kept[name].chunks, chunk);
          kept[name].size += chunk.length;
        }
        return onChunk(name, chunk);
      },
      end: onEnd,
    };
  };

  return {
    begin(run) {
      if (run !== current + 1) throw new Error(`Cannot take a run: it is not the next one, got ${run}.`);
      current = run;
      kept = empty();
      return { stdout: reader(run, 'stdout'), stderr: reader(run, 'stderr') };
    },
    text(stream, bytes) {
      const { chunks, size } = kept[stream];
      // A sandbox that was ended could not say how much its program wrote.
      return outputText(chunks, Math.max(bytes, size));
    },
  };
}

function empty(): Record<'stdout' | 'stderr', { chunks: Buffer[]; size: number }> {
  return { stdout: { chunks: [], size: 0 }, stderr: { chunks: [], size: 0 } };
}
