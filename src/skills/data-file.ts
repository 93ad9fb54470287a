import type { Node } from 'yaml';
import { decodeText } from './decode-text.ts';
import { readYaml } from './read-yaml.ts';

/** Root of a YAML file beside a SKILL.md, or why it can't be read. */
export type DataFile = { ok: true; root: Node | null } | { ok: false; message: string; line?: number };

/**
 * Reads `tools.yaml` or `sources.yaml` up to its root node.
 *
 * @param bytes the whole file
 * @returns the root, null for an empty file, or the fault
 */
export function readDataFile(bytes: Uint8Array): DataFile {
  const decoded = decodeText(bytes);
  if ('fault' in decoded) {
    return {
      ok: false,
      message: decoded.fault === 'encoding' ? 'The file is not UTF-8, or holds a NUL' : 'The file is over 1 MiB',
    };
  }
  return readYaml(decoded.text);
}
