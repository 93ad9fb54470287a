/** An entry as the directory of an archive lists it, before anything is inflated. */
export interface ListedEntry {
  /** As it is listed, a folder's without the slash at its end. */
  name: string;
  kind: 'file' | 'folder' | 'link' | 'other';
  /** Bytes of a file, as they are declared. */
  bytes: number;
  executable: boolean;
}
