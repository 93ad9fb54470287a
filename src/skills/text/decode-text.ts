/** The most bytes that a text file of a skill may have. */
export const TEXT_FILE_LIMIT: number = 1024 * 1024;

/** A text file read by {@link decodeText}. */
export interface DecodedText {
  /** Without its byte order mark, with LF as line end. */
  text: string;
  /** Whether the file began with a byte order mark. */
  byteOrderMark: boolean;
}

/** Why bytes are not a text file of a skill. */
export interface DecodeFault {
  /** `encoding`: invalid UTF-8, or a NUL; `too-large`: over the limit. */
  fault: 'encoding' | 'too-large';
}

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/**
 * Reads the bytes of a text file: strict UTF-8, no NUL, one byte order mark dropped, CRLF read as LF.
 *
 * @param bytes the whole file
 * @param limit the most bytes that it may have
 * @returns the text, or the fault
 */
export function decodeText(bytes: Uint8Array, limit: number = TEXT_FILE_LIMIT): DecodedText | DecodeFault {
  if (bytes.length > limit) return { fault: 'too-large' };
  if (bytes.includes(0)) return { fault: 'encoding' };
  let text: string;
  try {
    text = decoder.decode(bytes);
  } catch {
    // The decoder's only fault for a byte array is invalid UTF-8; the caller reports it.
    return { fault: 'encoding' };
  }
  const byteOrderMark = text.startsWith('\uFEFF');
  if (byteOrderMark) text = text.slice(1);
  return { text: text.includes('\r') ? text.replaceAll('\r\n', '\n') : text, byteOrderMark };
}
