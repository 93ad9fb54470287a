import { isMediaType, MOST_FORMS, MOST_RESULTS, RESULT_BYTES } from '../../src/contracts/jobs/session.ts';
import type { Channel } from '../../src/protocol/channel/channel.ts';
import type { SandboxMessage } from '../../src/protocol/messages/messages.ts';
import type { ResultForm } from '../../src/protocol/messages/session-messages.ts';
import type { ExecutorLink } from '../run/program/executor-link.ts';
import { untilRead } from '../run/output-capture.ts';

/** The results of one run on their way from its interpreter to the host. */
export interface ShownResults {
  /** Takes bytes. They arrive before the message that names them. */
  takeBytes(chunk: Buffer): void;
  /** Hands a complete result on. The link is held until the host has it. */
  show(fields: Record<string, unknown>): void;
  /** The bytes without a result: the value of a shell. Undefined if they are over the cap. */
  takeRest(): Buffer | undefined;
  /** Resolves when all results are handed on. */
  readonly handedOn: Promise<void>;
  /** Whether a result differed from its announcement and was left out. */
  readonly isDoubtful: boolean;
}

/** Hands the results of a run on as they arrive. */
export function passResults(channel: Channel, link: ExecutorLink, run: number): ShownResults {
  let chunks: Buffer[] = [];
  /** Bytes that wait for their message, and bytes of earlier results. */
  let waiting = 0;
  let total = 0;
  let count = 0;
  let isDoubtful = false;
  let handedOn = Promise.resolve();

  const takeRest = (): Buffer | undefined => {
    const bytes = total + waiting <= RESULT_BYTES ? Buffer.concat(chunks) : undefined;
    chunks = [];
    waiting = 0;
    return bytes;
  };
  const hand = async (forms: ResultForm[], bytes: Buffer): Promise<void> => {
    // Earlier output of the run is in its pipe and must be read first.
    await untilRead();
    const stream = channel.openStream();
    channel.send({ type: 'shown', run, forms, stream: stream.number } satisfies SandboxMessage);
    await stream.write(bytes);
    stream.end();
    link.release('results');
  };
  return {
    takeBytes(chunk) {
      waiting += chunk.length;
      if (total + waiting <= RESULT_BYTES) chunks.push(Buffer.from(chunk));
    },
    show(fields) {
      const bytes = takeRest();
      // A thread of the previous run may still show a result.
      if (fields['run'] !== run) return;
      const forms = readForms(fields['forms']);
      const announced = forms?.reduce((sum, form) => sum + form.bytes, 0);
      if (forms === undefined || bytes === undefined || bytes.length !== announced || count >= MOST_RESULTS) {
        isDoubtful = true;
        return;
      }
      count += 1;
      total += bytes.length;
      link.hold('results');
      handedOn = hand(forms, bytes);
    },
    takeRest,
    get handedOn() {
      return handedOn;
    },
    get isDoubtful() {
      return isDoubtful;
    },
  };
}

function readForms(given: unknown): ResultForm[] | undefined {
  if (!Array.isArray(given) || given.length === 0 || given.length > MOST_FORMS) return undefined;
  const read = given.map(readForm);
  return read.every((form) => form !== undefined) ? read : undefined;
}

function readForm(given: unknown): ResultForm | undefined {
  if (!Array.isArray(given) || given.length !== 2) return undefined;
  const [mediaType, bytes] = given as unknown[];
  if (typeof mediaType !== 'string' || !isMediaType(mediaType)) return undefined;
  return typeof bytes === 'number' && Number.isInteger(bytes) && bytes >= 0 && bytes <= RESULT_BYTES
    ? { mediaType, bytes }
    : undefined;
}
