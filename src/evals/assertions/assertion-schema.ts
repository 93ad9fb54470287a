import * as z from 'zod/mini';
import { shownPathFault } from '../../protocol/files/shown-path.ts';

/** Fields of all assertions. */
interface AnyAssertion {
  /** Name in a report. */
  name?: string;
}

/** Options of a search in a text. */
interface TextAssertion {
  ignore_case?: boolean;
  /** Whether it passes if the text is not found. */
  not?: boolean;
}

/** A place in a JSON value. */
interface JsonPlace {
  /** A JSON pointer (RFC 6901), such as `/rows/0/total`; without it the whole value. */
  at?: string;
}

/** An assertion as it is written; a plain text stands for an assertion of the kind `prose`. */
export type AssertionSpec = AnyAssertion &
  (
    | { type: 'prose'; text: string }
    | { type: 'file-exists'; path: string; not?: boolean }
    | ({ type: 'file-contains'; path: string; text: string } & TextAssertion)
    | ({ type: 'file-matches'; path: string; pattern: string } & TextAssertion)
    | { type: 'file-equals'; path: string; text: string }
    | ({ type: 'json-equals'; path: string; value: unknown; tolerance?: number } & JsonPlace)
    | ({ type: 'value-equals'; value: unknown; tolerance?: number } & JsonPlace)
    | ({ type: 'value-in-range'; min?: number; max?: number } & JsonPlace)
    | ({ type: 'value-fits-schema'; schema: Record<string, unknown> } & JsonPlace)
    | ({ type: 'output-contains'; text: string; stream?: 'stdout' | 'stderr' } & TextAssertion)
    | ({ type: 'output-matches'; pattern: string; stream?: 'stdout' | 'stderr' } & TextAssertion)
    | { type: 'check'; program: string }
  );

/** An assertion of one kind. */
export type AssertionOf<Type extends AssertionSpec['type']> = Extract<AssertionSpec, { type: Type }>;

const name = z.optional(z.string().check(z.minLength(1), z.maxLength(200)));
const path = z.string().check(
  z.superRefine((given, context) => {
    const fault = shownPathFault(given);
    if (fault !== undefined) context.addIssue({ code: 'custom', message: `must be a relative path: ${fault}` });
  }),
);
const text = z.string().check(z.minLength(1));
const filled = z.string().check(z.refine((given) => given.trim() !== '', 'must be a text that is not empty'));
const flag = z.optional(z.boolean());
const ofText = { ignore_case: flag, not: flag };
const at = z.optional(
  z.string().check(z.regex(/^(?:\/(?:[^~/]|~[01])*)*$/, 'must be a JSON pointer, such as /rows/0/total')),
);
const tolerance = z.optional(z.number().check(z.minimum(0)));
const stream = z.optional(z.enum(['stdout', 'stderr']));
const present = z.custom((value) => value !== undefined, 'must be a JSON value');

const kinds = [
  z.strictObject({ type: z.literal('prose'), name, text: filled }),
  z.strictObject({ type: z.literal('file-exists'), name, path, not: flag }),
  z.strictObject({ type: z.literal('file-contains'), name, path, text, ...ofText }),
  z.strictObject({ type: z.literal('file-matches'), name, path, pattern: text, ...ofText }),
  z.strictObject({ type: z.literal('file-equals'), name, path, text: z.string() }),
  z.strictObject({ type: z.literal('json-equals'), name, path, at, value: present, tolerance }),
  z.strictObject({ type: z.literal('value-equals'), name, at, value: present, tolerance }),
  z
    .strictObject({
      type: z.literal('value-in-range'),
      name,
      at,
      min: z.optional(z.number()),
      max: z.optional(z.number()),
    })
    .check(
      z.refine(({ min, max }) => (min ?? max) !== undefined, 'must have min, max or both'),
      z.refine(({ min = -Infinity, max = Infinity }) => min <= max, 'must have no min above its max'),
    ),
  z.strictObject({ type: z.literal('value-fits-schema'), name, at, schema: z.record(z.string(), z.unknown()) }),
  z.strictObject({ type: z.literal('output-contains'), name, text, stream, ...ofText }),
  z.strictObject({ type: z.literal('output-matches'), name, pattern: text, stream, ...ofText }),
  z.strictObject({ type: z.literal('check'), name, program: path }),
] as const;
const kindNames = kinds.map(({ shape }) => shape.type.def.values[0]).filter((kind) => kind !== 'prose');

/** Accepts assertions of known kinds; patterns and schemas are compiled later. */
export const assertionSchema: z.ZodMiniType = z.discriminatedUnion(
  'type',
  kinds,
  `must name a kind of assertion: ${kindNames.join(', ')}`,
);
