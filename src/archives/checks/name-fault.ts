import { hidesInName } from '../../contracts/text/hidden-in-names.ts';
import { quotedText } from '../../contracts/text/quoted-text.ts';
import { ARCHIVE_LIMITS, NAME_BYTES, PATH_BYTES } from './archive-limits.ts';

// Control characters, lone surrogates, U+FFFD (not UTF-8), and the Windows signs for a separator, a drive or a stream.
const FORBIDDEN = /[\p{Cc}\p{Cs}\ufffd\\:]/u;
const RESERVED = /^(?:con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³])(?:\.|$)/iu;

/**
 * The fault of the path of an entry, or `undefined` if the path is valid on every system. Names are never rewritten: one refused name
 * refuses the archive.
 */
export function nameFault(name: string): string | undefined {
  const fault = wholeFault(name);
  return fault === undefined ? undefined : `${fault}, got ${quotedText(name)}`;
}

function wholeFault(name: string): string | undefined {
  if (name.startsWith('/')) return 'an absolute path';
  if (FORBIDDEN.test(name)) return 'a control character, a backslash, a colon, or a name that is not UTF-8';
  if (hidesInName(name)) return 'a hidden character in the name';
  if (Buffer.byteLength(name) > PATH_BYTES) return `a path over ${PATH_BYTES} bytes`;
  const parts = name.split('/');
  if (parts.length > ARCHIVE_LIMITS.depth) return `a path of more than ${ARCHIVE_LIMITS.depth} names`;
  for (const part of parts) {
    const fault = partFault(part);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

function partFault(part: string): string | undefined {
  if (part === '') return 'an empty name between slashes';
  if (part === '.' || part === '..') return 'a path with . or ..';
  if (Buffer.byteLength(part) > NAME_BYTES) return `a name over ${NAME_BYTES} bytes`;
  if (part.endsWith('.') || part.endsWith(' ')) return 'a name with a dot or a space at its end';
  if (RESERVED.test(part)) return 'a reserved device name of Windows';
  return undefined;
}
