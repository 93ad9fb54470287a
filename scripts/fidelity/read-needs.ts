import * as z from 'zod/mini';
import { differenceNames } from './differences-on-purpose.ts';

const NEED = /^(?:#|\/\/) fidelity: ([a-z-]+) (.+)$/;
const texts = z.record(z.string(), z.string());

/** What the first comment of a program may say, in lines `# fidelity: NAME JSON`. */
const needsSchema = z.strictObject({
  /** Its arguments. */
  args: z.optional(z.array(z.string())),
  /** Its standard input. */
  stdin: z.optional(z.string()),
  /** Variables that it gets besides those of every job. */
  env: z.optional(texts),
  /** What its own file is called. */
  name: z.optional(z.string()),
  /** Files beside it, by name; or names of files that lie beside it in its folder. */
  files: z.optional(z.union([texts, z.array(z.string())])),
  /** How its bytes differ from those that are written down. */
  bytes: z.optional(z.enum(['crlf', 'byte-order-mark'])),
  /** `whole` where all of stderr is compared. */
  stderr: z.optional(z.literal('whole')),
  /** The row of the table of differences on purpose that it shows. */
  'on-purpose': z.optional(z.enum(differenceNames())),
});

/** What a program needs, and how it is compared. */
export type ProgramNeeds = z.infer<typeof needsSchema>;

/**
 * Reads what a program says in the comment that it begins with; a first line `#!` may stand before it.
 *
 * @throws Error that names what is wrong
 */
export function readNeeds(code: string): ProgramNeeds {
  const needs: Record<string, unknown> = {};
  for (const line of code.replace(/^\uFEFF?(?:#!.*\n)?/, '').split(/\r?\n/)) {
    const [, name, json] = NEED.exec(line) ?? [];
    if (name !== undefined && json !== undefined) needs[name] = JSON.parse(json);
    else if (!/^(?:#|\/\/)/.test(line)) break;
  }
  const parsed = z.safeParse(needsSchema, needs);
  if (parsed.success) return parsed.data;
  throw new Error(`it says what no program can need: ${z.prettifyError(parsed.error)}`);
}
