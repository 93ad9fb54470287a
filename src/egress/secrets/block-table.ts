import { LINE_BREAKS } from './forms/line-break.ts';
import type { WashForm } from './forms/wash-forms.ts';

/** Bytes of a block. */
export const BLOCK = 3;
/** Mark of a block that occurs in a form. */
const INSIDE = 1;
/** Mark of a block at the very beginning of a form. */
export const BEGINNING = 2;
const HASH_BITS = 18;

/** Blocks of three bytes that occur in forms. */
export interface BlockTable {
  /** Marks, by the hash of a block. */
  marks: Uint8Array;
  /** Forms that may begin with a block, by its number. */
  beginnings: ReadonlyMap<number, readonly WashForm[]>;
}

/** The bytes of a block as a number. */
export function blockAt(bytes: Buffer, at: number): number {
  return (bytes[at] as number) | ((bytes[at + 1] as number) << 8) | ((bytes[at + 2] as number) << 16);
}

/** Index of a block in the marks. Further blocks share it. */
export function blockHash(block: number): number {
  return Math.imul(block, 0x9e3779b1) >>> (32 - HASH_BITS);
}

/**
 * Marks the blocks with which a form can begin, and those that can begin at its positions below `stride`. A scan that looks at one block in
 * each `stride` positions then meets each occurrence (a filter by q-grams, as in Wu and Manber's search for several words).
 */
export function blockTable(forms: readonly WashForm[], stride: number): BlockTable {
  const marks = new Uint8Array(1 << HASH_BITS);
  const beginnings = new Map<number, WashForm[]>();
  const markInside = (block: number): void => {
    const hash = blockHash(block);
    marks[hash] = (marks[hash] as number) | INSIDE;
  };
  for (const form of forms) {
    const markBeginning = (block: number): void => {
      if (form.mayBegin?.(textOf(block)) === false) return;
      marks[blockHash(block)] = INSIDE | BEGINNING;
      const known = beginnings.get(block);
      if (known === undefined) beginnings.set(block, [form]);
      else if (known.at(-1) !== form) known.push(form);
    };
    let offset = 0;
    for (const [index, unit] of form.units.entries()) {
      if (offset >= stride) break;
      for (const place of unit.sets.keys()) {
        const isFirst = index === 0 && unit.firsts.includes(place);
        fromPlace(form, index, place, EMPTY, isFirst ? markBeginning : markInside);
      }
      for (const rest of form.breaks ? ENDS_OF_BREAKS : []) fromText(form, index + 1, rest, EMPTY, markInside);
      offset += unit.shortest;
    }
  }
  return { marks, beginnings };
}

function textOf(block: number): string {
  return String.fromCharCode(block & 0xff, (block >> 8) & 0xff, block >> 16);
}

/** The bytes of a block so far. */
interface PartialBlock {
  length: number;
  block: number;
}

const EMPTY: PartialBlock = { length: 0, block: 0 };
const ENDS_OF_BREAKS = LINE_BREAKS.flatMap((text) => Array.from(text, (_, index) => text.slice(index)));

type Take = (block: number) => void;

/** Fills blocks with the bytes from a place of a unit on. Blocks beyond the end of the form are left out. */
function fromPlace(form: WashForm, index: number, place: number, partial: PartialBlock, take: Take): void {
  const unit = form.units[index];
  for (const byte of unit?.sets[place] ?? []) {
    const longer = withByte(partial, byte);
    const next = unit?.next[place] ?? -1;
    if (longer.length === BLOCK) take(longer.block);
    else if (next >= 0) fromPlace(form, index, next, longer, take);
    else {
      fromText(form, index + 1, '', longer, take);
      for (const text of form.breaks ? LINE_BREAKS : []) fromText(form, index + 1, text, longer, take);
    }
  }
}

/** Fills blocks with a text and then the bytes from a unit on. */
function fromText(form: WashForm, index: number, text: string, partial: PartialBlock, take: Take): void {
  let longer = partial;
  for (let at = 0; at < text.length && longer.length < BLOCK; at++) longer = withByte(longer, text.charCodeAt(at));
  if (longer.length === BLOCK) return take(longer.block);
  for (const first of form.units[index]?.firsts ?? []) fromPlace(form, index, first, longer, take);
}

function withByte({ length, block }: PartialBlock, byte: number): PartialBlock {
  return { length: length + 1, block: block | (byte << (8 * length)) };
}
