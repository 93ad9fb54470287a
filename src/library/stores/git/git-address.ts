import { isAbsolute } from 'node:path';
import { statSync } from 'node:fs';
import { quotedText } from '../../../contracts/text/quoted-text.ts';
import { SkillcellError } from '../../../contracts/errors/skillcell-error.ts';

/** Protocols that git may use for a repository. */
export type GitProtocol = 'https' | 'http' | 'git' | 'file';

/** The place of a repository. */
export interface GitAddress {
  protocol: GitProtocol;
  /** Address or path, for display and for storage. It never holds a credential. */
  url: string;
  /** Absent for a repository on this machine. */
  host?: { name: string; port: number };
}

const PORTS: Readonly<Partial<Record<GitProtocol, number>>> = { https: 443, http: 80, git: 9418 };
const CHARACTERS = 2_000;
// Control characters and blanks. URL parsers silently drop some of them.
const UNUSABLE = /[\p{Cc}\p{Cs}\p{Z}\\]/u;

/**
 * Reads the address of a repository: https, or an absolute path that a user typed. Other protocols need the configuration.
 *
 * @throws SkillcellError `source.refused`, whose message never holds a credential
 */
export function readGitAddress(text: string, protocols: readonly GitProtocol[]): GitAddress {
  if (isAbsolute(text)) return pathAddress(text);
  if (text.length > CHARACTERS || UNUSABLE.test(text) || !URL.canParse(text) || !text.includes('://'))
    throw refused('it is neither an https address nor an absolute path', harmless(text));
  const url = new URL(text);
  const { protocol: scheme, username, password, search, hash, pathname, hostname } = url;
  const shown = `${scheme}//${url.host}${pathname}`.slice(0, 200);
  if (username !== '' || password !== '')
    throw refused('its address holds a user name or a password, which would be kept', shown);
  if (search !== '' || hash !== '') throw refused('its address has a query or a fragment', shown);
  const protocol = scheme.slice(0, -1) as GitProtocol;
  if (!protocols.includes(protocol)) {
    const allowed = protocols.join(', ');
    throw refused(
      allowed === '' ? 'no protocol is allowed' : `the allowed protocols are ${allowed}`,
      quotedText(scheme),
    );
  }
  if (protocol === 'file') return pathAddress(decoded(pathname, shown));
  if (hostname === '' || hostname.startsWith('-')) throw refused('its address has no host', shown);
  const port = url.port === '' ? (PORTS[protocol] ?? 0) : Number(url.port);
  return { protocol, url: url.href, host: { name: hostname, port } };
}

function decoded(pathname: string, shown: string): string {
  try {
    return decodeURIComponent(pathname);
  } catch {
    throw refused('its path is not UTF-8', shown);
  }
}

function pathAddress(path: string): GitAddress {
  if (UNUSABLE.test(path.replaceAll(' ', '')))
    throw refused('its path has a control character or a backslash', quotedText(path));
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory() !== true)
    throw new SkillcellError('store.unavailable', `Cannot read the repository: there is no folder, got ${path}.`);
  return { protocol: 'file', url: path };
}

/** A malformed address may hold a credential in a form that is not recognized here. */
function harmless(text: string): string {
  return text.includes('@') ? 'a text with @, which is not shown' : quotedText(text);
}

function refused(reason: string, shown: string): SkillcellError {
  return new SkillcellError('source.refused', `Cannot read the repository: ${reason}, got ${shown}.`);
}
