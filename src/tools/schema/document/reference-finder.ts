import { isText } from './kinds-of-values.ts';
import { partsWithin } from './parts-within.ts';
import { keyword, partAtPointer, type SchemaPart } from './schema-part.ts';

/** Finds the target of a reference; undefined for a reference to no part of the document. */
export type ReferenceFinder = (reference: unknown) => SchemaPart | undefined;

/** Makes a finder of the targets of references: a JSON pointer (RFC 6901) or an anchor, alone or behind the `$id` of the document. */
export function referenceFinder(whole: SchemaPart): ReferenceFinder {
  const $id = keyword(whole, '$id');
  const id = isText($id) ? $id.replace(/#$/, '') : '';
  let anchors: Map<unknown, SchemaPart> | undefined;
  return (reference) => {
    if (!isText(reference)) return undefined;
    const local = reference.startsWith(id) ? reference.slice(id.length) : reference;
    if (local !== '' && !local.startsWith('#')) return undefined;
    const decoded = decode(local.slice(1));
    if (decoded === '') return whole;
    if (decoded.startsWith('/')) return partAtPointer(whole, decoded);
    anchors ??= anchorsIn(whole);
    return anchors.get(decoded);
  };
}

function anchorsIn(whole: SchemaPart): Map<unknown, SchemaPart> {
  const anchors = new Map<unknown, SchemaPart>();
  for (const part of partsWithin(whole)) {
    const anchor = keyword(part, '$anchor');
    if (anchor !== undefined && !anchors.has(anchor)) anchors.set(anchor, part);
  }
  return anchors;
}

function decode(fragment: string): string {
  try {
    return decodeURIComponent(fragment);
  } catch {
    // An invalid escape stands for itself.
    return fragment;
  }
}
