/** A way in which services write texts into answers, and its reverse. */
export interface Encoding {
  name: string;
  encode(text: string): string;
  decode(text: string): string;
}

const utf8 = (text: string): Buffer => Buffer.from(text);
const twice = (encode: (bytes: Buffer) => string) => (text: string) => encode(Buffer.from(encode(utf8(text))));
const fromBase64 = (text: string): string => Buffer.from(text, 'base64').toString();
const fromBase64Twice = (text: string): string => fromBase64(Buffer.from(text, 'base64').toString());
const wrapped = (text: string, columns: number, lineBreak: string): string =>
  text.replace(new RegExp(`.{${columns}}`, 'g'), `$&${lineBreak}`);
const unicode = (text: string, digits: (hex: string) => string): string =>
  Array.from({ length: text.length }, (_, i) => `\\u${digits(text.charCodeAt(i).toString(16).padStart(4, '0'))}`).join(
    '',
  );
const upper = (text: string): string => text.toUpperCase();
const lower = (text: string): string => text;
const everyByte = (text: string, digits: (hex: string) => string): string =>
  utf8(text)
    .toString('hex')
    .replaceAll(/../g, (pair) => `%${digits(pair)}`);
const fromJson = (text: string): string => JSON.parse(`"${text}"`) as string;
const json = (text: string): string => JSON.stringify(text).slice(1, -1);
const HTML: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };
const fromHtml = (text: string): string =>
  Object.entries(HTML)
    .reverse()
    .reduce((plain, [character, escaped]) => plain.replaceAll(escaped, character), text);

/** The forms in which an answer may hold a secret. */
export const ENCODINGS: readonly Encoding[] = [
  { name: 'raw', encode: (text) => text, decode: (text) => text },
  { name: 'JSON', encode: json, decode: fromJson },
  { name: 'JSON with escaped slashes', encode: (text) => json(text).replaceAll('/', '\\/'), decode: fromJson },
  {
    name: 'JSON in ASCII',
    encode: (text) => json(text).replaceAll(/[^ -~]/g, (c) => unicode(c, lower)),
    decode: fromJson,
  },
  { name: 'JSON of escapes only', encode: (text) => unicode(text, upper), decode: fromJson },
  { name: 'JSON within JSON', encode: (text) => json(json(text)), decode: (text) => fromJson(fromJson(text)) },
  { name: 'a component of a URL', encode: encodeURIComponent, decode: decodeURIComponent },
  {
    name: 'a component of a URL in lower case',
    encode: (text) => encodeURIComponent(text).replaceAll(/%../g, (escape) => escape.toLowerCase()),
    decode: decodeURIComponent,
  },
  { name: 'a URL of escapes only', encode: (text) => everyByte(text, upper), decode: decodeURIComponent },
  { name: 'a URL of lower escapes only', encode: (text) => everyByte(text, lower), decode: decodeURIComponent },
  {
    name: 'a URL within a URL',
    encode: (text) => encodeURIComponent(encodeURIComponent(text)),
    decode: (text) => decodeURIComponent(decodeURIComponent(text)),
  },
  {
    name: 'a form',
    encode: (text) => new URLSearchParams({ a: text }).toString().slice(2),
    decode: (text) => new URLSearchParams(`a=${text}`).get('a') ?? '',
  },
  { name: 'HTML', encode: (text) => text.replaceAll(/[&<>"']/g, (c) => HTML[c] ?? c), decode: fromHtml },
  { name: 'hex', encode: (text) => utf8(text).toString('hex'), decode: (text) => Buffer.from(text, 'hex').toString() },
  {
    name: 'upper hex',
    encode: (text) => utf8(text).toString('hex').toUpperCase(),
    decode: (text) => Buffer.from(text, 'hex').toString(),
  },
  {
    name: 'hex in lines',
    encode: (text) => wrapped(utf8(text).toString('hex'), 60, '\n'),
    decode: (text) => Buffer.from(text.replaceAll('\n', ''), 'hex').toString(),
  },
  {
    name: 'hex with spaces, as in error pages of S3',
    encode: (text) => wrapped(utf8(text).toString('hex'), 2, ' '),
    decode: (text) => Buffer.from(text.replaceAll(' ', ''), 'hex').toString(),
  },
  {
    name: 'hex with colons',
    encode: (text) => wrapped(utf8(text).toString('hex'), 2, ':'),
    decode: (text) => Buffer.from(text.replaceAll(':', ''), 'hex').toString(),
  },
  { name: 'base64', encode: (text) => utf8(text).toString('base64'), decode: fromBase64 },
  { name: 'base64url', encode: (text) => utf8(text).toString('base64url'), decode: fromBase64 },
  { name: 'base64 in MIME', encode: (text) => wrapped(utf8(text).toString('base64'), 76, '\r\n'), decode: fromBase64 },
  {
    name: 'base64 in narrow lines',
    encode: (text) => wrapped(utf8(text).toString('base64'), 8, '\n'),
    decode: fromBase64,
  },
  {
    name: 'lines of base64 in JSON',
    encode: (text) => json(wrapped(utf8(text).toString('base64'), 8, '\r\n')).replaceAll('/', '\\/'),
    decode: (text) => fromBase64(fromJson(text)),
  },
  {
    name: 'base64 in a URL',
    encode: (text) => encodeURIComponent(utf8(text).toString('base64')),
    decode: (text) => fromBase64(decodeURIComponent(text)),
  },
  { name: 'base64 twice', encode: twice((bytes) => bytes.toString('base64')), decode: fromBase64Twice },
  { name: 'base64url twice', encode: twice((bytes) => bytes.toString('base64url')), decode: fromBase64Twice },
  {
    name: 'base64 twice in lines',
    encode: (text) => wrapped(twice((bytes) => bytes.toString('base64'))(text), 64, '\n'),
    decode: fromBase64Twice,
  },
];
