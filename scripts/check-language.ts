import * as z from 'zod/mini';
import { explainIssue } from '../src/contracts/checks/explain-issue.ts';
import type { LanguageDefinition } from '../src/contracts/jobs/language.ts';

const NAME = /^[a-z][a-z0-9-]{0,30}$/;
const ENDING = /^\.[a-z0-9]{1,10}$/;

const text = z.string().check(z.minLength(1));
const texts = z.array(text);
/** A shell splits the words of a command at blanks. */
const words = z.array(z.string().check(z.regex(/^[\w@%+=:,./-]+$/, 'must be one word of a command')));
const ending = z.string().check(z.regex(ENDING, 'must be an ending such as .py'));
const packages = z.array(z.string().check(z.regex(/^[a-z0-9][a-z0-9+.-]+$/, 'must be the name of a Debian package')));

const definitionSchema = z.strictObject({
  title: text,
  endings: z.record(ending, ending).check(z.refine((map) => Object.keys(map).length > 0, 'must name an ending')),
  shebangs: z.array(z.string().check(z.regex(/^[\w+-]+$/, 'must be the name of an interpreter'))),
  interpreters: z.optional(
    z.array(z.string().check(z.regex(/^\/[\w+./-]+$/, 'must be an absolute path'))).check(z.minLength(1)),
  ),
  command: words.check(z.minLength(1)),
  hold: z.optional(z.strictObject({ variable: text, value: text, file: text, joint: z.enum([' ', ':']) })),
  namedAtStart: z.optional(z.literal(true)),
  readsAtStart: z.optional(
    z.array(
      z.string().check(z.regex(/^[A-Z][A-Z0-9_]*\*?$/, 'must be a variable, or the beginning of some with a star')),
    ),
  ),
  reads: z.enum(['json', 'strings']),
  session: z.optional(text),
  sessionProgram: z.optional(text),
  lineEnds: z.optional(z.literal('lf')),
  requirements: z.optional(z.literal(true)),
  codeTags: z.array(texts.check(z.minLength(1))).check(z.minLength(1)),
  guide: z.strictObject({
    rules: texts,
    outputFolder: text,
    value: text,
    tools: z.optional(text),
    declarations: z.optional(z.enum(['typescript', 'python'])),
    skillFiles: text,
  }),
  installed: z.optional(
    z.strictObject({ command: words.check(z.minLength(1)), version: text, some: text, none: text }),
  ),
  imagePackages: z.record(z.string(), packages),
});

/**
 * Checks the file `language.json` of a language.
 *
 * @throws Error with the language and the fault
 */
export function checkLanguage({ name, ...definition }: LanguageDefinition): void {
  if (!NAME.test(name)) throw new Error(`Cannot take a language: its folder must be a plain name, got ${name}.`);
  const parsed = z.safeParse(definitionSchema, definition);
  if (parsed.success) return;
  const { reason } = explainIssue(definitionSchema, definition, parsed.error.issues, 'the definition');
  throw new Error(`Cannot take runtime/languages/${name}/language.json: ${reason}.`);
}
