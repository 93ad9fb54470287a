import { deleteProperty, hasOwn, OBJECT } from '../captured.ts';

/**
 * Fields of `Object.prototype` that break the inspector: Node reads its answers as ordinary objects, so an inherited `error` looks like a failure,
 * and writes its requests as JSON, so an inherited `toJSON` changes them.
 */
const FIELDS = ['error', 'toJSON'];

/** A field that broke the inspector. */
export interface TakenField {
  name: string;
  /** Whether it is still there, because it cannot be deleted. */
  stays: boolean;
}

/** Deletes the fields that would break a session. */
export function takeFields(): TakenField | undefined {
  let found: TakenField | undefined;
  for (let index = 0; index < FIELDS.length; index += 1) {
    const name = FIELDS[index] as string;
    if (hasOwn(OBJECT, name) && found?.stays !== true) found = { name, stays: !deleteProperty(OBJECT, name) };
  }
  return found;
}

/** Describes the outcome in words. */
export function tellField({ name, stays }: TakenField): string {
  const end = stays ? 'it cannot be deleted' : 'it was deleted';
  return `Object.prototype has a field \`${name}\`, which breaks the interpreter; ${end}.`;
}
