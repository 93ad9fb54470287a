import { SchemaRefused } from '../../schema-refused.ts';
import type { Keyword } from './keyword.ts';
import { KEYWORDS_OF_ANY } from './keywords-of-any.ts';
import { KEYWORDS_OF_ARRAYS_07, KEYWORDS_OF_ARRAYS_2020, UNEVALUATED_ITEMS } from './keywords-of-arrays.ts';
import { KEYWORDS_OF_OBJECTS, UNEVALUATED_PROPERTIES } from './keywords-of-objects.ts';
import { KEYWORDS_OF_SCALARS } from './keywords-of-scalars.ts';
import { KEYWORDS_OF_DEPENDENTS_07, KEYWORDS_OF_DEPENDENTS_2020, KEYWORDS_OF_SCHEMAS } from './keywords-of-schemas.ts';
import { quotedText } from '../../../../contracts/text/quoted-text.ts';

/** A draft of JSON Schema. */
export interface Dialect {
  keywords: readonly Keyword[];
  names: ReadonlySet<string>;
  /** Keywords that identify a schema. */
  identifiers: readonly string[];
  /** Whether keywords beside `$ref` apply. */
  refHasSiblings: boolean;
}

/** Keywords that restrict no value: they are only notes. */
const ANNOTATIONS = ['$comment', 'title', 'description', 'default', 'examples', 'deprecated', 'readOnly', 'writeOnly'];
/** Keywords with schemas for references. Both are read in both drafts, because generators mix them. */
export const DEFINITIONS: readonly string[] = ['$defs', 'definitions'];

/** `unevaluatedItems` and `unevaluatedProperties` come last, because they depend on the marks of all other keywords. */
const DRAFT_2020: Dialect = dialect(
  [
    ...KEYWORDS_OF_ANY,
    ...KEYWORDS_OF_SCALARS,
    ...KEYWORDS_OF_OBJECTS,
    ...KEYWORDS_OF_ARRAYS_2020,
    ...KEYWORDS_OF_SCHEMAS,
    ...KEYWORDS_OF_DEPENDENTS_2020,
    UNEVALUATED_ITEMS,
    UNEVALUATED_PROPERTIES,
  ],
  { identifiers: ['$schema', '$id', '$anchor'], refHasSiblings: true },
);
const DRAFT_07: Dialect = dialect(
  [
    ...KEYWORDS_OF_ANY,
    ...KEYWORDS_OF_SCALARS,
    ...KEYWORDS_OF_OBJECTS,
    ...KEYWORDS_OF_ARRAYS_07,
    ...KEYWORDS_OF_SCHEMAS,
    ...KEYWORDS_OF_DEPENDENTS_07,
  ],
  { identifiers: ['$schema', '$id'], refHasSiblings: false },
);

/** The dialect that `$schema` names. @throws {SchemaRefused} for another dialect */
export function dialectOf($schema: unknown): Dialect {
  if ($schema === undefined) return DRAFT_2020;
  const name = typeof $schema === 'string' ? $schema : '';
  if (/^https?:\/\/json-schema\.org\/draft\/2020-12\/schema#?$/.test(name)) return DRAFT_2020;
  if (/^https?:\/\/json-schema\.org\/draft-07\/schema#?$/.test(name)) return DRAFT_07;
  throw new SchemaRefused(`the keyword "$schema" with another draft than 2020-12 and draft-07 (${quotedText(name)})`);
}

/** Whether a keyword restricts no value. */
export function isAnnotation(name: string): boolean {
  return ANNOTATIONS.includes(name) || name.startsWith('x-');
}

function dialect(keywords: readonly Keyword[], options: Pick<Dialect, 'identifiers' | 'refHasSiblings'>): Dialect {
  return { keywords, names: new Set(keywords.flatMap(({ names }) => names)), ...options };
}
