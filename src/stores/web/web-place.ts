import { outgoingPlace } from '../../outgoing/outgoing-place.ts';

const WELL_KNOWN = /\/\.well-known\/(?:agent-)?skills(?:\/index\.json)?$/;

/**
 * Where a web site has its skills: what stands before `/.well-known/`, without a slash at its end.
 *
 * @throws SkillcellError `source.refused`
 */
export function webPlace(text: string): string {
  return outgoingPlace(text).replace(WELL_KNOWN, '');
}
