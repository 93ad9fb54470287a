import type { Diagnostic } from '../contracts/errors/diagnostic.ts';

/** A file of a mount. */
export interface MountedFile {
  /** Path below the mount. */
  path: string;
  bytes: number;
}

/** Bytes of a file, and their version. */
export interface ReadFile {
  content: Uint8Array;
  /** ETag of an object. */
  etag?: string;
}

/** Operations of a mount; a read-only mount has no `write`. */
export interface MountedFiles {
  /** All files below a folder, or of the whole mount for an empty path, and diagnostics of the files that are left out. */
  list(folder: string, signal?: AbortSignal): Promise<{ files: MountedFile[]; diagnostics: Diagnostic[] }>;
  /** Undefined if there is no such file. @throws SkillcellError `file.unreadable` if it is too large */
  read(path: string, signal?: AbortSignal): Promise<ReadFile | undefined>;
  /** Whether there is a file of that path, without reading it. */
  has(path: string, signal?: AbortSignal): Promise<boolean>;
  /** Undefined if another writer came first. */
  write?(
    path: string,
    content: Uint8Array,
    expected: { etag: string | null } | 'any',
    signal?: AbortSignal,
  ): Promise<string | undefined>;
}
