/** Most components of a path on the channel. */
export const MAX_PATH_DEPTH = 64;
/** Most bytes of a path on the channel. */
export const MAX_PATH_BYTES = 4_096;

// Control characters, lone surrogates, and U+FFFD, which replaces bytes that are not UTF-8.
const FORBIDDEN = /[\p{Cc}\p{Cs}\\\ufffd]/u;

/**
 * Returns the fault of a relative path, or `undefined` if it is valid: not absolute, no empty, `.` or `..` component, no control
 * characters or backslashes, at most 64 components, 255 bytes per component and 4,096 bytes in all.
 */
export function relativePathFault(path: string): string | undefined {
  if (path === '') return 'empty path';
  if (path.startsWith('/')) return 'absolute path';
  if (FORBIDDEN.test(path)) return 'control character, backslash or invalid UTF-8 in the name';
  const components = path.split('/');
  if (components.length > MAX_PATH_DEPTH) return `deeper than ${MAX_PATH_DEPTH} folders`;
  if (Buffer.byteLength(path) > MAX_PATH_BYTES) return 'path over 4,096 bytes';
  for (const component of components) {
    if (component === '') return 'empty component';
    if (component === '.' || component === '..') return 'a . or .. component';
    if (Buffer.byteLength(component) > 255) return 'name over 255 bytes';
  }
  return undefined;
}
