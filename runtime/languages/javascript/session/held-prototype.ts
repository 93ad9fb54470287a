import { deleteProperty, hasOwn, OBJECT } from '../captured.ts';

/**
 * Fields of `Object.prototype` with which the inspector cannot be spoken to: Node reads its answers as objects like all others, where they would
 * be an `error` that is none, and writes what it asks as JSON.
 */
const FIELDS = ['error', 'toJSON'];

/** A field that stood in the way. */
export interface TakenField {
  name: string;
  /** Whether it still does, since it cannot be taken away. */
  stays: boolean;
}

/** Takes the fields away with which a session cannot go on. */
export function takeFields(): TakenField | undefined {
  let found: TakenField | undefined;
  for (let index = 0; index < FIELDS.length; index += 1) {
    const name = FIELDS[index] as string;
    if (hasOwn(OBJECT, name) && found?.stays !== true) found = { name, stays: !deleteProperty(OBJECT, name) };
  }
  return found;
}

/** Says what became of it. */
export function tellField({ name, stays }: TakenField): string {
  const end = stays ? 'it cannot be taken away' : 'it was taken away';
  return `Object.prototype has a field \`${name}\`, with which the interpreter cannot go on; ${end}.`;
}
