/** A tool, as far as stubs need it. */
export interface StubTool {
  /** `crm.find`. */
  id: string;
  /** For the model; untrusted text. */
  description: string;
  /** JSON schemas; absent means any value. */
  input?: unknown;
  output?: unknown;
}

/** A language of stubs. JavaScript uses those of TypeScript. */
export type StubLanguage = 'typescript' | 'python';

/** Tools and spaces below one name, which programs reach with a dot. */
export interface ToolPlaces<Tool> {
  tools: Map<string, Tool>;
  spaces: Map<string, ToolPlaces<Tool>>;
}

/** Deeper names help no program, and Python allows at most 100 levels. */
const MOST_SEGMENTS = 6;

/** Names with another meaning in the guest modules or in the language. */
const CONFUSING: Readonly<Record<StubLanguage, RegExp>> = {
  typescript: /^(?:__proto__|constructor|prototype|then|toJSON|toString|valueOf)$/,
  python: /^(?:_.*|aio)$/,
};

/** The method of the first level that calls any tool by its id. */
const CALL = 'call';

const IDENTIFIER = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** Python's keywords, which cannot be names (3.14). */
export const PYTHON_KEYWORDS: ReadonlySet<string> = new Set(
  (
    'False None True and as assert async await break class continue def del elif else except finally for from global if import ' +
    'in is lambda nonlocal not or pass raise return try while with yield'
  ).split(' '),
);

/**
 * Sorts tools by the form of their calls: `tools.crm.find(…)` if each part of the id is a plain name, else `tools.call('crm.find', …)`.
 *
 * @param tools in order; of two with the same id the first counts
 * @param language whose rules for names apply
 * @returns the tree of tools with plain names, and the other tools
 */
export function placeTools<Tool extends Pick<StubTool, 'id'>>(
  tools: readonly Tool[],
  language: StubLanguage,
): { places: ToolPlaces<Tool>; byCall: Tool[] } {
  const distinct = [...new Map(tools.toReversed().map((tool) => [tool.id, tool])).values()].toReversed();
  const holders = new Set(distinct.flatMap(({ id }) => prefixesOf(id)));
  const places: ToolPlaces<Tool> = { tools: new Map(), spaces: new Map() };
  const byCall: Tool[] = [];
  for (const tool of distinct) {
    const segments = tool.id.split('.');
    const isPlain =
      segments.length <= MOST_SEGMENTS &&
      segments[0] !== CALL &&
      segments.every((segment) => isPlainName(segment, language));
    // A name that holds other tools cannot also be a tool.
    if (!isPlain || holders.has(tool.id)) byCall.push(tool);
    else spaceOf(places, segments.slice(0, -1)).tools.set(segments.at(-1) ?? '', tool);
  }
  return { places, byCall };
}

function isPlainName(segment: string, language: StubLanguage): boolean {
  if (!IDENTIFIER.test(segment) || CONFUSING[language].test(segment)) return false;
  return language !== 'python' || !PYTHON_KEYWORDS.has(segment);
}

function prefixesOf(id: string): string[] {
  const segments = id.split('.');
  return segments.slice(1, MOST_SEGMENTS).map((_, at) => segments.slice(0, at + 1).join('.'));
}

function spaceOf<Tool>(places: ToolPlaces<Tool>, segments: readonly string[]): ToolPlaces<Tool> {
  let space = places;
  for (const segment of segments) {
    const next = space.spaces.get(segment) ?? { tools: new Map(), spaces: new Map() };
    space.spaces.set(segment, next);
    space = next;
  }
  return space;
}
