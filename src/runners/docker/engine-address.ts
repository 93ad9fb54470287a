import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { SkillcellError } from '../../contracts/skillcell-error.ts';

/** What an engine's client needs to know, in the words of dockerode. */
export interface EngineAddress {
  socketPath?: string;
  /** Undefined for a socket: it then takes precedence over what the client reads from the environment by itself. */
  host: string | undefined;
  port?: number;
  protocol: 'http' | 'https';
  ca?: Buffer;
  cert?: Buffer;
  key?: Buffer;
}

/** Where an engine on this machine listens unless somebody names another place. */
export const DEFAULT_SOCKET = '/var/run/docker.sock';
const PLAIN_PORT = 2_375;
const TLS_PORT = 2_376;
const FORMS = 'unix:///PATH, tcp://HOST:PORT, http://HOST:PORT or https://HOST:PORT';

/** The variables of Docker's own client that say how it talks to a remote engine. */
type EngineEnvironment = Readonly<Record<'DOCKER_TLS_VERIFY' | 'DOCKER_CERT_PATH', string | undefined>>;

/**
 * Reads an address in the forms of `DOCKER_HOST`. Nothing is guessed: an address in another form is refused, since the
 * client would take the local engine instead.
 *
 * @param named `undefined` or '' for the local socket
 * @throws SkillcellError `engine.unavailable`
 */
export function engineAddress(named: string | undefined, environment: EngineEnvironment): EngineAddress {
  if (named === undefined || named === '') return { socketPath: DEFAULT_SOCKET, host: undefined, protocol: 'http' };
  if (named.startsWith('unix://')) {
    const socketPath = named.slice('unix://'.length);
    if (!socketPath.startsWith('/')) throw unreachable(`its socket is no absolute path, got ${named}`);
    return { socketPath, host: undefined, protocol: 'http' };
  }
  if (!/^(tcp|https?):\/\//.test(named)) throw unreachable(`its address has none of the forms ${FORMS}, got ${named}`);
  // With the scheme of the web, so that host and port are told apart in the same way for all.
  const url = parseUrl(named.replace(/^tcp:/, 'http:'));
  // What is refused here may hold a password, and is not repeated.
  if (url === undefined || url.username !== '' || url.password !== '' || url.pathname !== '/' || url.search !== '') {
    throw unreachable(`its address is not HOST:PORT alone, got one that begins with ${named.split('//', 1)[0]}//`);
  }
  const secure = named.startsWith('https:') || (named.startsWith('tcp:') && Boolean(environment.DOCKER_TLS_VERIFY));
  // The default port of a scheme is not in the URL any more.
  const written = /:(\d+)\/?$/.exec(named)?.[1];
  const port = written === undefined ? (secure ? TLS_PORT : PLAIN_PORT) : Number(written);
  if (port === 0) throw unreachable('its port is none, got 0');
  return {
    // An address of IP version 6 stands in brackets only in a URL.
    host: url.hostname.replace(/^\[(.*)\]$/, '$1'),
    port,
    protocol: secure ? 'https' : 'http',
    ...(secure && environment.DOCKER_CERT_PATH ? readCertificates(environment.DOCKER_CERT_PATH) : {}),
  };
}

function parseUrl(text: string): URL | undefined {
  try {
    return new URL(text);
  } catch {
    // The caller says what is wrong, in words about engines.
    return undefined;
  }
}

function readCertificates(folder: string): Pick<EngineAddress, 'ca' | 'cert' | 'key'> {
  try {
    const [ca, cert, key] = ['ca.pem', 'cert.pem', 'key.pem'].map((name) => readFileSync(join(folder, name)));
    return { ...(ca && { ca }), ...(cert && { cert }), ...(key && { key }) };
  } catch (cause) {
    throw unreachable('DOCKER_CERT_PATH lacks one of ca.pem, cert.pem and key.pem that can be read', cause);
  }
}

function unreachable(reason: string, cause?: unknown): SkillcellError {
  return new SkillcellError('engine.unavailable', `Cannot reach the Docker engine: ${reason}.`, { cause });
}
