import { createHash, timingSafeEqual } from 'node:crypto';

/** Compares what a header says with a bearer token, in a time that tells nothing about either. */
export function createTokenCheck(token: string): (authorization: string | undefined) => boolean {
  const expected = digestOf(token);
  return (authorization) => {
    const [, given] = /^Bearer +(\S+)$/i.exec(authorization ?? '') ?? [];
    return given !== undefined && timingSafeEqual(digestOf(given), expected);
  };
}

/** Digests are of one length, whatever was given. */
function digestOf(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
