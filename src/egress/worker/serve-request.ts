import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import type { Dispatcher } from 'undici';
import type { DenialReason } from '../../contracts/network/denial-reasons.ts';
import { judgePackageRequest } from '../packages/judge-package-request.ts';
import { type PackageRegistry, registryRule, type RegistryPlace } from '../packages/package-registry.ts';
import { describeRules } from '../rules/describe-rules.ts';
import { judgeRequest, type NetworkRequest } from '../rules/judge-request.ts';
import type { CheckedRule } from '../rules/checked-rule.ts';
import type { NetworkGate } from '../rules/network-gate.ts';
import { usableRules } from '../rules/usable-rules.ts';
import type { HeldSecret } from '../secrets/held-secret.ts';
import { makeWashTable, type WashTable } from '../secrets/wash-table.ts';
import type { SigningTask } from '../signatures/read-signature.ts';
import { signAnew } from '../signatures/sign-anew.ts';
import { answerDenied, printable } from './answer-denied.ts';
import { answerHandler } from './answer-handler.ts';
import { counted, type Exchange, OverQuota } from './exchange.ts';
import type { JobState } from './job-state.ts';
import { pairs } from './passed-headers.ts';
import { readTarget } from './read-target.ts';
import type { ProgramRequest, Tunnel } from './serve-connection.ts';
import { packageHeaders } from './package-headers.ts';
import { type PlacedSecrets, placeSecrets } from './place-secrets.ts';
import { readBody } from './read-body.ts';
import type { EgressRow } from './worker-messages.ts';

/** Most bytes of a body that is read before it is sent: its hash is part of a signature. */
const MOST_HASHED = 1024 * 1024;
const OVERRIDES: ReadonlySet<string> = new Set(['x-http-method', 'x-http-method-override', 'x-method-override']);

/** Options of {@link createRequestServer}. */
export interface RequestServerOptions {
  /** The operator's rules. */
  allow: readonly CheckedRule[];
  /** Gates to leave out. */
  without: readonly NetworkGate[];
  /** Whether the audit works. */
  isAudited(): boolean;
  /** Called as a request is passed on. */
  announce(state: JobState, id: number, row: EgressRow): void;
  record(state: JobState, id: number, row: EgressRow): void;
}

/** Answers requests of programs: by their hosts, or with a denial. */
export interface RequestServer {
  answer(asked: ProgramRequest): void;
  /** Records a connection without a request. */
  refuse(state: JobState, tunnel: Tunnel | undefined, what: string): void;
}

/** Creates the server of the requests of all jobs. */
export function createRequestServer({
  allow,
  without,
  isAudited,
  announce,
  record,
}: RequestServerOptions): RequestServer {
  let lastId = 0;
  const holds = (gate: NetworkGate): boolean => !without.includes(gate);
  const begin = ({ state, request, response }: ProgramRequest, target: NetworkRequest): Exchange => {
    const id = (lastId += 1);
    const started = performance.now();
    const row = rowOf(target);
    let isOver = false;
    const finish: Exchange['finish'] = (status, reason) => {
      if (isOver) return;
      isOver = true;
      state.ongoing.delete(leave);
      const address = state.addresses.get(originOf(target));
      record(state, id, {
        ...row,
        ...(address === undefined || row.rule === undefined ? {} : { address }),
        ...(status === undefined ? {} : { status }),
        ...(reason === undefined ? {} : { reason }),
        ms: Math.round(performance.now() - started),
      });
    };
    const leave = (): void => finish(undefined);
    state.ongoing.add(leave);
    return { id, state, request, response, target, row, finish };
  };

  const deny = ({ state, response, row, finish }: Exchange, reason: DenialReason, what: string): void => {
    row.reason = reason;
    const rules = describeRules(usableRules(state.job.rules, allow));
    const allowed = [...rules, ...state.job.registries.map(describeRegistry)];
    finish(answerDenied(response, { reason, what, allowed }), reason);
  };

  const forward = (exchange: Exchange): void => {
    const { state, request, target, row } = exchange;
    const { job } = state;
    const rules = { job: job.rules, operator: allow, without };
    const judged = judgeRequest(rules, target);
    const asked = judgePackageRequest(job.registries, target, announcesBody(request));
    if (asked !== undefined && 'place' in asked) {
      row.rule = asked.rule;
      const { headers, washed } = packageHeaders(request, target, asked.place);
      const used = washed.length === 0 ? [] : [asked.rule];
      pass(exchange, agentOf(state, asked.place), { used, misplaced: [], washed })?.(headers);
      return;
    }
    if ('reason' in judged) {
      // The place of a registry has a better reason than that no rule names its host.
      const { reason, what } = asked ?? { reason: judged.reason, what: deniedThing(judged.reason, target) };
      return deny(exchange, reason, what);
    }
    // Some servers take the method from a header.
    for (const method of overridingMethods(request)) {
      const other = judgeRequest(rules, { ...target, method });
      if ('reason' in other) return deny(exchange, other.reason, `${method} in a header`);
    }
    row.rule = judged.rule.text;
    const placed = placeSecrets(request, target, job, without);
    const { signature } = placed;
    if (signature !== undefined && 'unsupported' in signature)
      return deny(exchange, 'signature-unsupported', signature.unsupported);
    const send = pass(exchange, state.agent, placed);
    if (signature === undefined) send?.(placed.headers);
    else if (send !== undefined) void sendSigned(exchange, placed, signature.task, send);
  };

  /** Counts a judged request, unless the share of the job is used up. Returns a function that passes it on. */
  const pass = (
    exchange: Exchange,
    agent: Dispatcher,
    placed: Omit<PlacedSecrets, 'washed' | 'signature' | 'headers'> & { washed: readonly HeldSecret[] },
  ): ((headers: string[], body?: Buffer) => void) | undefined => {
    const { state, request, target, row } = exchange;
    const refuse = (reason: DenialReason, what: string): undefined => {
      deny(exchange, reason, what);
    };
    if (!isAudited() && holds('audit-failed')) return refuse('audit-failed', '');
    const spent = holds('quota') ? spentShare(state) : undefined;
    if (spent !== undefined) return refuse('quota', spent);
    state.used.requests += 1;
    row.secrets.push(...placed.used);
    if (placed.misplaced.length > 0) row.misplaced = placed.misplaced;
    const table = placed.washed.length === 0 || !holds('wash') ? undefined : washTableOf(state, placed.washed);
    const handler = answerHandler(exchange, { table, holds, deny });
    return (headers, body) => {
      const { path, method } = target;
      const sent = announcesBody(request) ? (body ?? Readable.from(counted(exchange, holds('quota')))) : null;
      announce(state, exchange.id, row);
      agent.dispatch({ origin: originOf(target), path, method, headers, body: sent }, handler);
    };
  };

  /** Sends a request with a new signature. Nothing that a program sends may end the worker. */
  const sendSigned = async (
    exchange: Exchange,
    { headers }: PlacedSecrets,
    task: SigningTask,
    send: (headers: string[], body?: Buffer) => void,
  ): Promise<void> => {
    const { request, response, target, row } = exchange;
    const refuse = (reason: DenialReason, what: string): void => {
      // The program has left in the meantime.
      if (response.destroyed) return;
      deny(exchange, reason, what);
      // Most programs read an answer after they have sent their body.
      request.resume();
    };
    try {
      // A program gets its answer only over a connection that still is.
      const chunks = (): AsyncIterable<Buffer> =>
        counted(exchange, holds('quota'), request.iterator({ destroyOnReturn: false }));
      const body = task.needsBody ? await readBody(chunks(), MOST_HASHED) : undefined;
      if (task.needsBody && body === undefined)
        return refuse('signature-unsupported', 'a body of more than 1 MiB without its hash');
      const signed = await signAnew(task, target.method, body);
      if (response.destroyed) return;
      row.secrets.push(task.keys.name);
      send([...headers, ...signed], body);
    } catch (error) {
      if (error instanceof OverQuota) refuse('quota', 'more bytes');
      else refuse('signature-unsupported', 'a request that cannot be signed');
    }
  };

  return {
    answer(asked) {
      const { state, request, tunnel } = asked;
      const single = new Set(state.job.secrets.map(({ header }) => header));
      const { target, fault } = readTarget(request, tunnel, single);
      const exchange = begin(asked, target);
      if (fault !== undefined && holds(fault.reason)) deny(exchange, fault.reason, fault.what);
      else forward(exchange);
    },
    refuse(state, tunnel, what) {
      const target: NetworkRequest = {
        scheme: tunnel?.isTls === true ? 'https' : 'http',
        host: tunnel?.host ?? '',
        port: tunnel?.port ?? 0,
        method: '',
        path: '',
      };
      record(state, (lastId += 1), { ...rowOf(target), reason: 'protocol-refused', detail: printable(what), ms: 0 });
    },
  };
}

