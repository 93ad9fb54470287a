import type { Readable, Writable } from 'node:stream';

/** Signals that end a job and clean up. */
export type EndingSignal = 'SIGINT' | 'SIGTERM' | 'SIGHUP';

/** The parts of the process that the command line needs; `process` itself fits. */
export interface CliIo {
  readonly stdin: Readable & { isTTY?: boolean };
  readonly stdout: Writable & { isTTY?: boolean };
  readonly stderr: Writable & { isTTY?: boolean };
  readonly env: Record<string, string | undefined>;
  cwd(): string;
  on(signal: EndingSignal, listener: () => void): unknown;
  off(signal: EndingSignal, listener: () => void): unknown;
  /** Ends the process at once. Only used when a clean end takes too long. */
  exit(code: number): void;
}
