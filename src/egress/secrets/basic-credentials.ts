/** Credentials of the scheme Basic (RFC 7617): the text before them, and the decoded bytes as latin1. */
export interface BasicCredentials {
  scheme: string;
  text: string;
}

const BASIC = /^(basic +)([A-Za-z0-9+/]+)={0,2} *$/i;

/** Reads the value of a header as credentials of the scheme Basic. Padding may be missing. */
export function readBasicCredentials(headerValue: string): BasicCredentials | undefined {
  const [, scheme, encoded] = BASIC.exec(headerValue) ?? [];
  if (scheme === undefined || encoded === undefined || encoded.length % 4 === 1) return undefined;
  return { scheme, text: Buffer.from(encoded, 'base64').toString('latin1') };
}

/** Writes credentials as the value of a header. */
export function writeBasicCredentials({ scheme, text }: BasicCredentials): string {
  return scheme + Buffer.from(text, 'latin1').toString('base64');
}
