/** A source of skills, as a user typed it. No part of it holds a credential. */
export interface SourceSpec {
  kind: 'directory' | 'archive' | 'git' | 's3' | 'web' | 'mcp';
  /** Absolute path, or address. */
  source: string;
  /** Git only: the requested branch, tag or commit. */
  ref?: string;
  /** Folder in the source; the whole source if absent. */
  folder?: string;
}
