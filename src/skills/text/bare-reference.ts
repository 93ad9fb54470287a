/** A reference without what may stand before everything else: `sk:` or `skill:`. */
export function withoutScheme(reference: string): string {
  return reference
    .trim()
    .normalize('NFKC')
    .replace(/^(?:sk|skill):/, '');
}

/** A reference without all that may stand before the id. */
export function bareReference(reference: string): string {
  return withoutScheme(reference).replace(/^skills\./, '');
}

/** A reference or an import without the range of versions that may stand behind it: `public.x@^1.2` is `public.x`. */
export function withoutRange(reference: string): string {
  return reference.replace(/@.*/s, '');
}

/** The full id of a bare reference, with its range if it has one: without a namespace it is `public`. */
export function fullId(bare: string): string {
  return /^[^@]*\./.test(bare) ? bare : `public.${bare}`;
}
