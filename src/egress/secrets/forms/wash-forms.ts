import { type Base64Layer, digitCharacters, encodeLayer, mayBegin, replaceInLayer } from './base64-layer.ts';
import { characterUnit } from './character-unit.ts';
import { exactly, type FormUnit, inEitherCase, makeUnit, type Spelling, unitWithoutCase } from './form-unit.ts';
import type { HeldSecret } from '../held-secret.ts';
import { LINE_BREAKS } from './line-break.ts';

/** The parts of a secret that washing needs. */
export type WashedSecret = Pick<HeldSecret, 'value' | 'placeholder'>;

/** A form of a value: each sequence of spellings of its units is an occurrence. */
export interface WashForm {
  units: readonly FormUnit[];
  /** Whether a line break may stand between two units. */
  breaks: boolean;
  placeholder: string;
  /** Refuses some first three bytes that the units allow and the form does not. */
  mayBegin?(bytes: string): boolean;
  /** Writes the placeholder in place of an occurrence, in the same form. */
  put(found: Buffer): Buffer;
}

const OFFSETS = [0, 1, 2] as const;
/** A digit of hex or a break. */
const HEX_TOKEN = /\\r\\n|\\n|\r?\n|[ :0-9a-f]/gi;

/**
 * The forms of a secret in answers:
 *
 * - as text, where each character is raw, or escaped as in JSON, a URL, a form or HTML;
 * - hex in either case;
 * - base64 and base64url at each offset; of the digits that the value shares with neighbours, only its bits count and change;
 * - both base64 twice, at each pair of offsets.
 *
 * Lines may break in hex and base64, and spaces or colons stand between digits, and `+` and `/` be escaped. Letters that are not ASCII count in UTF-8, in latin1, and in UTF-8 that was
 * taken for latin1 and encoded again.
 *
 * @param ignoreCase accept each letter in either case, as in names of headers; the raw placeholder then replaces every form
 */
export function washForms({ value, placeholder }: WashedSecret, ignoreCase = false): WashForm[] {
  const forms = textReadings(value).map((text) => textForm(text, placeholder));
  const known: KnownUnits = new Map();
  for (const bytes of byteReadings(value)) {
    const put = fit(placeholder, bytes.length);
    forms.push(hexForm(bytes, put, placeholder), ...base64Forms(bytes, put, placeholder, known));
  }
  return ignoreCase ? withoutCase(forms) : forms;
}

/** Units by their spellings: most units of a form, and of all forms of a secret, are alike. */
type KnownUnits = Map<string, FormUnit>;

function unitOf(key: string, known: KnownUnits, make: () => FormUnit): FormUnit {
  const unit = known.get(key) ?? make();
  known.set(key, unit);
  return unit;
}

/** The beginning of a placeholder in the wanted number of bytes. A placeholder that is too short begins anew. */
export function fit(placeholder: string, length: number): Buffer {
  return Buffer.alloc(length, placeholder, 'latin1');
}

function isAscii(value: string): boolean {
  return Buffer.byteLength(value) === value.length;
}

function misread(value: string): string {
  return Buffer.from(value).toString('latin1');
}

function textReadings(value: string): string[] {
  return isAscii(value) ? [value] : [value, misread(value)];
}

function byteReadings(value: string): Buffer[] {
  const bytes = Buffer.from(value);
  if (isAscii(value)) return [bytes];
  const latin1 = Buffer.from(value, 'latin1');
  return [bytes, Buffer.from(misread(value)), ...(latin1.toString('latin1') === value ? [latin1] : [])];
}

function textForm(text: string, placeholder: string): WashForm {
  const known: KnownUnits = new Map();
  const units = Array.from(text, (character) => unitOf(character, known, () => characterUnit(character)));
  const put = Buffer.from(placeholder);
  return { units, breaks: false, placeholder, put: () => put };
}

function hexForm(bytes: Buffer, put: Buffer, placeholder: string): WashForm {
  const known: KnownUnits = new Map();
  const units = Array.from(bytes.toString('hex'), (digit) =>
    unitOf(digit, known, () => makeUnit([inEitherCase(digit)])),
  );
  return {
    ...{ units, breaks: true, placeholder },
    put(found) {
      const text = found.toString('latin1');
      const digits = /[A-F]/.test(text) ? put.toString('hex').toUpperCase() : put.toString('hex');
      let next = 0;
      return Buffer.from(
        text.replace(HEX_TOKEN, (token) => (LINE_BREAKS.includes(token) ? token : (digits[next++] ?? ''))),
      );
    },
  };
}

function base64Forms(bytes: Buffer, put: Buffer, placeholder: string, known: KnownUnits): WashForm[] {
  const inner = Array.from(bytes, (byte) => [byte]);
  const form = ({ digits }: Base64Layer, write: (text: string) => string): WashForm => ({
    units: digits.map((set) => unitOf(set.join(' '), known, () => digitUnit(set))),
    ...{ breaks: true, placeholder },
    put: (found) => Buffer.from(write(found.toString('latin1')), 'latin1'),
  });
  return OFFSETS.flatMap((offset) => {
    const once = encodeLayer(inner, offset);
    const write = (text: string): string => replaceInLayer(text, once.firstBit, bytes.length, () => put);
    const characters = once.digits.map(characterSet);
    const twice = OFFSETS.map((outer) => {
      const layer = encodeLayer(characters, outer);
      const { firstBit } = layer;
      const writeInner = (found: Buffer): Buffer => Buffer.from(write(found.toString('latin1')), 'latin1');
      return {
        ...form(layer, (text) => replaceInLayer(text, firstBit, characters.length, writeInner)),
        mayBegin: (text: string) => mayBegin(text, firstBit, characters[0] ?? []),
      };
    });
    return [form(once, write), ...twice];
  });
}

function characterSet(digits: readonly number[]): number[] {
  return Array.from(digits.map(digitCharacters).join(''), (character) => character.charCodeAt(0));
}

function digitUnit(digits: readonly number[]): FormUnit {
  const spellings: Spelling[] = [[characterSet(digits)]];
  if (digits.includes(62)) spellings.push(inEitherCase('%2b'), inEitherCase('\\u002b'));
  if (digits.includes(63)) spellings.push(inEitherCase('%2f'), inEitherCase('\\u002f'), exactly('\\/'));
  return makeUnit(spellings);
}

function withoutCase(forms: readonly WashForm[]): WashForm[] {
  const known = new Map<FormUnit, FormUnit>();
  for (const unit of forms.flatMap(({ units }) => units)) if (!known.has(unit)) known.set(unit, unitWithoutCase(unit));
  return forms.map((form) => {
    const { breaks, placeholder } = form;
    const put = Buffer.from(placeholder);
    return { breaks, placeholder, units: form.units.map((unit) => known.get(unit) ?? unit), put: () => put };
  });
}
