/** A reference without its scheme `sk:` or `skill:`. */
export function withoutScheme(reference: string): string {
  return reference
    .trim()
    .normalize('NFKC')
    .replace(/^(?:sk|skill):/, '');
}

/** A reference without scheme and `skills.`. */
export function bareReference(reference: string): string {
  return withoutScheme(reference).replace(/^skills\./, '');
}

/** A reference or an import without its range of versions: `public.x@^1.2` becomes `public.x`. */
export function withoutRange(reference: string): string {
  return reference.replace(/@.*/s, '');
}

/** The full id of a bare reference, with its range if it has one. Without a namespace, it gets `public`. */
export function fullId(bare: string): string {
  return /^[^@]*\./.test(bare) ? bare : `public.${bare}`;
}
