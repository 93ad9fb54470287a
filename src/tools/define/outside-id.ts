const MAX_ID = 200;

/** Converts a foreign tool name into a valid id: names of letters, digits, `_` and `-`, joined by dots. */
export function outsideId(name: string): string {
  const plain = name.replaceAll(/[^A-Za-z0-9_.-]/g, '_');
  const segments = plain.split('.').map((segment) => (/^[A-Za-z_]/.test(segment) ? segment : `_${segment}`));
  return segments.join('.').slice(0, MAX_ID).replace(/\.$/, '');
}
