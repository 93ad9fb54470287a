import type { Client, JSONRPCMessage, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import type { SkillsClient } from '@modelcontextprotocol/client/ext/skills';
import { packageVersion } from '../../../contracts/package-root.ts';
import { openConnections } from '../../../outgoing/checked-connections.ts';
import type { OutgoingRules } from '../../../outgoing/outgoing-rules.ts';
import { outgoingUrl } from '../../../outgoing/outgoing-url.ts';
import { withinDeadline } from '../../../protocol/within-deadline.ts';
import { completeResults } from './complete-result.ts';
import { answerBudget, mcpFetch } from './mcp-fetch.ts';

const FAREWELL_MS = 1_000;
const MAX_PAGES = 100;
/** A server may ask the client to resume its stream at once, again and again. */
const LEAST_DELAY_MS = 250;
/** Limit of repeats of the same request that a server may ask for. */
const MAX_REPEATS = 10;

/** A connected server. */
export interface SkillServer {
  skills: SkillsClient;
  /** Called before each call: clears the last fault and renews the byte budget. */
  begin(): void;
  /** The first fault of a request since `begin`. */
  fault(): unknown;
  close(): Promise<void>;
}

/** Options of {@link connectSkillServer}. */
export interface SkillServerOptions {
  url: string;
  headers: Readonly<Record<string, string>> | undefined;
  rules: OutgoingRules;
  timeoutMs: number;
}

/**
 * Connects to an MCP server by streamable HTTP, with the SDK's client and its skills extension.
 *
 * @throws the SDK's error, or the error of an outgoing request
 */
export async function connectSkillServer(options: SkillServerOptions): Promise<SkillServer> {
  const { url, headers = {}, rules, timeoutMs } = options;
  const target = await outgoingUrl(url, rules);
  const sdk = await import('@modelcontextprotocol/client');
  const { SkillsClient } = await import('@modelcontextprotocol/client/ext/skills');
  const connections = await openConnections(rules);
  const budget = answerBudget();
  let fault: unknown;
  const transport = new sdk.StreamableHTTPClientTransport(target, {
    requestInit: { headers: { ...headers } },
    fetch: mcpFetch({ request: { ...rules, timeoutMs, connections }, budget, onFault: (error) => (fault ??= error) }),
    reconnectionScheduler(reconnect, delay) {
      const timer = setTimeout(reconnect, Math.max(delay, LEAST_DELAY_MS));
      return () => clearTimeout(timer);
    },
  });
  answerWhatIsLost(transport);
  completeResults(transport);
  const client = new sdk.Client(
    { name: 'skillcell', version: packageVersion() },
    {
      capabilities: {},
      versionNegotiation: { mode: 'auto', probe: { timeoutMs } },
      // The SDK repeats a request where the server returns only a state. Other requests of the server to its client are not answered.
      inputRequired: { maxRounds: MAX_REPEATS },
      listMaxPages: MAX_PAGES,
    },
  );
  const close = async (): Promise<void> => {
    await endSession(transport);
    await client.close();
    await connections.destroy();
  };
  const begin = (): void => {
    fault = undefined;
    Object.assign(budget, answerBudget());
  };
  try {
    await client.connect(transport, { timeout: timeoutMs });
    return { skills: new SkillsClient(client, { skipInvalid: true }), begin, fault: () => fault, close };
  } catch (error) {
    await closeQuietly(client);
    await connections.destroy();
    throw fault ?? error;
  }
}

/** The SDK waits for an answer even after the stream for it has ended. */
function answerWhatIsLost(transport: StreamableHTTPClientTransport): void {
  const send = transport.send.bind(transport);
  const lost = (message: JSONRPCMessage): void => {
    if (!('method' in message) || !('id' in message)) return;
    // A request that already has its answer gets a second one, which the SDK ignores.
    const error = { code: -32_000, message: 'The answer broke off.' };
    transport.onmessage?.({ jsonrpc: '2.0', id: message.id, error });
  };
  transport.send = async (message: JSONRPCMessage, options?: Parameters<typeof send>[1]) =>
    await send(message, { ...options, onRequestStreamEnd: () => lost(message) });
}

async function closeQuietly(client: Client): Promise<void> {
  // The error concerns a connection that was never made.
  await client.close().catch(() => undefined);
}

/** Ends the session at the server. A server that does not answer drops it by itself at some time. */
async function endSession(transport: StreamableHTTPClientTransport): Promise<void> {
  if (transport.sessionId === undefined) return;
  const farewell = transport.terminateSession().catch(() => undefined);
  await withinDeadline(farewell, { limitMs: FAREWELL_MS, overdue: () => undefined });
}
