import type { OutputText } from '../../contracts/jobs/result.ts';
import { addPiece } from '../../protocol/channel/add-piece.ts';
import type { Channel, StreamReader } from '../../protocol/channel/channel.ts';
import { outputText } from '../../protocol/output-text.ts';
import type { EmitEvent } from './event-stream.ts';
import { createOutputEvents } from './output-events.ts';

/** Output of a job's runs. The output of the last run is kept. */
export interface OutputCollector {
  /** Receives the streams of the next run and drops the output of the run before. */
  begin(channel: Channel, run: { run: number; stdout: number; stderr: number }): void;
  text(stream: 'stdout' | 'stderr', bytes: number): OutputText;
  /** Emits an unfinished character at the end of a run as a broken one. */
  flush(): void;
}

/** Options of {@link receiveOutput}. */
export interface ReceiveOutputOptions {
  jobId: string;
  emit: EmitEvent;
  /** Most bytes kept of each stream; a sandbox that sends more is refused. */
  keptBytes: number;
  /** Called at the end of each stream. */
  onEnd(): void;
}

/** Creates a collector, which also emits the output as events. */
export function receiveOutput({ jobId, emit, keptBytes, onEnd }: ReceiveOutputOptions): OutputCollector {
  const events = createOutputEvents(jobId, emit);
  let current = 0;
  let kept: Record<'stdout' | 'stderr', { chunks: Buffer[]; size: number }> = empty();

  const reader = (run: number, name: 'stdout' | 'stderr'): StreamReader => {
    let size = 0;
    return {
      data(chunk) {
        size += chunk.length;
        if (size > keptBytes) throw new Error(`more than ${keptBytes} bytes of output`);
        if (run === current) {
          addPiece(kept[name].chunks, chunk);
          kept[name].size += chunk.length;
        }
        return events.write(name, chunk);
      },
      end: onEnd,
    };
  };

  return {
    begin(channel, { run, stdout, stderr }) {
      if (run !== current + 1) throw new Error(`a run that is not the next one, got ${run}`);
      current = run;
      kept = empty();
      channel.receive(stdout, reader(run, 'stdout'));
      channel.receive(stderr, reader(run, 'stderr'));
    },
    text(stream, bytes) {
      const { chunks, size } = kept[stream];
      // A sandbox that was killed could not report how much its program wrote.
      return outputText(chunks, Math.max(bytes, size));
    },
    flush: () => events.flush(),
  };
}

function empty(): Record<'stdout' | 'stderr', { chunks: Buffer[]; size: number }> {
  return { stdout: { chunks: [], size: 0 }, stderr: { chunks: [], size: 0 } };
}
