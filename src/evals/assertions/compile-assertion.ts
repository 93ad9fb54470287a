import { quotedText } from '../../contracts/text/quoted-text.ts';
import { SkillcellError } from '../../contracts/errors/skillcell-error.ts';
import { compileToolSchema } from '../../tools/schema/compile-tool-schema.ts';
import { patternReader } from '../../tools/schema/json-schema/patterns/pattern.ts';
import { SchemaRefused } from '../../tools/schema/schema-refused.ts';
import { evalFault } from '../eval-fault.ts';
import type { Assertion, AssertionCheck } from './assertion.ts';
import type { AssertionSpec } from './assertion-schema.ts';
import type { Sought } from './find-text.ts';
import { jsonFileEquals, valueEquals, valueFits, valueInRange } from './json-assertions.ts';
import { fileEquals, fileExists, fileHolds, outputHolds } from './text-assertions.ts';

/** Compiles a check program that lies beside the evals. @throws SkillcellError `eval.invalid` */
export type CompileProgram = (path: string, field: string) => AssertionCheck;

/**
 * Compiles an assertion.
 *
 * @param field its field in the file, for messages
 * @throws SkillcellError `eval.invalid` for a pattern, schema or program that cannot be used
 */
export async function compileAssertion(
  spec: AssertionSpec,
  field: string,
  compileProgram: CompileProgram,
): Promise<Assertion> {
  const text = spec.name ?? described(spec);
  if (spec.type === 'prose') return { text };
  return { text, check: await compileCheck(spec, field, compileProgram) };
}

async function compileCheck(
  spec: Exclude<AssertionSpec, { type: 'prose' }>,
  field: string,
  compileProgram: CompileProgram,
): Promise<AssertionCheck> {
  switch (spec.type) {
    case 'file-exists':
      return fileExists(spec.path, spec.not);
    case 'file-equals':
      return fileEquals(spec.path, spec.text);
    case 'file-contains':
    case 'file-matches':
      return fileHolds(spec.path, soughtOf(spec, field), spec.not);
    case 'output-contains':
    case 'output-matches':
      return outputHolds(spec.stream ?? 'stdout', soughtOf(spec, field), spec.not);
    case 'json-equals':
      return jsonFileEquals(spec);
    case 'value-equals':
      return valueEquals(spec);
    case 'value-in-range':
      return valueInRange(spec);
    case 'value-fits-schema':
      return valueFits(spec.at, await compileSchema(spec.schema, `${field}.schema`));
    case 'check':
      return compileProgram(spec.program, `${field}.program`);
  }
}

function soughtOf(spec: { ignore_case?: boolean } & ({ text: string } | { pattern: string }), field: string): Sought {
  const { ignore_case: ignoreCase = false } = spec;
  if ('text' in spec) return { text: spec.text, ignoreCase };
  const { pattern } = spec;
  try {
    return { pattern: patternReader()(pattern, { ignoreCase }), source: pattern };
  } catch (error) {
    if (!(error instanceof SchemaRefused)) throw error;
    throw evalFault(`${field}.pattern`, `cannot be searched for: ${error.message}, got ${quotedText(pattern)}`, error);
  }
}

async function compileSchema(schema: Record<string, unknown>, field: string): ReturnType<typeof compileToolSchema> {
  try {
    return await compileToolSchema(schema, { outside: true });
  } catch (error) {
    if (!SkillcellError.isInstance(error)) throw error;
    throw evalFault(field, `cannot be enforced: ${error.message.replace(/^.*?: |\.$/g, '')}`, error);
  }
}

/** The name of an assertion that has none of its own. */
function described(spec: AssertionSpec): string {
  switch (spec.type) {
    case 'prose':
      return spec.text;
    case 'check':
      return `check ${spec.program}`;
    case 'file-equals':
      return `${spec.type} ${spec.path}`;
    case 'file-exists':
      return `${negated(spec)}${spec.type} ${spec.path}`;
    case 'file-contains':
    case 'file-matches':
      return `${negated(spec)}${spec.type} ${spec.path} ${soughtText(spec)}`;
    case 'output-contains':
    case 'output-matches':
      return `${negated(spec)}${spec.type} ${soughtText(spec)}`;
    case 'json-equals':
      return `${spec.type} ${spec.path}${spec.at ?? ''}`;
    case 'value-equals':
    case 'value-in-range':
    case 'value-fits-schema':
      return `${spec.type}${spec.at === undefined ? '' : ` ${spec.at}`}`;
  }
}

function soughtText(spec: { text: string } | { pattern: string }): string {
  return quotedText('text' in spec ? spec.text : spec.pattern);
}

function negated(spec: { not?: boolean }): string {
  return spec.not === true ? 'not ' : '';
}
