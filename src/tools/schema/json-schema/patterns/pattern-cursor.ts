/** A pattern, or a part of one, in the syntax of RE2. */
export interface PatternPart {
  text: string;
  /** At least the number of instructions that it becomes. */
  size: number;
}

/** Reads a pattern by its code points. */
export class PatternCursor {
  readonly #pattern: string;
  #at = 0;

  constructor(pattern: string) {
    this.#pattern = pattern;
  }

  /** The next code point, which stays; undefined at the end. */
  peek(): string | undefined {
    const point = this.#pattern.codePointAt(this.#at);
    return point === undefined ? undefined : String.fromCodePoint(point);
  }

  /** The next code point. */
  take(): string | undefined {
    const character = this.peek();
    this.#at += character?.length ?? 0;
    return character;
  }

  /** The text that an expression finds at the next character, which is read then. */
  match(expression: RegExp): string | undefined {
    // What is looked for is short; a long name of a group is none.
    const found = expression.exec(this.#pattern.slice(this.#at, this.#at + 200))?.[0];
    this.#at += found?.length ?? 0;
    return found;
  }
}
