import { isIPv4, isIPv6 } from 'node:net';

const SCHEME = /^[a-z][a-z\d+.-]*:/i;
/** Characters that the parts of a URI may not hold beside escapes. RFC 3986, appendix A. */
const NO_PATH = /[^\w.~!$&'()*+,;=:@/%-]/;
const NO_QUERY = /[^\w.~!$&'()*+,;=:@/?%-]/;
const NO_HOST = /[^\w.~!$&'()*+,;=%-]/;
const NO_USER = /[^\w.~!$&'()*+,;=:%-]/;
const FUTURE_ADDRESS = /^v[\da-f]+\.[\w.~!$&'()*+,;=:-]+$/i;

const DATE = /^(\d{4})-(\d\d)-(\d\d)$/;
const TIME = /^(\d\d):(\d\d):(\d\d)(?:\.\d+)?(?:z|([+-])(\d\d):(\d\d))$/i;
const DAYS = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
const DAY_MINUTES = 1_440;

/** Checks of text formats. Each takes at most time in proportion to the text. */
export const TEXT_FORMATS: ReadonlyMap<string, (text: string) => boolean> = new Map([
  ['date-time', isDateTime],
  ['date', isDate],
  ['time', isTime],
  ['duration', isDuration],
  ['email', isEmail],
  ['hostname', isHostname],
  ['ipv4', isIPv4],
  ['ipv6', (text) => isIPv6(text) && !text.includes('%')],
  ['uri', isUri],
  ['uri-reference', isUriReference],
  ['uuid', (text) => /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i.test(text)],
  ['json-pointer', (text) => (text === '' || text.startsWith('/')) && !/~(?![01])/.test(text)],
]);

/** Checks of number formats, from OpenAPI and the schema generators for C, Go and Rust. */
export const NUMBER_FORMATS: ReadonlyMap<string, (value: number) => boolean> = new Map([
  ['int8', within(-(2 ** 7), 2 ** 7)],
  ['int16', within(-(2 ** 15), 2 ** 15)],
  ['int32', within(-(2 ** 31), 2 ** 31)],
  ['int64', within(-(2 ** 63), 2 ** 63)],
  ['int', within(-(2 ** 63), 2 ** 63)],
  ['uint8', within(0, 2 ** 8)],
  ['uint16', within(0, 2 ** 16)],
  ['uint32', within(0, 2 ** 32)],
  ['uint64', within(0, 2 ** 64)],
  ['uint', within(0, 2 ** 64)],
  ['float', (value) => Math.abs(value) < 2 ** 128],
  ['double', () => true],
]);

const MAX_EMAIL = 320;
const MAX_HOSTNAME = 253;
const LABEL = /^[a-z\d](?:[a-z\d-]{0,61}[a-z\d])?$/i;
const ATOM = /^[\w!#$%&'*+/=?^`{|}~-]+$/;

function within(from: number, below: number): (value: number) => boolean {
  return (value) => Number.isInteger(value) && value >= from && value < below;
}

function isHostname(text: string): boolean {
  return text.length <= MAX_HOSTNAME && text.split('.').every((label) => LABEL.test(label));
}

function isEmail(text: string): boolean {
  if (text.length > MAX_EMAIL) return false;
  const [local = '', domain = '', ...more] = text.split('@');
  if (more.length > 0 || !domain.includes('.')) return false;
  return local.split('.').every((atom) => ATOM.test(atom)) && domain.split('.').every((label) => LABEL.test(label));
}

function isDuration(text: string): boolean {
  if (!/^P(?:\d+[YMWD])*(?:T(?:\d+[HMS])+)?$/.test(text)) return false;
  return /^P(?:W|Y?M?D?(?:TH?M?S?)?)$/.test(text.replace(/\d+/g, '')) && text !== 'P';
}

/** `full-date` of RFC 3339. */
function isDate(text: string): boolean {
  const [, year, month, day] = (DATE.exec(text) ?? []).map(Number);
  if (year === undefined || month === undefined || day === undefined) return false;
  const isLeap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
  const days = month === 2 && isLeap ? 29 : (DAYS[month - 1] ?? 0);
  return day >= 1 && day <= days;
}

/** `full-time` of RFC 3339. A leap second ends a day in UTC. */
function isTime(text: string): boolean {
  const found = TIME.exec(text);
  if (found === null) return false;
  const [hour = 0, minute = 0, second = 0] = found.slice(1, 4).map(Number);
  const [offsetHour, offsetMinute] = [Number(found[5] ?? 0), Number(found[6] ?? 0)];
  if (hour > 23 || minute > 59 || second > 60 || offsetHour > 23 || offsetMinute > 59) return false;
  if (second < 60) return true;
  const offset = (offsetHour * 60 + offsetMinute) * (found[4] === '-' ? -1 : 1);
  return (hour * 60 + minute - offset + DAY_MINUTES) % DAY_MINUTES === DAY_MINUTES - 1;
}

/** `date-time` of RFC 3339. */
function isDateTime(text: string): boolean {
  return isDate(text.slice(0, 10)) && /^t$/i.test(text.charAt(10)) && isTime(text.slice(11));
}

/** `URI` of RFC 3986: with its scheme. */
function isUri(text: string): boolean {
  const [scheme] = SCHEME.exec(text) ?? [];
  return scheme !== undefined && isRelative(text.slice(scheme.length));
}

/** `URI-reference` of RFC 3986: with a scheme, or relative. */
function isUriReference(text: string): boolean {
  const [start = ''] = text.split(/[/?#]/, 1);
  return start.includes(':') ? isUri(text) : isRelative(text);
}

function isRelative(text: string): boolean {
  if (/%(?![\da-f]{2})/i.test(text)) return false;
  const [beforeFragment = '', fragment = ''] = splitOnce(text, '#');
  const [hierarchy = '', query = ''] = splitOnce(beforeFragment, '?');
  if (NO_QUERY.test(fragment) || NO_QUERY.test(query)) return false;
  if (!hierarchy.startsWith('//')) return !NO_PATH.test(hierarchy);
  const [authority = '', path = ''] = splitOnce(hierarchy.slice(2), '/');
  return isAuthority(authority) && !NO_PATH.test(path);
}

function isAuthority(authority: string): boolean {
  const at = authority.lastIndexOf('@');
  const [hostAndPort, user] = [authority.slice(at + 1), authority.slice(0, Math.max(0, at))];
  const [host = ''] = /^(?:\[[^\]]*\]|[^:]*)(?=(?::\d*)?$)/.exec(hostAndPort) ?? ['?'];
  return !NO_USER.test(user) && (host.startsWith('[') ? isAddress(host.slice(1, -1)) : !NO_HOST.test(host));
}

function isAddress(text: string): boolean {
  return (isIPv6(text) && !text.includes('%')) || FUTURE_ADDRESS.test(text);
}

function splitOnce(text: string, separator: string): string[] {
  const at = text.indexOf(separator);
  return at < 0 ? [text] : [text.slice(0, at), text.slice(at + 1)];
}
