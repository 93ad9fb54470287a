/**
 * The worker thread of an orchestrator's network. It alone reads the HTTP and TLS of programs, puts the values of secrets into requests, and signs
 * with the key of the authority. An unexpected error ends its connections and no more.
 */
import { createServer, type Socket } from 'node:net';
import { parentPort, workerData } from 'node:worker_threads';
import { createSecureContext, rootCertificates, type SecureContext } from 'node:tls';
import type { Dispatcher } from 'undici';
import { SkillcellError } from '../../contracts/errors/skillcell-error.ts';
import { openConnections } from '../../outgoing/checked-connections.ts';
import type { Lookup, OutgoingCheck } from '../../outgoing/outgoing-rules.ts';
import { type Authority, type AuthorityParts, createAuthority } from '../certificates/create-authority.ts';
import type { JobState } from './job-state.ts';
import { createConnectionServer } from './serve-connection.ts';
import { createRequestServer } from './serve-request.ts';
import { UsedShare } from './used-share.ts';
import { TOKEN_BYTES, type EgressSettings, type FromWorker, type ToWorker } from './worker-messages.ts';

const HEADER_BYTES = 64 * 1024;
const IDLE_MS = 60_000;

const settings = workerData as EgressSettings;
const jobs = new Map<string, JobState>();
const lookups = new Map<number, PromiseWithResolvers<Awaited<ReturnType<Lookup>>>>();
let lastLookup = 0;
const authorities = new Map<string, Promise<Authority>>();
let newest: Promise<Authority> | undefined;
let isAudited = true;
/** By their certificates. All jobs share them: each holds some 150 certificates, and no session. */
const contexts = new Map<string, SecureContext>();

void begin();

async function begin(): Promise<void> {
  const requests = createRequestServer({
    allow: settings.allow,
    without: settings.without,
    isAudited: () => isAudited,
    announce: ({ token }, id, row) => tell({ type: 'begun', token, id, row }),
    record: ({ token }, id, row) => tell({ type: 'row', token, id, row }),
  });
  const connections = createConnectionServer({ ...requests, without: settings.without });
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    socket.on('error', () => undefined);
    void readToken(socket).then((token) => {
      const state = token === undefined ? undefined : jobs.get(token);
      if (state === undefined) return socket.destroy();
      state.sockets.add(socket);
      socket.on('close', () => state.sockets.delete(socket));
      connections.serve(socket, state);
    });
  });
  // The port of its messages keeps this thread.
  server.unref();
  process.on('uncaughtException', (error) => {
    for (const state of jobs.values()) leave(state);
    tell({ type: 'fault', message: `${error.name}: ${error.message}` });
  });
  parentPort?.on('message', (message: ToWorker) => take(message));
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(settings.address, resolve);
  });
  tell({ type: 'ready' });
}

function tell(message: FromWorker): void {
  parentPort?.postMessage(message, []);
}

function take(message: ToWorker): void {
  if (message.type === 'job') admit(message).catch((error: Error) => refuseJob(message.token, error));
  else if (message.type === 'end') end(message.token);
  else if (message.type === 'sync') tell({ type: 'synced', id: message.id });
  else if (message.type === 'refuse') isAudited = false;
  else if (message.type === 'close') close();
  else {
    const asked = lookups.get(message.id);
    lookups.delete(message.id);
    if (message.addresses !== undefined) asked?.resolve(message.addresses);
    else asked?.reject(Object.assign(new Error(message.error), { code: message.error }));
  }
}

async function admit({ token, job, authority: given, used }: ToWorker & { type: 'job' }): Promise<void> {
  const authority = await authorityOf(given);
  const addresses = new Map<string, string>();
  const note = (origin: string, address: string): void => void addresses.set(origin, address);
  const agent = await openAgent(note);
  const registryAgents = new Map<string, Dispatcher>();
  for (const { ca } of job.registries.flatMap(({ places }) => places))
    if (ca !== undefined && !registryAgents.has(ca)) registryAgents.set(ca, await openAgent(note, [ca]));
  jobs.set(token, {
    token,
    job,
    authority,
    agent,
    registryAgents,
    sockets: new Set(),
    ongoing: new Set(),
    used: new UsedShare(used),
    addresses,
    tables: new Map(),
  });
  tell({ type: 'admitted', token, authority: authority.parts });
}

