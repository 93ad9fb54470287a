import { isMediaType, MOST_FORMS, MOST_RESULTS } from '../../../../src/contracts/jobs/session.ts';
import { apply, Buffer, get, inspect, isAnyArrayBuffer, isArrayBufferView, keys, stringify } from '../captured.ts';

/** The results that a run shows. */
export interface Display {
  /** Shows a value: bytes and texts as the given media type, an object in the forms that it offers, any other value as text. */
  show(value: unknown, mediaType?: string): void;
  /** Shows the last expression of a run, unless it is undefined. */
  showLast(value: unknown): void;
  /** Whether a value defines its own display forms. */
  isRich(value: unknown): boolean;
  /** Number of results that were too many or too large. */
  readonly dropped: number;
}

/** Sends a result: its forms with their sizes, and their bytes in the same order. */
export type SendResult = (forms: [string, number][], parts: Uint8Array[]) => void;

/** The name of the method by which an object defines its display, as in Deno's notebooks. */
const DISPLAY = Symbol.for('Jupyter.display');
const TEXT_CHARACTERS = 100_000;

/** Creates the display of one run for results of at most `resultBytes` bytes. Each result is sent as soon as it is shown. */
export function createDisplay(resultBytes: number, send: SendResult): Display {
  let count = 0;
  let size = 0;
  let dropped = 0;

  const put = (forms: [string, Uint8Array][]): void => {
    let bytes = 0;
    for (const [, part] of forms) bytes += part.length;
    if (count >= MOST_RESULTS || size + bytes > resultBytes) dropped += 1;
    else {
      count += 1;
      size += bytes;
      const sizes: [string, number][] = [];
      const parts: Uint8Array[] = [];
      for (const [mediaType, part] of forms) {
        sizes.push([mediaType, part.length]);
        parts.push(part);
      }
      send(sizes, parts);
    }
  };

  return {
    show(value, mediaType) {
      if (mediaType !== undefined) {
        if (typeof mediaType !== 'string' || !isMediaType(mediaType))
          throw new TypeError(`Cannot display: the second argument is no media type, got ${inspect(mediaType)}.`);
        return put([[mediaType, bytesOf(value)]]);
      }
      put(ownForms(value) ?? [['text/plain', textOf(value)]]);
    },
    showLast(value) {
      if (value !== undefined) put(ownForms(value) ?? [['text/plain', textOf(value)]]);
    },
    isRich: (value) => typeof value === 'object' && value !== null && typeof get(value, DISPLAY) === 'function',
    get dropped() {
      return dropped;
    },
  };
}

/** The display forms that an object offers. */
function ownForms(value: unknown): [string, Uint8Array][] | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const say: unknown = get(value, DISPLAY);
  if (typeof say !== 'function') return undefined;
  const forms: unknown = apply(say, value, []);
  if (typeof forms !== 'object' || forms === null) return undefined;
  const read: [string, Uint8Array][] = [];
  for (const mediaType of keys(forms)) {
    const form: unknown = get(forms, mediaType);
    if (isMediaType(mediaType) && form !== undefined && form !== null && read.length < MOST_FORMS)
      read.push([mediaType, bytesOf(form)]);
  }
  return read.length === 0 ? undefined : read;
}

function bytesOf(value: unknown): Uint8Array {
  if (isArrayBufferView(value)) return Buffer.from(value.buffer, value.byteOffset, value.byteLength);
  if (isAnyArrayBuffer(value)) return Buffer.from(value);
  return Buffer.from(typeof value === 'string' ? value : (stringify(value) ?? String(value)));
}

function textOf(value: unknown): Uint8Array {
  return Buffer.from(typeof value === 'string' ? value : inspect(value).slice(0, TEXT_CHARACTERS));
}
