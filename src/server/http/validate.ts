import type { FastifySchemaCompiler } from 'fastify';
import type * as z from 'zod';
import { type Problem, RequestRefused } from './problem.ts';

/** Most places that an answer names, and most characters of each text about them. */
const MOST_PLACES = 20;
const MOST_CHARACTERS = 500;

/** Validates a part of a request by its schema. The compiler of the type provider joins paths without the escapes of JSON pointers. */
export const validatorCompiler: FastifySchemaCompiler<z.ZodType> =
  ({ schema }) =>
  (data) => {
    const { success, data: value, error } = schema.safeParse(data);
    return success ? { value } : { error: invalidAt('request', error) };
  };

/** The refusal of a value, with the places of its faults. */
export function invalidAt(what: string, { issues }: z.ZodError): RequestRefused {
  const places: Problem['errors'] = issues
    .slice(0, MOST_PLACES)
    .map(({ path, message }) => ({ pointer: shortened(jsonPointer(path)), detail: shortened(message) }));
  const [first] = places;
  const where = first === undefined || first.pointer === '' ? '' : ` at ${first.pointer}`;
  return new RequestRefused(
    'request.invalid',
    `Cannot take the ${what}: ${first?.detail ?? 'it is not valid'}${where}.`,
    places,
  );
}

/** A JSON pointer (RFC 6901). */
export function jsonPointer(path: readonly PropertyKey[]): string {
  return path.map((key) => `/${String(key).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
}

/** A text of the request may be as long as the request. */
function shortened(text: string): string {
  return text.length > MOST_CHARACTERS ? `${text.slice(0, MOST_CHARACTERS - 1)}…` : text;
}
