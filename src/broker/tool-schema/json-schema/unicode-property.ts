import { SchemaRefused } from '../schema-refused.ts';

/** The general categories by their long names, as far as they are in use; RE2 knows the short ones. */
const LONG_NAMES: Readonly<Record<string, string>> = {
  Letter: 'L',
  Lowercase_Letter: 'Ll',
  Uppercase_Letter: 'Lu',
  Mark: 'M',
  Number: 'N',
  Decimal_Number: 'Nd',
  Punctuation: 'P',
  Symbol: 'S',
  Separator: 'Z',
  Space_Separator: 'Zs',
  Control: 'Cc',
};

/** Writes `p{…}` of ECMAScript as members of a class of RE2: a general category or a script. */
export function unicodeProperty(written: string): string {
  const [, letter = '', name = ''] = /^([pP])\{(?:(?:General_Category|gc)=)?(\w+)\}$/.exec(written) ?? [];
  const category = LONG_NAMES[name] ?? name;
  if (/^[LMNPSZ][a-z]?$|^C[cfo]$/.test(category)) return `\\${letter}{${category}}`;
  const [, sign, script] = /^([pP])\{(?:Script|sc)=(\w+)\}$/.exec(written) ?? [];
  if (script !== undefined) return `\\${sign}{${script}}`;
  throw new SchemaRefused(`"\\${written}", which is no general category and no script`);
}
