import { JsonRefused, parseBoundedJson } from '../../protocol/channel/bounded-json.ts';
import { readYaml } from '../../skills/parse/yaml/read-yaml.ts';

/**
 * Parses JSON that a person has written. A key that is there twice is refused: a parser of JSON keeps the last one, and what is passed over would
 * count as passed.
 *
 * @throws {JsonRefused}
 */
export function parseWrittenJson(bytes: Uint8Array, maxBytes: number): unknown {
  const value = parseBoundedJson(bytes, { maxBytes });
  // JSON is YAML as well, whose reader knows the keys and their places.
  const read = readYaml(Buffer.from(bytes).toString());
  if (!read.ok) throw new JsonRefused(`line ${read.place.line}, column ${read.place.column}: ${read.message}`);
  return value;
}
