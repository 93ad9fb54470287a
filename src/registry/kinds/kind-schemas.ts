import * as z from 'zod';
import { isSlug } from '../../skills/text/slug.ts';
import { oneLine } from '../../skills/text/text.ts';

/** A reference by name. Without a namespace, it is that of the referring object, then `default`. */
export interface NameReference {
  name: string;
  namespace?: string | undefined;
}

/** A system prompt with skills. */
export interface GhostSpec {
  description?: string | undefined;
  systemPrompt?: string | undefined;
  /** Names of skills. */
  skills: string[];
}

/** A ghost in a shell, with a model. */
export interface BotSpec {
  description?: string | undefined;
  ghostRef: NameReference;
  /** Skills with `bindShells` are offered only if they list it. */
  shell?: string | undefined;
  model?: string | undefined;
}

/** Bots that work together. */
export interface TeamSpec {
  description?: string | undefined;
  members: { botRef: NameReference; role?: string | undefined; prompt?: string | undefined }[];
}

/** The kinds that refer to others, with their specs. */
export interface KindSpecs {
  Ghost: GhostSpec;
  Bot: BotSpec;
  Team: TeamSpec;
}

/** A ghost, bot or team as requests hold it. The labels are those of an earlier answer, and have no effect. */
export interface KindInput<Kind extends keyof KindSpecs = keyof KindSpecs> {
  apiVersion: 'skillcell/v1' | 'agent.wecode.io/v1';
  kind: Kind;
  metadata: {
    name: string;
    namespace: string;
    labels?: { id?: string | undefined; user_id?: string | undefined } | undefined;
  };
  spec: KindSpecs[Kind];
}

/** The form that answers have. */
export const API_VERSION = 'skillcell/v1';
/** The forms that requests may have: ours, and that of Wegent. */
const ACCEPTED = [API_VERSION, 'agent.wecode.io/v1'] as const;
/** The namespace of objects that name none. */
export const DEFAULT_NAMESPACE = 'default';

const NAME_LENGTH = 100;
const TEXT_LENGTH = 200_000;
/** Most skills of a ghost, and most members of a team. Each is locked by a statement of its own when it is referred to. */
const MOST_REFERENCES = 100;

/** The name of an object. */
export const NAME_SCHEMA: z.ZodType<string> = z
  .string()
  .min(1)
  .max(NAME_LENGTH)
  .refine((text) => text === oneLine(text), 'must be on one line, without hidden characters');

/** A namespace of an object. */
export const NAMESPACE_SCHEMA: z.ZodType<string> = z
  .string()
  .refine(isSlug, 'must be letters and digits in lower case, with single hyphens');

const TEXT = z.string().max(TEXT_LENGTH).optional();
const REFERENCE = z.strictObject({ name: NAME_SCHEMA, namespace: NAMESPACE_SCHEMA.optional() });

const SPECS: { [Kind in keyof KindSpecs]: z.ZodType<KindSpecs[Kind]> } = {
  Ghost: z.strictObject({
    description: TEXT,
    systemPrompt: TEXT,
    skills: z.array(NAME_SCHEMA).max(MOST_REFERENCES).default([]),
  }),
  Bot: z.strictObject({
    description: TEXT,
    ghostRef: REFERENCE,
    shell: NAME_SCHEMA.optional(),
    model: NAME_SCHEMA.optional(),
  }),
  Team: z.strictObject({
    description: TEXT,
    members: z
      .array(z.strictObject({ botRef: REFERENCE, role: NAME_SCHEMA.optional(), prompt: TEXT }))
      .max(MOST_REFERENCES),
  }),
};

/** The schemas of requests, by kind. */
export const KIND_SCHEMAS: { [Kind in keyof KindSpecs]: z.ZodType<KindInput<Kind>> } = {
  Ghost: inputOf('Ghost'),
  Bot: inputOf('Bot'),
  Team: inputOf('Team'),
};

function inputOf<Kind extends keyof KindSpecs>(kind: Kind): z.ZodType<KindInput<Kind>> {
  return z.strictObject({
    apiVersion: z.enum(ACCEPTED),
    kind: z.literal(kind),
    metadata: z.strictObject({
      name: NAME_SCHEMA,
      namespace: NAMESPACE_SCHEMA.default(DEFAULT_NAMESPACE),
      labels: z.strictObject({ id: z.string().optional(), user_id: z.string().optional() }).optional(),
    }),
    spec: SPECS[kind],
  }) as unknown as z.ZodType<KindInput<Kind>>;
}
