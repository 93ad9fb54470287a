import { holdsNamed } from '../../tools/schema/document/parts-within.ts';
import { isPlainObject } from '../../tools/schema/is-plain-object.ts';
import { quotedText } from '../../contracts/text/quoted-text.ts';

const HEADER = 'x-mcp-header';
/** RFC 9110, section 5.6.2. */
const TOKEN = /^[\w!#$%&'*+.^`|~-]+$/;
const TYPES: readonly unknown[] = ['string', 'integer', 'boolean'];
/** Keywords whose values are data or names, not schemas. */
const DATA: readonly string[] = ['const', 'default', 'dependentRequired', 'enum', 'example', 'examples', 'required'];

/**
 * Finds a header for an argument that no client can send (protocol of 2026-07-28, streamable HTTP): such a tool must not be offered.
 *
 * @param schema the input schema of a tool
 * @returns the fault; undefined for a valid schema
 */
export function headerFault(schema: unknown): string | undefined {
  const names = new Set<string>();

  /** @param isArgument whether only `properties` lead here */
  const visit = (node: unknown, isArgument: boolean): string | undefined => {
    if (Array.isArray(node)) return firstFault(node, false);
    if (!isPlainObject(node)) return undefined;
    const fault = Object.hasOwn(node, HEADER) ? ownFault(node, isArgument && node !== schema) : undefined;
    if (fault !== undefined) return fault;
    for (const [keyword, value] of Object.entries(node)) {
      if (DATA.includes(keyword)) continue;
      const leadsOn = isArgument && keyword === 'properties';
      const isNamed = holdsNamed(keyword) && isPlainObject(value);
      const found = isNamed ? firstFault(Object.values(value), leadsOn) : visit(value, false);
      if (found !== undefined) return found;
    }
    return undefined;
  };
  const firstFault = (nodes: readonly unknown[], isArgument: boolean): string | undefined => {
    for (const node of nodes) {
      const fault = visit(node, isArgument);
      if (fault !== undefined) return fault;
    }
    return undefined;
  };
  const ownFault = ({ [HEADER]: name, type }: Record<string, unknown>, isArgument: boolean): string | undefined => {
    const shown = typeof name === 'string' ? quotedText(name) : typeof name;
    if (!isArgument) return `${HEADER} may only stand in properties, and those of properties, got ${shown} elsewhere`;
    if (typeof name !== 'string' || !TOKEN.test(name)) return `${HEADER} must be a name that HTTP allows, got ${shown}`;
    if (!TYPES.includes(type))
      return `${HEADER} may only stand beside the type string, integer or boolean, got ${shown} beside another`;
    if (names.has(name.toLowerCase()))
      return `each ${HEADER} must have a name of its own, ignoring case, got ${shown} twice`;
    names.add(name.toLowerCase());
    return undefined;
  };
  return visit(schema, true);
}
