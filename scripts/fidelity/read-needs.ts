import * as z from 'zod/mini';
import { type DifferenceName, differenceNames } from './differences-on-purpose.ts';

const NEED = /^(?:#|\/\/) fidelity: ([a-z-]+) (.+)$/;

/** A program's needs, and how its runs are compared. */
export interface ProgramNeeds {
  /** The program's arguments. */
  args?: string[] | undefined;
  /** The program's standard input. */
  stdin?: string | undefined;
  /** Variables besides those of every job. */
  env?: Record<string, string> | undefined;
  /** The name of the program's own file. */
  name?: string | undefined;
  /** Files beside the program: their texts by name, or names of files that lie in its folder. */
  files?: Record<string, string> | string[] | undefined;
  /** How the program's bytes differ from the written text. */
  bytes?: 'crlf' | 'byte-order-mark' | undefined;
  /** `whole` where all of stderr is compared. */
  stderr?: 'whole' | undefined;
  /** The row of the table of differences on purpose that the program shows. */
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
 * Reads the lines `# fidelity: NAME JSON` of the comment at a program's beginning. A first line `#!` may stand before the comment.
 *
 * @throws Error that describes the invalid line
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
  throw new Error(`its fidelity lines are invalid: ${z.prettifyError(parsed.error)}`);
}
