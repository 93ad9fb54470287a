/** An entry in the directory of an archive, before any data is inflated. */
export interface ListedEntry {
  /** The listed name; for a folder, without the slash at its end. */
  name: string;
  kind: 'file' | 'folder' | 'link' | 'other';
  /** Declared bytes of a file. */
  bytes: number;
  executable: boolean;
}
