import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { quotedText } from '../../../contracts/text/quoted-text.ts';
import { SkillcellError } from '../../../contracts/errors/skillcell-error.ts';
import { addressFault, engineAddress, type EngineAddress } from './engine-address.ts';

/** The variables for the active context and the folder of contexts. */
type ContextEnvironment = Readonly<Partial<Record<'DOCKER_CONTEXT' | 'DOCKER_CONFIG', string | undefined>>>;

/** The context without an entry: the local socket. */
const NO_CONTEXT = 'default';

/**
 * The context that Docker's own client uses by default: `DOCKER_CONTEXT`, else the choice of `docker context use`. Undefined for the
 * local socket.
 */
export function activeContext(environment: ContextEnvironment): string | undefined {
  const name = environment.DOCKER_CONTEXT || chosenContext(folderOf(environment));
  return name === NO_CONTEXT ? undefined : name;
}

/**
 * The engine of a context, with its certificates.
 *
 * @throws SkillcellError `engine.unavailable` for a missing context, or a context whose engine cannot be reached from here
 */
export function contextAddress(name: string, environment: ContextEnvironment): EngineAddress {
  const folder = join(folderOf(environment), 'contexts');
  // The client uses the same folder name.
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
    // Without a readable file, Docker's client uses the local socket, too.
    return undefined;
  }
}

interface Endpoint {
  Host?: string;
  SkipTLSVerify?: boolean;
}

function endpointOf(path: string, name: string): Endpoint {
  if (!existsSync(path)) throw unreachable(name, 'does not exist');
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