/** A setting of the operator that cannot be used refuses its jobs, one by one. */
function refuseJob(token: string, error: Error): void {
  const isOurs = SkillcellError.isInstance(error);
  tell({ type: 'refused', token, code: isOurs ? error.code : 'internal.fault', message: error.message });
}

/** All jobs share an authority as long as its certificates outlive them. */
async function authorityOf(given: AuthorityParts | undefined): Promise<Authority> {
  if (given !== undefined) {
    const known = authorities.get(given.pem) ?? createAuthority({ given });
    authorities.set(given.pem, known);
    return await known;
  }
  if (newest === undefined || !(await newest).isFresh()) newest = createAuthority();
  return await newest;
}

function end(token: string): void {
  const state = jobs.get(token);
  if (state !== undefined) leave(state);
  void state?.agent.destroy();
  for (const agent of state?.registryAgents.values() ?? []) void agent.destroy();
  jobs.delete(token);
  tell({ type: 'ended', token });
}

/** Ends this thread. */
function close(): void {
  for (const token of jobs.keys()) end(token);
  parentPort?.close();
}

/** Ends the connections of a job. */
function leave({ ongoing, sockets }: JobState): void {
  for (const finish of ongoing) finish();
  for (const socket of sockets) socket.destroy();
}

/** @param authorities certificates in PEM that replace those of Node */
async function openAgent(
  onConnected: (origin: string, address: string) => void,
  authorities?: readonly string[],
): Promise<Dispatcher> {
  const { allowPrivate, ca, hasLookup, upstreamProxy, without } = settings;
  const further = ca === undefined ? [] : [ca];
  const isUsual = ca === undefined && authorities === undefined;
  const trusted = isUsual ? undefined : [...(authorities ?? rootCertificates), ...further];
  if (upstreamProxy !== undefined) {
    const { ProxyAgent } = await import('undici');
    // The authorities of a registry are those of its hosts, not of the proxy.
    const trust = {
      ...(trusted === undefined ? {} : { requestTls: { ca: trusted } }),
      ...(ca === undefined ? {} : { proxyTls: { ca: [...rootCertificates, ca] } }),
    };
    const limits = { maxHeaderSize: HEADER_BYTES, headersTimeout: IDLE_MS, bodyTimeout: IDLE_MS };
    return new ProxyAgent({ uri: upstreamProxy, proxyTunnel: true, ...trust, ...limits });
  }
  // Its gates among ours are those with the names of its checks.
  const checks = without as readonly OutgoingCheck[];
  const rules = { allowPrivate, without: checks, ...(hasLookup ? { lookup: askHost } : {}) };
  const secureContext = trusted === undefined ? undefined : contextOf(trusted);
  return await openConnections(rules, { headerBytes: HEADER_BYTES, idleMs: IDLE_MS, secureContext, onConnected });
}

function contextOf(trusted: string[]): SecureContext {
  const key = trusted.join('');
  const context = contexts.get(key) ?? createSecureContext({ ca: trusted });
  contexts.set(key, context);
  return context;
}

/** Asks the host's thread, where the caller's function is. */
async function askHost(host: string): ReturnType<Lookup> {
  lastLookup += 1;
  const asked = Promise.withResolvers<Awaited<ReturnType<Lookup>>>();
  lookups.set(lastLookup, asked);
  tell({ type: 'lookup', id: lastLookup, host });
  return await asked.promise;
}

/** Reads the token at the beginning of a connection, and not a byte more. */
async function readToken(socket: Socket): Promise<string | undefined> {
  const { promise, resolve } = Promise.withResolvers<string | undefined>();
  const look = (): void => {
    const bytes = socket.read(TOKEN_BYTES) as Buffer | null;
    if (bytes !== null) resolve(bytes.toString('hex'));
  };
  const leave = (): void => resolve(undefined);
  socket.on('readable', look).on('close', leave).on('end', leave);
  const token = await promise;
  socket.off('readable', look).off('close', leave).off('end', leave);
  return token;
}
