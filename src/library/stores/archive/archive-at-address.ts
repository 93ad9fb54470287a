import { ARCHIVE_LIMITS } from '../../../archives/checks/archive-limits.ts';
import { badStatus } from '../../../outgoing/bad-status.ts';
import { fetchBytes } from '../../../outgoing/fetch-bytes.ts';
import type { OutgoingRules } from '../../../outgoing/outgoing-rules.ts';
import { outgoingPlace } from '../../../outgoing/outgoing-place.ts';
import { digestOf } from '../../../skills/text/digest.ts';
import type { ArchivePlace } from './archive-place.ts';

/** An archive behind an address, and the rules for requests to it. */
export interface ArchiveAddress extends OutgoingRules {
  url: string;
  /** Limit of the whole request, in ms. @default 30,000 */
  timeoutMs?: number | undefined;
}

/**
 * An archive behind an address.
 *
 * @throws SkillcellError `source.refused` for an address that is not allowed
 */
export function archiveAtAddress({ url, ...rules }: ArchiveAddress): ArchivePlace {
  const source = outgoingPlace(url);
  return {
    source,
    async read(signal) {
      // Some servers label a .tar.gz as content-encoded, so the bytes are taken as they arrive.
      const request = { ...rules, signal, maxBytes: ARCHIVE_LIMITS.packedBytes, asItArrives: true };
      const found = await fetchBytes(source, request);
      if (found.bytes === undefined) throw badStatus(found);
      return { bytes: found.bytes, identity: digestOf(found.bytes) };
    },
  };
}
