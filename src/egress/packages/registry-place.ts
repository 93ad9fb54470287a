import { SkillcellError } from '../../contracts/errors/skillcell-error.ts';
import { isOwnHost } from '../../contracts/network/own-hosts.ts';
import { canonicalHost } from '../rules/canonical-host.ts';
import { DEFAULT_PORTS } from '../rules/checked-rule.ts';
import { normalPath } from '../rules/normal-path.ts';
import { targetAmbiguity } from '../rules/target-ambiguity.ts';
import type { RegistryKind, RegistryPlace } from './package-registry.ts';
import { registryCredentials } from './registry-credentials.ts';

/** A registry as its URL names it. */
export type NamedPlace = Pick<RegistryPlace, 'scheme' | 'host' | 'port' | 'path' | 'credentials'>;

/**
 * Reads the URL of a registry. A user and a password in it become credentials of the host.
 *
 * @returns the place, and the URL without credentials, as the sandbox gets it
 * @throws SkillcellError `packages.unavailable`; its message has no credentials
 */
export function readRegistryUrl(kind: RegistryKind, text: string): { place: NamedPlace; url: string } {
  const url = URL.parse(text);
  const scheme = url?.protocol === 'https:' ? 'https' : url?.protocol === 'http:' ? 'http' : undefined;
  const host = url === null ? undefined : canonicalHost(url.hostname);
  if (url === null || scheme === undefined || host === undefined)
    throw unavailable(kind, 'its URL is not one of http or https');
  const port = url.port === '' ? DEFAULT_PORTS[scheme] : Number(url.port);
  const path = normalPath(url.pathname.endsWith('/') ? url.pathname : `${url.pathname}/`);
  const shown = `${scheme}://${url.host}${path}`;
  if (isOwnHost(host))
    throw unavailable(kind, `a program finds its own sandbox there; give the registry another host name, got ${shown}`);
  if (targetAmbiguity(path) !== undefined) throw unavailable(kind, `its path can be read in two ways, got ${shown}`);
  const credentials = basicOf(kind, url, shown);
  return { place: { scheme, host, port, path, ...(scheme === 'https' ? { credentials } : {}) }, url: shown };
}

function basicOf(kind: RegistryKind, { username, password }: URL, shown: string): RegistryPlace['credentials'] {
  if (username === '' && password === '') return undefined;
  const [user, pass] = [decodeURIComponent(username), decodeURIComponent(password)];
  const token = Buffer.from(`${user}:${pass}`).toString('base64');
  return requireCredentials(kind, registryCredentials(kind, 'Basic', token, pass === '' ? user : pass), shown);
}

/** @throws SkillcellError `packages.unavailable` for credentials that answers cannot be searched for */
export function requireCredentials(
  kind: RegistryKind,
  credentials: RegistryPlace['credentials'],
  shown: string,
): RegistryPlace['credentials'] {
  if (credentials !== undefined) return credentials;
  throw unavailable(kind, `its credentials have fewer than 8 bytes or a control character, got those of ${shown}`);
}

/** The error of a registry that cannot be used. */
export function unavailable(kind: RegistryKind, reason: string): SkillcellError {
  return new SkillcellError('packages.unavailable', `Cannot use the registry of ${kind}: ${reason}.`);
}
