/**
 * The built-ins that the interpreter of a session uses, captured before any user code runs. User code may replace them: a test mocks timers, a script
 * sets `JSON.stringify`. Neither may change the report of a run.
 */
import { Buffer } from 'node:buffer';
import { inspect, types } from 'node:util';

const { call } = Function.prototype;

/** A method as a plain function that takes its object as the first argument and looks nothing up when called. */
function unbound<Self, Given extends unknown[], Result>(
  method: (this: Self, ...given: Given) => Result,
): (self: Self, ...given: Given) => Result {
  return call.bind(method) as (self: Self, ...given: Given) => Result;
}

export const defineProperty: typeof Object.defineProperty = Object.defineProperty;
export const getPrototypeOf: typeof Object.getPrototypeOf = Object.getPrototypeOf;
export const hasOwn: typeof Object.hasOwn = Object.hasOwn;
export const is: typeof Object.is = Object.is;
export const keys: typeof Object.keys = Object.keys;
export const setPrototypeOf: typeof Object.setPrototypeOf = Object.setPrototypeOf;
export const apply: typeof Reflect.apply = Reflect.apply;
export const deleteProperty: typeof Reflect.deleteProperty = Reflect.deleteProperty;
export const get: typeof Reflect.get = Reflect.get;
export const isArray: typeof Array.isArray = Array.isArray;
export const isFinite: typeof Number.isFinite = Number.isFinite;
export const stringify: typeof JSON.stringify = JSON.stringify;
export const isPromise: typeof types.isPromise = types.isPromise;
export const isAnyArrayBuffer: typeof types.isAnyArrayBuffer = types.isAnyArrayBuffer;
export const isArrayBufferView: typeof types.isArrayBufferView = types.isArrayBufferView;
export const setImmediate: typeof globalThis.setImmediate = globalThis.setImmediate;
export const OBJECT: object = Object.prototype;
export const whenSettled: (
  promise: Promise<unknown>,
  fulfilled: (value: unknown) => void,
  rejected: (error: unknown) => void,
) => unknown = unbound(Promise.prototype.then<unknown, unknown>);
export const split: (text: string, separator: string) => string[] = unbound(
  String.prototype.split as (this: string, separator: string) => string[],
);
export const slice: (text: string, start: number, end?: number) => string = unbound(String.prototype.slice);
export const startsWith: (text: string, start: string) => boolean = unbound(String.prototype.startsWith);
export const exec: (pattern: RegExp, text: string) => RegExpExecArray | null = unbound(RegExp.prototype.exec);
export const bytesOfText = (text: string): Uint8Array => Buffer.from(text);
export { Buffer, inspect };

const isInstance = unbound(Function.prototype[Symbol.hasInstance]);
const ErrorHere = Error;

/** Whether a value is an error. Throws if reading the value's prototype throws. */
export function isError(value: unknown): value is Error {
  return isInstance(ErrorHere, value);
}
