import * as z from 'zod/mini';
import { checkOptions } from '../../../contracts/checks/check-options.ts';

const text = z.string().check(z.minLength(1));
const anyFunction = z.custom((value) => typeof value === 'function', 'must be a function');

/** The schema of the rules for outgoing requests and of their timeout. */
export const OUTGOING_SHAPE: Readonly<Record<string, z.ZodMiniType>> = {
  // The store itself decides which addresses are allowed.
  url: z.string(),
  allowPrivate: z.optional(z.array(text)),
  ports: z.optional(z.array(z.number().check(z.int(), z.minimum(1), z.maximum(65_535)))),
  lookup: z.optional(anyFunction),
  without: z.optional(z.array(text)),
  timeoutMs: z.optional(z.number().check(z.int(), z.minimum(1), z.maximum(600_000))),
};

/**
 * Validates the options of a store: the common ones and its own.
 *
 * @throws SkillcellError `options.invalid`, naming the field, the allowed values, and the value
 */
export function checkStoreOptions(own: Readonly<Record<string, z.ZodMiniType>>, given: object): void {
  const schema = z.strictObject({
    kind: z.enum(['builtin', 'company', 'user', 'project', 'custom']),
    cache: z.custom(isTreeCache, 'must be a cache, such as openTreeCache()'),
    ...own,
  });
  checkOptions(schema, given, { action: 'open the store' });
}

function isTreeCache(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  const given = value as Record<string, unknown>;
  return typeof given['folder'] === 'string' && ['find', 'keep'].every((name) => typeof given[name] === 'function');
}

const CACHE_OPTIONS = z.strictObject({
  folder: z.string().check(z.regex(/^[^\0]+$/, 'must be a path')),
  maxBytes: z.number().check(z.int(), z.minimum(1)),
});

/** Validates the options of a cache. @throws SkillcellError `options.invalid` */
export function checkCacheOptions(given: { folder: unknown; maxBytes: unknown }): void {
  checkOptions(CACHE_OPTIONS, given, { action: 'open the cache of skills' });
}
