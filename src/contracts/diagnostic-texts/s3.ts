import type { DiagnosticText } from '../diagnostic-severities.ts';
import type { LibraryCode } from '../library-severities.ts';

/** What is found in a bucket. */
export const S3_TEXTS: Readonly<Record<Extract<LibraryCode, `s3.${string}`>, DiagnosticText>> = {
  's3.key': {
    meaning:
      'a key names no file: it has `..`, an empty name, a slash at an end, one written with a percent sign, a backslash, a control or hidden character, or is no UTF-8; it is left out, and never read as another key',
    advice: 'Give the object a plain key, or remove it.',
  },
  's3.twin': {
    meaning: 'two keys differ in nothing but how accents are composed; one of them is left out',
    advice: 'Remove or rename one of the objects.',
  },
  's3.shadowed': {
    meaning: 'a key is that of a file and of a folder, such as `blue` beside `blue/image.jpg`; the file is left out',
    advice: 'Rename one of them.',
  },
  's3.too-many': {
    meaning: 'there are more keys below the prefix than are read; what lies behind them is left out',
    advice: 'Put skills below prefixes of their own, a user or team each.',
  },
  's3.publication': {
    meaning: '`.skillcell.json` beside a skill was not written by skillcell; the skill is read without it',
    advice: 'Remove the object, or put the skill again.',
  },
};
