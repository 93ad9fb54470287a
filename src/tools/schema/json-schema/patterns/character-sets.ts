/** Members of a class: the blanks of ECMAScript. RE2's own class holds only ASCII blanks. */
export const BLANKS: string = String.raw`\x{9}-\x{d}\x{20}\x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}\x{feff}`;
/** Members of a class: all characters that are not blanks. */
export const NO_BLANKS: string = String.raw`\x{0}-\x{8}\x{e}-\x{1f}\x{21}-\x{9f}\x{a1}-\x{167f}\x{1681}-\x{1fff}\x{200b}-\x{2027}\x{202a}-\x{202e}\x{2030}-\x{205e}\x{2060}-\x{2fff}\x{3001}-\x{fefe}\x{ff00}-\x{10ffff}`;
/** Every character. */
export const ANY: string = String.raw`[\x{0}-\x{10ffff}]`;
/** Every character except the line ends of ECMAScript; RE2 itself knows only one. */
export const DOT: string = String.raw`[^\x{a}\x{d}\x{2028}\x{2029}]`;
