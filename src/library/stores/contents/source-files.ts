/** One name in a source, whatever holds it: an archive, a commit, a bucket. */
export interface SourceEntry {
  /** Path below the source, `/` between folders. */
  path: string;
  kind: 'file' | 'link' | 'submodule' | 'other';
  /** Bytes of a file, as its holder says. */
  bytes: number;
  executable: boolean;
}

/** The files of a source. Nothing of it is opened by a path of the file system. */
export interface SourceFiles {
  /** Files and what else has a name; folders have no entry of their own. */
  readonly entries: readonly SourceEntry[];
  /**
   * Reads one file.
   *
   * @param path that of an entry of kind `file`
   * @param limit bytes, over which it is refused
   * @throws Error where it is not there, or larger
   */
  read(path: string, limit: number): Promise<Uint8Array>;
}
