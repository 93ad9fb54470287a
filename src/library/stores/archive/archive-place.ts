import type { ArchiveFile } from '../../../archives/read-archive-file.ts';

/** The place of an archive, and the way to read it. */
export interface ArchivePlace {
  /** Absolute path, or address. */
  source: string;
  /**
   * A value that changes with every change of the archive, where it is known without reading the bytes. Places without it keep the last list until
   * the next call of `list`.
   *
   * @throws SkillcellError `store.unavailable`
   */
  identity?(): Promise<string>;
  /** @throws SkillcellError `store.unavailable`, `archive.refused`, `source.refused` */
  read(signal: AbortSignal | undefined): Promise<ArchiveFile>;
}