/** The part of its share that a job has used up. */
function spentShare({ job: { limits }, used }: JobState): string | undefined {
  if (used.requests >= limits.requests) return `more than ${limits.requests} requests`;
  return used.bytesIn >= limits.bytesIn || used.bytesOut >= limits.bytesOut ? 'more bytes' : undefined;
}

function announcesBody({ headers }: IncomingMessage): boolean {
  return headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined;
}

function agentOf({ agent, registryAgents }: JobState, { ca }: RegistryPlace): Dispatcher {
  return ca === undefined ? agent : (registryAgents.get(ca) ?? agent);
}

/** Registries in the text of a denial: `registry:npm (is-odd, @acme/*)`. */
function describeRegistry({ kind, names }: PackageRegistry): string {
  return `${registryRule(kind)} (${names.join(', ')})`;
}

function overridingMethods({ rawHeaders }: IncomingMessage): string[] {
  return [...pairs(rawHeaders)].flatMap(([name, value]) =>
    OVERRIDES.has(name.toLowerCase()) ? [value.toUpperCase()] : [],
  );
}

/** A table takes milliseconds to make, so a job keeps those of its hosts. */
function washTableOf({ tables }: JobState, secrets: readonly HeldSecret[]): WashTable {
  // Two registries may have tokens of one name.
  const key = secrets.map(({ placeholder }) => placeholder).join(' ');
  const table = tables.get(key) ?? makeWashTable(secrets);
  tables.set(key, table);
  return table;
}

function originOf({ scheme, host, port }: NetworkRequest): string {
  return `${scheme}://${host.includes(':') ? `[${host}]` : host}:${port}`;
}

function rowOf({ scheme, host, port, method, path }: NetworkRequest): EgressRow {
  return {
    at: new Date().toISOString(),
    ...(method === '' ? {} : { method: printable(method) }),
    scheme,
    host: printable(host),
    port,
    ...(path === '' ? {} : { path: printable(path.split('?', 1)[0] ?? '') }),
    ...{ bytesIn: 0, bytesOut: 0, ms: 0, secrets: [] },
  };
}

/** The part of a request that the reason is about. */
function deniedThing(reason: DenialReason, target: NetworkRequest): string {
  const { method, path, scheme, host, port } = target;
  if (reason === 'host-not-allowed') return host;
  if (reason === 'port-not-allowed') return `${host}:${port}`;
  if (reason === 'scheme-not-allowed') return `${scheme}://${host}`;
  if (reason === 'method-not-allowed') return `${method} ${host}`;
  return `${host}${path.split('?', 1)[0]}`;
}
