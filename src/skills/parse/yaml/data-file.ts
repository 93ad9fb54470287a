import type { Node } from 'yaml';
import { decodeText } from '../../text/decode-text.ts';
import type { TextPlace } from '../../text/text-place.ts';
import { type PlaceOf, readYaml } from './read-yaml.ts';

/** Root of a YAML file beside a SKILL.md, or why it can't be read. */
export type DataFile =
  | { ok: true; root: Node | null; placeOf: PlaceOf; text: string }
  | { ok: false; message: string; place?: TextPlace };

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
      message: decoded.fault === 'encoding' ? 'the file is not UTF-8, or holds a NUL' : 'the file is over 1 MiB',
    };
  }
  const reading = readYaml(decoded.text);
  return reading.ok ? { ...reading, text: decoded.text } : reading;
}
