import { isIPv4, isIPv6 } from 'node:net';
import { isDate, isDateTime, isTime } from './format-dates.ts';
import { isUri, isUriReference } from './format-uri.ts';

/** Judges texts that are named by a format. Each takes time in proportion to the text at most. */
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

/** Judges numbers; those that OpenAPI and the generators of schemas for C, Go and Rust name. */
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
