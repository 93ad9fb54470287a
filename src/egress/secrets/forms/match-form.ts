import { breakLength } from './line-break.ts';
import type { WashForm } from './wash-forms.ts';

/** Places of a unit are fewer. */
const UNIT = 1024;

/** The occurrences of a form that begin at one position. */
export interface FormMatch {
  /** End of the longest occurrence; -1 without one. */
  end: number;
  /** Units at the beginning of an occurrence that the end of the bytes cuts; -1 if further bytes complete none. */
  cutUnits: number;
}

/** Reads a form at a position, in all spellings at once. */
export function matchForm(form: WashForm, bytes: Buffer, start: number): FormMatch {
  const { units } = form;
  let end = -1;
  let states = [...(units[0]?.firsts ?? [])];
  let mayBreak = false;
  for (let at = start; states.length > 0; at++) {
    if (at >= bytes.length) return { end, cutUnits: mostUnits(states) };
    if (mayBreak) {
      const length = breakLength(bytes, at);
      // Lines break between units only, and no spelling goes on with the first byte of a line break.
      if (length !== 0)
        states = states.filter((state) => units[Math.floor(state / UNIT)]?.firsts.includes(state % UNIT));
      if (length < 0) return { end, cutUnits: states.length === 0 ? -1 : mostUnits(states) };
      if (length > 0) {
        at += length - 1;
        mayBreak = false;
        continue;
      }
    }
    mayBreak = form.breaks;
    const byte = bytes[at] ?? 0;
    const following: number[] = [];
    for (const state of states) {
      const index = Math.floor(state / UNIT);
      const unit = units[index];
      const place = state % UNIT;
      if (unit?.accepts[place]?.[byte] !== 1) continue;
      const next = unit.next[place] ?? -1;
      if (next >= 0) following.push(state - place + next);
      else if (index + 1 === units.length) end = at + 1;
      else for (const first of units[index + 1]?.firsts ?? []) addOnce(following, (index + 1) * UNIT + first);
    }
    states = following;
  }
  return { end, cutUnits: -1 };
}

function mostUnits(states: readonly number[]): number {
  return states.reduce((most, state) => Math.max(most, Math.floor(state / UNIT)), 0);
}

function addOnce(states: number[], state: number): void {
  if (!states.includes(state)) states.push(state);
}
