import type { Readable } from 'node:stream';
import type { Selectable } from 'kysely';
import type { JobRow } from '../../registry/database/tables.ts';

/** Bytes of a stored file. `end` is not part of them. */
export interface ByteRange {
  start: number;
  end: number;
}

/** The part of a job's row that says where its files are: those of its last attempt, on the host of its owner until it ends. */
export type FiledJob = Pick<Selectable<JobRow>, 'id' | 'attempt' | 'owner' | 'state'>;

/** The bytes of jobs: inputs, output and artifacts, by the id of the job and a path. */
export interface JobFiles {
  /** Stores the inputs of a new job, in order: input 0 is `in/0`. They are on the disk when this resolves. */
  create(id: string, inputs: readonly JobInput[]): Promise<void>;
  /**
   * Brings the inputs of a job to this host, which is to run it.
   *
   * @throws SkillcellError `file.unreadable` for inputs that are gone or changed
   */
  take(id: string, inputs: readonly ExpectedInput[]): Promise<void>;
  /** Absolute path of a file or folder on the host that runs the job. */
  path(id: string, name: string): string;
  /** Bytes of a file, which is on this host when this resolves; undefined if it is missing, or no regular file. */
  size(job: FiledJob, name: string): Promise<number | undefined>;
  /** Reads a file on this host. */
  read(id: string, name: string, range: ByteRange): Readable;
  /** Keeps files of an attempt, which are here, and its logs for other hosts. Its end is recorded after it. */
  publish(attempt: Pick<FiledJob, 'id' | 'attempt'>, names: readonly string[]): Promise<void>;
  /** Brings the logs of a finished job to this host. */
  bringLogs(job: FiledJob): Promise<void>;
  /** The job goes on at another host: its files here are worth nothing. */
  leave(id: string): Promise<void>;
  /** Removes all of a job. */
  remove(id: string): Promise<void>;
  /** Removes all of a job without a row, unless another host may be about to write its row. */
  removeStray(id: string): Promise<void>;
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

/** An input that was stored. */
export interface ExpectedInput extends Pick<StoredContent, 'sha256'> {
  bytes: number;
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
