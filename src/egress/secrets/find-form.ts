import { BEGINNING, BLOCK, blockAt, blockHash } from './block-table.ts';
import { matchForm } from './forms/match-form.ts';
import { fit, type WashForm } from './forms/wash-forms.ts';
import type { WashTable } from './wash-table.ts';

/** A cut occurrence of so many bytes is washed at the end of a text, and so is one with half of the units of its form. */
const LONG_CUT = 12;

/** An occurrence and its replacement, or the position from which further bytes may complete an occurrence. */
export type FoundForm = { start: number; end: number; put: Buffer } | { start: number; end: undefined };

/** Finds the first occurrence of a form, the longest of those at its position. */
export function findForm(table: WashTable, bytes: Buffer, from: number, isEnd: boolean): FoundForm | undefined {
  const { stride } = table;
  const { marks } = table.blocks;
  const last = bytes.length - BLOCK;
  let at = from + stride - 1;
  for (; at <= last; at += stride) {
    if (marks[blockHash(blockAt(bytes, at))] === 0) continue;
    // An occurrence that holds this block consists of marked blocks from its beginning on.
    let first = at;
    while (first > at - stride + 1 && marks[blockHash(blockAt(bytes, first - 1))] !== 0) first -= 1;
    const found = findWithin(table, bytes, first, at, isEnd);
    if (found !== undefined) return found;
  }
  const rest = Math.max(from, last + 1);
  return findWithin(table, bytes, at - stride + 1, last, isEnd) ?? findEach(table.starts, bytes, rest, isEnd);
}

/** Finds the first occurrence that begins at one of the positions, each of which is the beginning of a block. */
function findWithin(table: WashTable, bytes: Buffer, from: number, to: number, isEnd: boolean): FoundForm | undefined {
  const { marks, beginnings } = table.blocks;
  for (let start = from; start <= to; start++) {
    const block = blockAt(bytes, start);
    if (((marks[blockHash(block)] as number) & BEGINNING) === 0) continue;
    const found = formAt(beginnings.get(block), bytes, start, isEnd);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** The same by a trial at each position, for short texts. */
export function findEach(
  starts: WashTable['starts'],
  bytes: Buffer,
  from: number,
  isEnd: boolean,
): FoundForm | undefined {
  for (let start = from; start < bytes.length; start++) {
    const found = formAt(starts[bytes[start] as number], bytes, start, isEnd);
    if (found !== undefined) return found;
  }
  return undefined;
}

function formAt(forms: readonly WashForm[] = [], bytes: Buffer, start: number, isEnd: boolean): FoundForm | undefined {
  let end = -1;
  let best: WashForm | undefined;
  let cut: WashForm | undefined;
  for (const form of forms) {
    const match = matchForm(form, bytes, start);
    if ((match.end < 0 && match.cutUnits < 0) || !mayBegin(form, bytes, start)) continue;
    if (match.end > end) [end, best] = [match.end, form];
    if (match.cutUnits < 0) continue;
    if (!isEnd) return { start, end: undefined };
    if (bytes.length - start >= LONG_CUT || match.cutUnits * 2 >= form.units.length) cut ??= form;
  }
  if (best !== undefined) return { start, end, put: best.put(bytes.subarray(start, end)) };
  return cut && { start, end: bytes.length, put: fit(cut.placeholder, bytes.length - start) };
}

function mayBegin(form: WashForm, bytes: Buffer, start: number): boolean {
  if (form.mayBegin === undefined || start + BLOCK > bytes.length) return true;
  return form.mayBegin(bytes.toString('latin1', start, start + BLOCK));
}
