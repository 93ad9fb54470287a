import { createHash } from 'node:crypto';
import { canonicalJson } from '../../skills/text/canonical-json.ts';
import type { BytesPlace } from '../../protocol/messages/value-bytes.ts';
import type { BrokerReply } from './broker-call.ts';

/** Bytes of answers that are kept for later attempts. */
const KEPT_BYTES = 32 * 1024 * 1024;

/** Effects that are listed, and characters of each. */
const MAX_LISTED = 50;
const CALL_CHARACTERS = 200;

/** What is known of an effect; `call` is one line for a reader. */
type Effect =
  | { state: 'done'; call: string; reply: BrokerReply | undefined }
  /** Under way, or cut off: it may have happened. */
  | { state: 'unknown'; call: string };

/** A call that may have an effect, before it is made. */
export interface EffectCall {
  /** What an earlier attempt knows of the same call; undefined where it has not been made, or failed. */
  readonly earlier: Effect | undefined;
  /** The call is about to be made. */
  begin(): void;
  /** It has had its effect, whatever could be made of what it returned. */
  done(reply: BrokerReply): void;
  /** It has had none. */
  failed(): void;
}

/** The effects of one job: a later attempt makes none of them again. */
export interface EffectRecord {
  /** The next attempt begins. */
  nextAttempt(): void;
  /** What has had its effect, or may have had it: one line each, in order of the calls. */
  list(): string[];
  /** @param json arguments without their bytes */
  call(name: string, json: unknown, places: readonly BytesPlace[], parts: readonly Uint8Array[]): EffectCall;
}

/** Creates the record of one job. Equal calls of one attempt are told apart by their order. */
export function createEffectRecord(): EffectRecord {
  /** By call, in the order of equal ones: those that were made, and those of this attempt that may be. */
  const effects = new Map<string, { effect: Effect | undefined }[]>();
  let counts = new Map<string, number>();
  let kept = 0;

  return {
    nextAttempt() {
      counts = new Map();
      // A call that failed is no earlier one: the same call that succeeded when it was tried again takes its place.
      for (const [key, all] of effects)
        effects.set(
          key,
          all.filter(({ effect }) => effect !== undefined),
        );
    },
    list: () => {
      const all = [...effects.values()].flat().flatMap(({ effect }) => effect ?? []);
      return all
        .slice(0, MAX_LISTED)
        .map(({ state, call }) => (state === 'done' ? call : `${call} (it may have had its effect)`));
    },
    call(name, json, places, parts) {
      const key = keyOf(name, json, places, parts);
      const index = counts.get(key) ?? 0;
      const call = callText(name, json);
      counts.set(key, index + 1);
      const all = effects.get(key) ?? [];
      effects.set(key, all);
      const place = (all[index] ??= { effect: undefined });
      return {
        earlier: place.effect,
        begin() {
          place.effect = { state: 'unknown', call };
        },
        done(reply) {
          const size = sizeOf(reply);
          const fits = kept + size <= KEPT_BYTES;
          if (fits) kept += size;
          place.effect = { state: 'done', call, reply: fits ? reply : undefined };
        },
        failed() {
          place.effect = undefined;
        },
      };
    },
  };
}

function callText(name: string, json: unknown): string {
  const text = JSON.stringify(json ?? null);
  return `${name}(${text.length > CALL_CHARACTERS ? `${text.slice(0, CALL_CHARACTERS)}…` : text})`;
}

function keyOf(name: string, json: unknown, places: readonly BytesPlace[], parts: readonly Uint8Array[]): string {
  const bytes = places.map(({ path }, index) => [
    path,
    createHash('sha256')
      .update(parts[index] ?? '')
      .digest('hex'),
  ]);
  return createHash('sha256')
    .update(canonicalJson([name, json ?? null, bytes]))
    .digest('base64');
}

function sizeOf(reply: BrokerReply): number {
  if (!reply.ok) return 1_000;
  const bytes = (reply.parts ?? []).reduce((sum, part) => sum + part.length, 0);
  return bytes + Buffer.byteLength(JSON.stringify(reply.value));
}
