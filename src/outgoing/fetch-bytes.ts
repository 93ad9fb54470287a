import { checkedFetch, type OutgoingRequest } from './checked-fetch.ts';

/** An answer that was read. */
export interface FetchedBytes {
  status: number;
  /** Where it came from in the end. */
  url: URL;
  /** Undefined unless the status says that all is well. */
  bytes: Buffer | undefined;
}

/**
 * Asks an address, and reads the whole answer of one that has what was asked for.
 *
 * @throws as {@link checkedFetch}, and what reading its body throws
 */
export async function fetchBytes(url: string, request: OutgoingRequest): Promise<FetchedBytes> {
  const answer = await checkedFetch(url, request);
  const { status } = answer;
  if (status !== 200) {
    answer.discard();
    return { status, url: answer.url, bytes: undefined };
  }
  const pieces: Buffer[] = [];
  for await (const piece of answer.body) pieces.push(piece);
  return { status, url: answer.url, bytes: Buffer.concat(pieces) };
}
