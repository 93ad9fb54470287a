import { JsonRefused, parseBoundedJson } from '../../protocol/channel/bounded-json.ts';
import { readYaml } from '../../skills/parse/yaml/read-yaml.ts';

/**
 * Parses JSON that a person has written. A duplicate key is refused: a parser of JSON keeps the last one, and an assertion under the other one
 * would count as passed.
 *
 * @throws {JsonRefused}
 */
export function parseWrittenJson(bytes: Uint8Array, maxBytes: number): unknown {
  const value = parseBoundedJson(bytes, { maxBytes });
  // JSON is YAML too, and the reader of YAML knows the keys and their places.
  const read = readYaml(Buffer.from(bytes).toString());
  if (!read.ok) throw new JsonRefused(`line ${read.place.line}, column ${read.place.column}: ${read.message}`);
  return value;
}
