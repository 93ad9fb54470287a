import type { StubSchema } from './stub-type.ts';

/** Whether a tool with this input can be called without arguments. */
export function isOptional({ type, definitions }: StubSchema): boolean {
  const meant = type.kind === 'reference' ? definitions.get(type.to)?.type : type;
  if (meant?.kind === 'unknown') return true;
  return meant?.kind === 'object' && meant.fields.every(({ required }) => !required);
}
