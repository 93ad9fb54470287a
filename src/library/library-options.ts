import * as z from 'zod/mini';
import { checkOptions } from '../contracts/checks/check-options.ts';
import type { SkillLibraryOptions } from './snapshot/skill-library.ts';

/** The longest timer of Node; a longer one fires at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

const path = z.string().check(z.minLength(1));
const isFunction = z.custom((value) => typeof value === 'function', 'must be a function');
const store = z.custom(isStore, 'must be a store, such as createDirectoryStore()');

// A descriptor has checks and codes of its own.
const schema = z.strictObject({
  stores: z.array(store),
  descriptor: z.optional(z.unknown()),
  bundleRoot: z.optional(path),
  builtinRoot: z.optional(z.nullable(path)),
  cacheDir: z.optional(path),
  stale: z.optional(z.enum(['refuse', 'use'])),
  lockFile: z.optional(path),
  frozen: z.optional(z.boolean()),
  admit: z.optional(isFunction),
  gate: z.optional(isFunction),
  lookIntervalMs: z.optional(z.number().check(z.int(), z.minimum(0), z.maximum(LONGEST_TIMER_MS))),
}) as unknown as z.ZodMiniType<SkillLibraryOptions>;

/** @throws SkillcellError `options.invalid`, naming the field, the allowed values, and the value */
export function checkLibraryOptions(options: SkillLibraryOptions): void {
  checkOptions(schema, options, { action: 'open the library of skills' });
}

const references = z.optional(z.array(z.string()));
const requestSchema = z.object({
  consumer: z.optional(z.string()),
  includeInternal: z.optional(z.boolean()),
  refs: references,
  versionsFor: references,
  copy: z.optional(z.boolean()),
});
const listenerSchema = z.custom((value) => typeof value === 'function', 'must be a function');

/** @throws SkillcellError `options.invalid`: a consumer that is not a string would match no policy */
export function checkRequest(request: unknown): void {
  checkOptions(requestSchema, request, { action: 'read skills of the library' });
}

/** @throws SkillcellError `options.invalid` */
export function checkListener(listener: unknown): void {
  checkOptions(listenerSchema, listener, { action: 'subscribe to the library', whole: 'the listener' });
}

function isStore(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  const given = value as Record<string, unknown>;
  return (
    typeof given['id'] === 'string' &&
    ['list', 'head', 'open', 'close'].every((name) => typeof given[name] === 'function')
  );
}
