import type { ArchiveFile } from '../../../archives/read-archive-file.ts';

/** Where an archive is, and how it comes from there. */
export interface ArchivePlace {
  /** Absolute path, or address. */
  source: string;
  /**
   * What no change of the archive leaves as it is, where that can be told without its bytes. Of another one, what was listed last holds until it is
   * listed again.
   *
   * @throws SkillcellError `store.unavailable`
   */
  identity?(): Promise<string>;
  /** @throws SkillcellError `store.unavailable`, `archive.refused`, `source.refused` */
  read(signal: AbortSignal | undefined): Promise<ArchiveFile>;
}
