import { encodesOnce } from './canonical-target.ts';
import type { SigningTask } from './read-signature.ts';

/**
 * Signs a request with the values of its keys, and with the client's date, region, service and headers.
 *
 * @param body the whole body of a request that needs it
 * @returns flat list of the headers of the signature, and of the hash of the body where the service demands it
 */
export async function signAnew(
  { keys, region, service, covered, date, path, query }: SigningTask,
  method: string,
  body: Buffer | undefined,
): Promise<string[]> {
  const { SignatureV4 } = await import('@smithy/signature-v4');
  const { Sha256Node } = await import('@smithy/core/checksum');
  const { accessKeyId, secretAccessKey, sessionToken } = keys;
  const signer = new SignatureV4({
    ...{ region, service, sha256: Sha256Node },
    uriEscapePath: !encodesOnce(service),
    applyChecksum: encodesOnce(service),
    credentials: {
      ...{ accessKeyId: accessKeyId.value, secretAccessKey: secretAccessKey.value },
      ...(sessionToken === undefined ? {} : { sessionToken: sessionToken.value }),
    },
  });
  const request = { protocol: 'https:', hostname: '', method, path, query, headers: covered, body };
  const signed = await signer.sign(request, {
    signingDate: date ?? new Date(),
    // The client may cover headers that the library leaves out by itself, such as that of the browser.
    signableHeaders: new Set(Object.keys(covered)),
  });
  return Object.entries(signed.headers).flatMap(([name, value]) => (Object.hasOwn(covered, name) ? [] : [name, value]));
}
