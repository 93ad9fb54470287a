import { SkillcellError } from '../../contracts/skillcell-error.ts';
import { badStatus } from '../../outgoing/bad-status.ts';
import { fetchBytes } from '../../outgoing/fetch-bytes.ts';
import type { OutgoingRequest } from '../../outgoing/checked-fetch.ts';
import type { WebIndexVersion } from './web-entry.ts';
import { INDEX_BYTES, parseWebIndex, type WebIndex } from './web-index.ts';

const PLACES: readonly [string, WebIndexVersion][] = [
  ['agent-skills', '0.2.0'],
  ['skills', '0.1.0'],
];
const NOT_THERE: ReadonlySet<number> = new Set([404, 410]);

/**
 * Asks a web site for its list of skills: the present one, and where there is none, the older one.
 *
 * @throws SkillcellError `store.unavailable` for a site that has none, or does not answer; `source.refused`
 */
export async function fetchIndex(place: string, request: OutgoingRequest): Promise<WebIndex> {
  for (const [folder, version] of PLACES) {
    const url = `${place}/.well-known/${folder}/index.json`;
    const found = await fetchBytes(url, { ...request, maxBytes: INDEX_BYTES, types: ['application/json'] });
    if (found.bytes !== undefined) return parseWebIndex(found.bytes, version, found.url);
    if (!NOT_THERE.has(found.status)) throw badStatus(found);
  }
  throw new SkillcellError(
    'store.unavailable',
    `Cannot read the list of skills: there is none below /.well-known/agent-skills/ or /.well-known/skills/, got ${place}.`,
  );
}
