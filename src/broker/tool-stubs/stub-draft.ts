import { typeNames, type TypeNames } from './type-names.ts';

/** A text of stubs while it is written. */
export interface StubDraft {
  /** Gives types their names. */
  names: TypeNames;
  /** Texts of the types that have names, in order. */
  definitions: string[];
  /** Adds such a text. */
  define(text: string): void;
  /** Counts a text that goes in elsewhere, and gives it back. */
  count(text: string): string;
  /** Whether what was counted is over the limit, so that nobody will read it. */
  readonly isOver: boolean;
}

/**
 * Begins a text of stubs.
 *
 * @param limit characters that it may have
 * @returns an empty draft
 */
export function stubDraft(limit: number): StubDraft {
  let left = limit;
  const definitions: string[] = [];
  const count = (text: string): string => {
    left -= text.length;
    return text;
  };
  return {
    names: typeNames(),
    definitions,
    define: (text) => {
      definitions.push(count(text));
    },
    count,
    get isOver() {
      return left < 0;
    },
  };
}
