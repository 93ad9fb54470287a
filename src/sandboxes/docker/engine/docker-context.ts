import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { quotedText } from '../../../contracts/text/quoted-text.ts';
import { SkillcellError } from '../../../contracts/errors/skillcell-error.ts';
import { addressFault, engineAddress, type EngineAddress } from './engine-address.ts';

/** The variables that say which context holds, and where contexts are kept. */
type ContextEnvironment = Readonly<Partial<Record<'DOCKER_CONTEXT' | 'DOCKER_CONFIG', string | undefined>>>;

/** The context that has no entry: the local socket. */
const NO_CONTEXT = 'default';

/**
 * The name of the context that Docker's own client would take where nothing names an engine: `DOCKER_CONTEXT`, else the one of
 * `docker context use`. Undefined for the local socket.
 */
export function activeContext(environment: ContextEnvironment): string | undefined {
  const name = environment.DOCKER_CONTEXT || chosenContext(folderOf(environment));
  return name === NO_CONTEXT ? undefined : name;
}

/**
 * The engine of a context, with its certificates.
 *
 * @throws SkillcellError `engine.unavailable` for a context that is not there, or whose engine cannot be reached from here
 */
export function contextAddress(name: string, environment: ContextEnvironment): EngineAddress {
  const folder = join(folderOf(environment), 'contexts');
  // As the client names the folder of a context.
  const id = createHash('sha256').update(name).digest('hex');
  const { Host: host = '', SkipTLSVerify: unverified = false } = endpointOf(
    join(folder, 'meta', id, 'meta.json'),
    name,
  );
  if (unverified) throw unreachable(name, 'leaves the certificate of its engine unchecked, which is not supported');
  if (host.startsWith('ssh://')) throw unreachable(name, 'leads over ssh, which is not supported');
  const fault = addressFault(host);
  if (fault !== undefined) throw unreachable(name, `names no engine that can be reached: ${fault}`);
  const certificates = readCertificates(join(folder, 'tls', id, 'docker'), name);
  const isSecure = Object.keys(certificates).length > 0;
  return {
    ...engineAddress(host, { DOCKER_TLS_VERIFY: isSecure ? '1' : undefined, DOCKER_CERT_PATH: undefined }),
    ...certificates,
  };
}

function folderOf({ DOCKER_CONFIG }: ContextEnvironment): string {
  return DOCKER_CONFIG || join(homedir(), '.docker');
}

function chosenContext(folder: string): string | undefined {
  try {
    const { currentContext } = JSON.parse(readFileSync(join(folder, 'config.json'), 'utf8')) as Record<string, unknown>;
    return typeof currentContext === 'string' && currentContext !== '' ? currentContext : undefined;
  } catch {
    // Docker's client takes the local socket as well where there is no such file, or none that it can read.
    return undefined;
  }
}

interface Endpoint {
  Host?: string;
  SkipTLSVerify?: boolean;
}

function endpointOf(path: string, name: string): Endpoint {
  if (!existsSync(path)) throw unreachable(name, 'is not there');
  try {
    const { Endpoints } = JSON.parse(readFileSync(path, 'utf8')) as { Endpoints?: { docker?: Endpoint } };
    return Endpoints?.docker ?? {};
  } catch (cause) {
    throw unreachable(name, 'cannot be read', cause);
  }
}

function readCertificates(folder: string, name: string): Pick<EngineAddress, 'ca' | 'cert' | 'key'> {
  const found: Pick<EngineAddress, 'ca' | 'cert' | 'key'> = {};
  try {
    for (const part of ['ca', 'cert', 'key'] as const) {
      const path = join(folder, `${part}.pem`);
      if (existsSync(path)) found[part] = readFileSync(path);
    }
  } catch (cause) {
    throw unreachable(name, 'has certificates that cannot be read', cause);
  }
  return found;
}

function unreachable(name: string, reason: string, cause?: unknown): SkillcellError {
  const message = `Cannot reach the Docker engine: the Docker context ${quotedText(name)} ${reason}.`;
  return new SkillcellError('engine.unavailable', message, {
    cause,
    hint: 'Set DOCKER_HOST to an engine that answers, or choose another context: `docker context use default`.',
  });
}
