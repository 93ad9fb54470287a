import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { SkillcellError } from '../../../contracts/errors/skillcell-error.ts';

/** Address of an engine, in the field names of dockerode. */
export interface EngineAddress {
  socketPath?: string;
  /** Undefined for a socket. The key must exist, so that the client ignores DOCKER_HOST. */
  host: string | undefined;
  port?: number;
  protocol: 'http' | 'https';
  ca?: Buffer;
  cert?: Buffer;
  key?: Buffer;
}

/** Default socket of an engine on this machine. */
export const DEFAULT_SOCKET = '/var/run/docker.sock';
const PLAIN_PORT = 2_375;
const TLS_PORT = 2_376;
const FORMS = 'unix:///PATH, tcp://HOST:PORT, http://HOST:PORT or https://HOST:PORT';

/** TLS variables of Docker's own client. */
type EngineEnvironment = Readonly<Record<'DOCKER_TLS_VERIFY' | 'DOCKER_CERT_PATH', string | undefined>>;

/**
 * Parses an address in the forms of `DOCKER_HOST`. Other forms are refused, because the client would silently use the local
 * engine.
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
    // Only a URL needs brackets around an IPv6 address.
    host: url.hostname.replace(/^\[(.*)\]$/, '$1'),
    port: writtenPort(named) ?? (secure ? TLS_PORT : PLAIN_PORT),
    protocol: secure ? 'https' : 'http',
    ...(secure && environment.DOCKER_CERT_PATH ? readCertificates(environment.DOCKER_CERT_PATH) : {}),
  };
}

/** The fault of an engine address, or `undefined`. */
export function addressFault(named: string): string | undefined {
  if (named.startsWith('unix://')) {
    return named.startsWith('unix:///') ? undefined : `its socket is not an absolute path, got ${named}`;
  }
  if (!/^(tcp|https?):\/\//.test(named)) return `its address has none of the forms ${FORMS}, got ${named}`;
  const url = URL.parse(httpForm(named));
  // The refused text may hold a password, so the message does not repeat it.
  if (url === null || url.username !== '' || url.password !== '' || url.pathname !== '/' || url.search !== '')
    return `its address is not HOST:PORT alone, got one that begins with ${named.split('//', 1)[0]}//`;
  return writtenPort(named) === 0 ? 'its port is not valid, got 0' : undefined;
}

/** Replaces `tcp:` by `http:`, so that the URL parser splits host and port the same way for all. */
function httpForm(named: string): string {
  return named.replace(/^tcp:/, 'http:');
}

/** The written port: a parsed URL drops the default port of its scheme. */
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
