import type { SessionResult } from '../../contracts/session.ts';
import type { ResultForm } from '../../protocol/session-messages.ts';

const TEXT = /^text\/|^application\/(?:json|javascript|xml|geo\+json|[\w.-]+\+(?:json|xml))$|\+xml$/i;

/** A result of a run from its forms and the bytes of all: texts as texts, other forms as bytes. */
export function readResult(forms: readonly ResultForm[], bytes: Buffer): SessionResult {
  let offset = 0;
  const data = forms.map(({ mediaType, bytes: size }): [string, string | Uint8Array] => {
    const part = bytes.subarray(offset, offset + size);
    offset += size;
    return [mediaType, TEXT.test(mediaType) ? part.toString('utf8') : new Uint8Array(part)];
  });
  return withJson({ data: Object.fromEntries(data) });
}

/** In JSON the bytes are base64, as in notebooks. */
function withJson(result: SessionResult): SessionResult {
  const toJSON = (): object => {
    const forms = Object.entries(result.data).map(([mediaType, form]) => [
      mediaType,
      typeof form === 'string' ? form : Buffer.from(form).toString('base64'),
    ]);
    return { data: Object.fromEntries(forms) };
  };
  return Object.defineProperty(result, 'toJSON', { value: toJSON });
}

/** Bytes that the forms announce, all together. */
export function announcedBytes(forms: readonly ResultForm[]): number {
  return forms.reduce((sum, { bytes }) => sum + bytes, 0);
}
