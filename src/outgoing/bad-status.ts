import type { SkillcellError } from '../contracts/errors/skillcell-error.ts';
import type { FetchedBytes } from './fetch-bytes.ts';
import { outgoingUnavailable, shownUrl } from './outgoing-refused.ts';

/** The error of an answer with a failure status. */
export function badStatus({ status, url }: FetchedBytes): SkillcellError {
  return outgoingUnavailable(`it answers with the HTTP status ${status}`, shownUrl(url));
}
