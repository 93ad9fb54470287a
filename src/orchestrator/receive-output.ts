import type { OutputText } from '../contracts/result.ts';
import type { StreamReader } from '../protocol/channel.ts';
import { outputText } from '../protocol/output-text.ts';
import { MAX_RUNS, outputStreams } from '../protocol/messages.ts';

/** Takes the output streams of a job's runs; what is kept is that of the last one. */
export interface OutputCollector {
  /** The reader of a stream, or `undefined` when no run has such a stream. */
  reader(stream: number): StreamReader | undefined;
  /** A run begins: what earlier runs wrote is let go. */
  begin(run: number): void;
  text(stream: 'stdout' | 'stderr', bytes: number): OutputText;
}

/** Creates a collector that keeps at most `keptBytes` of each stream; a sandbox that sends more is refused. */
export function receiveOutput(
  keptBytes: number,
  onChunk: (stream: 'stdout' | 'stderr', bytes: Buffer) => Promise<void>,
): OutputCollector {
  let current = 0;
  let kept: Record<'stdout' | 'stderr', { chunks: Buffer[]; size: number }> = empty();
  return {
    begin(run) {
      if (run !== current + 1) throw new Error(`Cannot take a run: it is not the next one, got ${run}.`);
      current = run;
      kept = empty();
    },
    reader(stream) {
      const run = Math.floor(stream / 2);
      if (run < 1 || run > MAX_RUNS || run > current) return undefined;
      const name = stream === outputStreams(run).stdout ? 'stdout' : 'stderr';
      let size = 0;
      return {
        data(chunk) {
          size += chunk.length;
          if (size > keptBytes) throw new Error(`Cannot take output: the sandbox sends more than ${keptBytes} bytes.`);
          if (run === current) {
            kept[name].chunks.push(chunk);
            kept[name].size += chunk.length;
          }
          return onChunk(name, chunk);
        },
        end: () => undefined,
      };
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
