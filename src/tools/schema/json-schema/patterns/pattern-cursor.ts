/** A pattern, or a part of one, in the syntax of RE2. */
export interface PatternPart {
  text: string;
  /** Upper estimate of its number of instructions. */
  size: number;
}

/** Reads a pattern by its code points. */
export class PatternCursor {
  readonly #pattern: string;
  #at = 0;

  constructor(pattern: string) {
    this.#pattern = pattern;
  }

  /** The next code point, without taking it; undefined at the end. */
  peek(): string | undefined {
    const point = this.#pattern.codePointAt(this.#at);
    return point === undefined ? undefined : String.fromCodePoint(point);
  }

  /** Takes the next code point. */
  take(): string | undefined {
    const character = this.peek();
    this.#at += character?.length ?? 0;
    return character;
  }

  /** Takes the text that an expression matches at the next character. */
  match(expression: RegExp): string | undefined {
    // Expected texts are short; a longer name of a group is not supported.
    const found = expression.exec(this.#pattern.slice(this.#at, this.#at + 200))?.[0];
    this.#at += found?.length ?? 0;
    return found;
  }
}
