import * as z from 'zod/mini';
import { type DifferenceName, differenceNames } from './differences-on-purpose.ts';

const NEED = /^(?:#|\/\/) fidelity: ([a-z-]+) (.+)$/;

/** What a program needs, and how it is compared. */
export interface ProgramNeeds {
  /** Its arguments. */
  args?: string[] | undefined;
  /** Its standard input. */
  stdin?: string | undefined;
  /** Variables that it gets besides those of every job. */
  env?: Record<string, string> | undefined;
  /** What its own file is called. */
  name?: string | undefined;
  /** Files beside it, by name; or names of files that lie beside it in its folder. */
  files?: Record<string, string> | string[] | undefined;
  /** How its bytes differ from those that are written down. */
  bytes?: 'crlf' | 'byte-order-mark' | undefined;
  /** Given where all of stderr is compared. */
  stderr?: 'whole' | undefined;
  /** The row of the table of differences on purpose that it shows. */
  'on-purpose'?: DifferenceName | undefined;
}

const texts: z.ZodMiniRecord<z.ZodMiniString, z.ZodMiniString> = z.record(z.string(), z.string());

const needsSchema = z.strictObject({
  args: z.optional(z.array(z.string())),
  stdin: z.optional(z.string()),
  env: z.optional(texts),
  name: z.optional(z.string()),
  files: z.optional(z.union([texts, z.array(z.string())])),
  bytes: z.optional(z.enum(['crlf', 'byte-order-mark'])),
  stderr: z.optional(z.literal('whole')),
  'on-purpose': z.optional(z.enum(differenceNames())),
}) as unknown as z.ZodMiniType<ProgramNeeds>;

/**
 * Reads what a program says in lines `# fidelity: NAME JSON` of the comment that it begins with; a first line `#!` may stand before it.
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
