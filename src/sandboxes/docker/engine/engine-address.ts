import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { SkillcellError } from '../../../contracts/errors/skillcell-error.ts';

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
  const fault = addressFault(named);
  if (fault !== undefined) throw unreachable(fault);
  if (named.startsWith('unix://')) {
    return { socketPath: named.slice('unix://'.length), host: undefined, protocol: 'http' };
  }
  const url = new URL(httpForm(named));
  const secure = named.startsWith('https:') || (named.startsWith('tcp:') && Boolean(environment.DOCKER_TLS_VERIFY));
  return {
    // An address of IP version 6 stands in brackets only in a URL.
    host: url.hostname.replace(/^\[(.*)\]$/, '$1'),
    port: writtenPort(named) ?? (secure ? TLS_PORT : PLAIN_PORT),
    protocol: secure ? 'https' : 'http',
    ...(secure && environment.DOCKER_CERT_PATH ? readCertificates(environment.DOCKER_CERT_PATH) : {}),
  };
}

/** Says why an address is none that an engine can have, or `undefined` when it is one. */
export function addressFault(named: string): string | undefined {
  if (named.startsWith('unix://')) {
    return named.startsWith('unix:///') ? undefined : `its socket is no absolute path, got ${named}`;
  }
  if (!/^(tcp|https?):\/\//.test(named)) return `its address has none of the forms ${FORMS}, got ${named}`;
  const url = URL.parse(httpForm(named));
  // What is refused here may hold a password, and is not repeated.
  if (url === null || url.username !== '' || url.password !== '' || url.pathname !== '/' || url.search !== '')
    return `its address is not HOST:PORT alone, got one that begins with ${named.split('//', 1)[0]}//`;
  return writtenPort(named) === 0 ? 'its port is none, got 0' : undefined;
}

/** With the scheme of the web, so that host and port are told apart in the same way for all. */
function httpForm(named: string): string {
  return named.replace(/^tcp:/, 'http:');
}

/** The default port of a scheme is not in the URL any more. */
function writtenPort(named: string): number | undefined {
  const written = /:(\d+)\/?$/.exec(named)?.[1];
  return written === undefined ? undefined : Number(written);
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
