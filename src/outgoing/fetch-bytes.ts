import { checkedFetch, type OutgoingRequest } from './checked-fetch.ts';

/** A whole answer. */
export interface FetchedBytes {
  status: number;
  /** Final address after redirects. */
  url: URL;
  /** Undefined unless the status is 200. */
  bytes: Buffer | undefined;
}

/**
 * Requests an address, and reads the whole answer if its status is 200.
 *
 * @throws as {@link checkedFetch} and the body of its answer
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
