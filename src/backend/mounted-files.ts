import type { Diagnostic } from '../contracts/errors/diagnostic.ts';

/** A file of a mount. */
export interface MountedFile {
  /** Below the mount. */
  path: string;
  bytes: number;
}

/** Bytes of a file, and what they are a version of. */
export interface ReadFile {
  content: Uint8Array;
  /** Of an object: its ETag. */
  etag?: string;
}

/** What a mount can do; one that is only read cannot write. */
export interface MountedFiles {
  /** All files below a folder, or the whole mount by an empty path, and what of it is left out. */
  list(folder: string, signal?: AbortSignal): Promise<{ files: MountedFile[]; diagnostics: Diagnostic[] }>;
  /** Undefined where there is no such file. @throws SkillcellError `file.unreadable` where it is too large */
  read(path: string, signal?: AbortSignal): Promise<ReadFile | undefined>;
  /** Whether there is a file of that path, without reading it. */
  has(path: string, signal?: AbortSignal): Promise<boolean>;
  /** Undefined where another one has written. */
  write?(
    path: string,
    content: Uint8Array,
    expected: { etag: string | null } | 'any',
    signal?: AbortSignal,
  ): Promise<string | undefined>;
}
