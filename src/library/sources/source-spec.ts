/** A source of skills, as somebody named it. No part of it holds a credential. */
export interface SourceSpec {
  kind: 'directory' | 'archive' | 'git' | 's3' | 'web' | 'mcp';
  /** Absolute path, or address. */
  source: string;
  /** Of git: the branch, tag or commit that was asked for. */
  ref?: string;
  /** Folder in the source; without it the whole. */
  folder?: string;
}
