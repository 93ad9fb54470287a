import { FrameError } from './frame.ts';

/**
 * Binary form of calls and answers. Intermediate processes read only the head; the receiver alone parses the JSON of arguments and values.
 * No JSON message begins with the first byte of a call or an answer.
 *
 * A call, little endian: 1 (u8), id (u32), target (u8), bytes of the name (u16) and of the places (u32), name, places, arguments.
 * An answer: 2 (u8), id (u32), 1 for a value or 0 for an error (u8), bytes of the places (u32), places, value or error.
 */
const CALL = 1;
const ANSWER = 2;
const CALL_HEAD = 12;
const ANSWER_HEAD = 10;
const ID = 1;
const KIND = 5;
const NAME_BYTES = 6;
const CALL_PLACE_BYTES = 8;
const ANSWER_PLACE_BYTES = 6;

/** Receiver of a call. A program calls only tools. */
export const CALL_TARGETS = ['tool', 'model', 'host'] as const;
export type CallTarget = (typeof CALL_TARGETS)[number];

/** The head of a call, and the positions of its parts. */
export interface PackedCall {
  id: number;
  target: CallTarget;
  bytes: Buffer;
  /** End of the name, and end of the places. The JSON of the arguments follows; it may be empty. */
  nameEnd: number;
  placesEnd: number;
}

/** The head of an answer. The JSON of its value or error begins at `placesEnd`. */
export interface PackedAnswer {
  id: number;
  ok: boolean;
  bytes: Buffer;
  placesEnd: number;
}

type Text = string | Uint8Array;

/** True for a call or an answer, false for a JSON message. */
export function isPacked(bytes: Uint8Array): boolean {
  return bytes[0] === CALL || bytes[0] === ANSWER;
}

/** Writes a call. */
export function packCall(
  id: number,
  target: CallTarget,
  name: string,
  { places = '', json = '' }: { places?: Text; json?: Text },
): Buffer {
  const nameBytes = Buffer.byteLength(name);
  const placeBytes = sizeOf(places);
  const bytes = Buffer.allocUnsafe(CALL_HEAD + nameBytes + placeBytes + sizeOf(json));
  bytes[0] = CALL;
  bytes.writeUInt32LE(id, ID);
  bytes[KIND] = CALL_TARGETS.indexOf(target);
  bytes.writeUInt16LE(nameBytes, NAME_BYTES);
  bytes.writeUInt32LE(placeBytes, CALL_PLACE_BYTES);
  bytes.write(name, CALL_HEAD);
  put(bytes, CALL_HEAD + nameBytes, places);
  put(bytes, CALL_HEAD + nameBytes + placeBytes, json);
  return bytes;
}

/** Writes an answer. */
export function packAnswer(
  id: number,
  ok: boolean,
  { places = '', json = '' }: { places?: Text; json?: Text },
): Buffer {
  const placeBytes = sizeOf(places);
  const bytes = Buffer.allocUnsafe(ANSWER_HEAD + placeBytes + sizeOf(json));
  bytes[0] = ANSWER;
  bytes.writeUInt32LE(id, ID);
  bytes[KIND] = ok ? 1 : 0;
  bytes.writeUInt32LE(placeBytes, ANSWER_PLACE_BYTES);
  put(bytes, ANSWER_HEAD, places);
  put(bytes, ANSWER_HEAD + placeBytes, json);
  return bytes;
}

/** Reads the head of a call. @throws {FrameError} if the bytes are not a call */
export function readCall(bytes: Buffer): PackedCall {
  const target = bytes[0] === CALL && bytes.length >= CALL_HEAD ? CALL_TARGETS[bytes[KIND] as number] : undefined;
  if (target === undefined) throw new FrameError('a call of unknown form');
  const nameEnd = CALL_HEAD + bytes.readUInt16LE(NAME_BYTES);
  const placesEnd = nameEnd + bytes.readUInt32LE(CALL_PLACE_BYTES);
  if (placesEnd > bytes.length) throw new FrameError('a call that is shorter than it says');
  return { id: bytes.readUInt32LE(ID), target, bytes, nameEnd, placesEnd };
}

/** The name in a call. */
export function nameOf({ bytes, nameEnd }: PackedCall): string {
  return bytes.toString('utf8', CALL_HEAD, nameEnd);
}

/** Checks that a call has a name of at most `mostBytes` bytes. */
export function hasName({ nameEnd }: PackedCall, mostBytes: number): boolean {
  return nameEnd > CALL_HEAD && nameEnd - CALL_HEAD <= mostBytes;
}

/** Reads the head of an answer. @throws {FrameError} if the bytes are not an answer */
export function readAnswer(bytes: Buffer): PackedAnswer {
  const kind = bytes[0] === ANSWER && bytes.length >= ANSWER_HEAD ? bytes[KIND] : undefined;
  if (kind !== 0 && kind !== 1) throw new FrameError('an answer of unknown form');
  const placesEnd = ANSWER_HEAD + bytes.readUInt32LE(ANSWER_PLACE_BYTES);
  if (placesEnd > bytes.length) throw new FrameError('an answer that is shorter than it says');
  return { id: bytes.readUInt32LE(ID), ok: kind === 1, bytes, placesEnd };
}

/** The JSON of the places of a call or an answer; undefined if there are none. */
export function placesOf(packed: PackedCall | PackedAnswer): Buffer | undefined {
  const start = 'nameEnd' in packed ? packed.nameEnd : ANSWER_HEAD;
  return packed.placesEnd === start ? undefined : packed.bytes.subarray(start, packed.placesEnd);
}

/** The JSON of the arguments, of the value or of the error; may be empty. */
export function jsonOf({ bytes, placesEnd }: PackedCall | PackedAnswer): Buffer {
  return bytes.subarray(placesEnd);
}

/** Changes the id of a call or an answer in place, which is safe because no one else uses its bytes. */
export function renumbered({ bytes }: PackedCall | PackedAnswer, id: number): Buffer {
  bytes.writeUInt32LE(id, ID);
  return bytes;
}

function sizeOf(text: Text): number {
  return typeof text === 'string' ? Buffer.byteLength(text) : text.length;
}

function put(bytes: Buffer, at: number, text: Text): void {
  if (typeof text === 'string') bytes.write(text, at);
  else bytes.set(text, at);
}
