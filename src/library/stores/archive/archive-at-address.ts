import { ARCHIVE_LIMITS } from '../../../archives/checks/archive-limits.ts';
import { badStatus } from '../../../outgoing/bad-status.ts';
import { fetchBytes } from '../../../outgoing/fetch-bytes.ts';
import type { OutgoingRules } from '../../../outgoing/outgoing-rules.ts';
import { outgoingPlace } from '../../../outgoing/outgoing-place.ts';
import { digestOf } from '../../../skills/text/digest.ts';
import type { ArchivePlace } from './archive-place.ts';

/** An archive behind an address, and where requests for it may go. */
export interface ArchiveAddress extends OutgoingRules {
  url: string;
  /** Of the whole request. @default 30,000 */
  timeoutMs?: number | undefined;
}

/**
 * An archive behind an address.
 *
 * @throws SkillcellError `source.refused` for an address that may not be one
 */
export function archiveAtAddress({ url, ...rules }: ArchiveAddress): ArchivePlace {
  const source = outgoingPlace(url);
  return {
    source,
    async read(signal) {
      // Servers call a .tar.gz packed on its way as well.
      const request = { ...rules, signal, maxBytes: ARCHIVE_LIMITS.packedBytes, asItArrives: true };
      const found = await fetchBytes(source, request);
      if (found.bytes === undefined) throw badStatus(found);
      return { bytes: found.bytes, identity: digestOf(found.bytes) };
    },
  };
}
