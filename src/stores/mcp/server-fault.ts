import { SkillcellError } from '../../contracts/skillcell-error.ts';
import type { SkillServer } from './skill-server.ts';

/** What the SDK's errors have that tells them apart. Of what a server says, nothing is repeated: it may be a secret that it was sent. */
interface SdkFault extends Error {
  code?: string | number;
  status?: number;
  reason?: string;
}

const INVALID_PARAMS = -32_602;

/**
 * The error of a call to a server.
 *
 * @param shown the skill or the server that it is about
 */
export function serverFault(error: unknown, server: Pick<SkillServer, 'fault'> | undefined, shown: string): unknown {
  const known = [error, server?.fault()].map(ownError).find((each) => each !== undefined);
  if (known !== undefined) return known;
  const { name, code, status, reason } = error as SdkFault;
  if (reason === 'size' || reason === 'digest') return changed('its bytes have another digest than is listed', shown);
  const refused = REASONS[reason ?? code ?? ''];
  if (refused !== undefined)
    return new SkillcellError('source.refused', `Cannot read the source: ${refused}, got ${shown}.`);
  if (code === INVALID_PARAMS) return changed('the server has it no longer', shown);
  const said = typeof status === 'number' ? `it answers with the HTTP status ${status}` : words(name, code);
  return new SkillcellError('store.unavailable', `Cannot read the source: ${said}, got ${shown}.`, { cause: error });
}

/** The error of a skill that is no longer what was listed. */
export function changed(reason: string, shown: string): SkillcellError {
  return new SkillcellError('store.changed', `Cannot read the skill: ${reason}, got ${shown}.`);
}

const REASONS: Readonly<Record<string, string>> = {
  unlisted: 'the file is not listed',
  LIST_PAGINATION_EXCEEDED: 'its list has no end',
  frontmatter: 'the frontmatter of SKILL.md is not the one that is listed',
};

/** An error of ours, however deep the SDK has put it. */
function ownError(error: unknown): SkillcellError | undefined {
  for (let at = error, depth = 0; at instanceof Error && depth < 8; at = at.cause, depth += 1)
    if (SkillcellError.isInstance(at)) return at;
  return undefined;
}

function words(name: string, code: string | number | undefined): string {
  if (code === 'REQUEST_TIMEOUT' || name === 'AbortError') return 'it gave no answer in time';
  if (typeof code === 'number') return `it refused the request (${code})`;
  return `it does not answer as the protocol says (${code ?? name})`;
}
