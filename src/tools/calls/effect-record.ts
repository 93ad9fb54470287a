import { createHash } from 'node:crypto';
import { canonicalJson } from '../../skills/text/canonical-json.ts';
import type { BytesPlace } from '../../protocol/messages/value-bytes.ts';
import type { BrokerReply } from './broker-call.ts';

/** Most bytes of answers that are kept for later attempts. */
const KEPT_BYTES = 32 * 1024 * 1024;

/** Most effects in a list, and most characters of each. */
const MAX_LISTED = 50;
const CALL_CHARACTERS = 200;

/** State of an effect; `call` is one line for a reader. */
type Effect =
  | { state: 'done'; call: string; reply: BrokerReply | undefined }
  /** Running or aborted: it may have happened. */
  | { state: 'unknown'; call: string };

/** A call that may have an effect, before it is made. */
export interface EffectCall {
  /** State of the same call in an earlier attempt; undefined if it was not made, or failed. */
  readonly earlier: Effect | undefined;
  /** Marks the call as begun. */
  begin(): void;
  /** Marks the call as done, even if its result was unusable. */
  done(reply: BrokerReply): void;
  /** Marks the call as without effect. */
  failed(): void;
}

/** The effects of one job. A later attempt repeats none of them. */
export interface EffectRecord {
  /** Begins the next attempt. */
  nextAttempt(): void;
  /** Certain and possible effects: one line each, in order of the calls. */
  list(): string[];
  /** @param json arguments without their bytes */
  call(name: string, json: unknown, places: readonly BytesPlace[], parts: readonly Uint8Array[]): EffectCall;
}

/** Creates the record of one job. Equal calls of one attempt are distinguished by their order. */
export function createEffectRecord(): EffectRecord {
  /** Effects by call; equal calls in their order. Without an effect, the call failed or was not made yet. */
  const effects = new Map<string, { effect: Effect | undefined }[]>();
  let counts = new Map<string, number>();
  let kept = 0;

  return {
    nextAttempt() {
      counts = new Map();
      // Failed calls are dropped, so that the retry of the same call takes their place.
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
