/** One name in a source: in an archive, a commit or a bucket. */
export interface SourceEntry {
  /** Path below the source, `/` between folders. */
  path: string;
  kind: 'file' | 'link' | 'submodule' | 'other';
  /** Bytes of a file, as the source reports them. */
  bytes: number;
  executable: boolean;
}

/** The files of a source. They are never opened through paths of the file system. */
export interface SourceFiles {
  /** Files and other names; folders have no entry of their own. */
  readonly entries: readonly SourceEntry[];
  /**
   * Reads one file.
   *
   * @param path of an entry of kind `file`
   * @param limit bytes; larger files are refused
   * @throws Error where the file is missing or too large
   */
  read(path: string, limit: number): Promise<Uint8Array>;
}
