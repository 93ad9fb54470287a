import type { Readable } from 'node:stream';

/** Bytes of a stored file. `end` is not part of them. */
export interface ByteRange {
  start: number;
  end: number;
}

/** The bytes of jobs: inputs, output and artifacts, by the id of the job and a path. */
export interface JobFiles {
  /** Stores the inputs of a new job, in order: input 0 is `in/0`. They are on the disk when this resolves. */
  create(id: string, inputs: readonly JobInput[]): Promise<void>;
  /** Absolute path of a file or folder on the host that runs the job. */
  path(id: string, name: string): string;
  /** Bytes of a file; undefined if it is missing, or no regular file. */
  size(id: string, name: string): Promise<number | undefined>;
  /** Reads a file. */
  read(id: string, name: string, range: ByteRange): Readable;
  /** Removes all of a job. */
  remove(id: string): Promise<void>;
  /** Whether files can be kept: their place is the one that was opened. */
  isReady(): Promise<boolean>;
  /** The ids of all jobs with files. */
  ids(): Promise<string[]>;
}

/** The content of one input: in memory, or read when it is stored. */
export interface JobInput {
  content: Uint8Array | StoredContent;
  executable: boolean;
}

/** Bytes that lie elsewhere. */
export interface StoredContent {
  /** In bytes. */
  size: number;
  /** 64 hex digits. */
  sha256: string;
  read(): Readable;
}
