import { StringDecoder } from 'node:string_decoder';
import type { OutputEvent } from '../../contracts/jobs/events.ts';
import type { EmitEvent } from './event-stream.ts';
import { outputEvent } from './output-event.ts';

/** Output of a job's runs, as events. */
export interface OutputEvents {
  /** Resolves when there is room for more. */
  write(stream: OutputEvent['stream'], bytes: Buffer): Promise<void>;
  /** Ends a run: an unfinished character is emitted as a broken one. */
  flush(): void;
}

/** Decodes output as it arrives. A character split over two chunks is whole in the text of the later event. */
export function createOutputEvents(jobId: string, emit: EmitEvent): OutputEvents {
  const decoders = { stdout: new StringDecoder('utf8'), stderr: new StringDecoder('utf8') };
  return {
    write: (stream, bytes) => emit(outputEvent(jobId, stream, bytes, decoders[stream].write(bytes))),
    flush() {
      for (const stream of ['stdout', 'stderr'] as const) {
        const rest = decoders[stream].end();
        if (rest !== '') void emit(outputEvent(jobId, stream, new Uint8Array(0), rest));
      }
    },
  };
}
