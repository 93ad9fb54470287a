import type { Client } from '@modelcontextprotocol/client';
import { packageVersion } from '../../../contracts/package-root.ts';
import { withinDeadline } from '../../../protocol/within-deadline.ts';
import { createHttpTransport } from './http-transport.ts';
import type { LoadedSdk } from './load-sdk.ts';
import { isAddress, type McpServer } from '../mcp-servers.ts';
import type { McpTransport } from './mcp-transport.ts';
import { StdioTransport } from './stdio-transport.ts';
import { TransportFault } from './transport-fault.ts';

/** The two protocols: `modern` since the revision of 2026-07-28. */
export type ProtocolEra = 'modern' | 'legacy';

/** A client that is connected. */
export interface OpenClient {
  client: Client;
  transport: McpTransport;
  era: ProtocolEra;
}

/** Options of {@link openClient}. */
export interface OpenClientOptions {
  /** The protocol that the server spoke before. A program may end when it is probed for it, and is then started once more. */
  era: ProtocolEra | undefined;
  limitMs: number;
  signal: AbortSignal;
  /** Receives the error of each attempt, and the transport, whose fault says more. Returns the error to throw. */
  onFailure(error: unknown, transport: McpTransport): Error;
}

/**
 * Connects to a server. Sampling, roots and elicitation are not advertised, and are refused if a server asks for them anyway.
 *
 * @throws the error that `onFailure` returns
 */
export async function openClient(
  server: McpServer,
  sdk: LoadedSdk,
  { era, limitMs, signal, onFailure }: OpenClientOptions,
): Promise<OpenClient> {
  const first = await attempt(server, sdk, era ?? 'unknown', { limitMs, signal });
  if (!('error' in first)) return first;
  const endedWhenAsked = era === undefined && !isAddress(server) && isOfNegotiation(first.error, sdk);
  if (!endedWhenAsked) throw onFailure(first.error, first.transport);
  const second = await attempt(server, sdk, 'legacy', { limitMs, signal });
  if (!('error' in second)) return second;
  throw onFailure(second.error, second.transport);
}

function isOfNegotiation(error: unknown, { SdkError, SdkErrorCode }: LoadedSdk): boolean {
  return error instanceof SdkError && error.code === SdkErrorCode.EraNegotiationFailed;
}

async function attempt(
  server: McpServer,
  sdk: LoadedSdk,
  era: ProtocolEra | 'unknown',
  { limitMs, signal }: Pick<OpenClientOptions, 'limitMs' | 'signal'>,
): Promise<OpenClient | { error: unknown; transport: McpTransport }> {
  const transport = isAddress(server) ? createHttpTransport(server, sdk) : new StdioTransport(server, sdk);
  // A silent program may speak the older protocol and wait for a greeting; a silent address does not.
  const probeMs = isAddress(server) ? limitMs : limitMs / 3;
  const client = new sdk.Client(
    { name: 'skillcell', version: packageVersion() },
    {
      capabilities: {},
      versionNegotiation: era === 'legacy' ? { mode: 'legacy' } : { mode: 'auto', probe: { timeoutMs: probeMs } },
      inputRequired: { autoFulfill: false },
      jsonSchemaValidator: NO_VALIDATOR,
    },
  );
  transport.ref();
  try {
    const overdue = (): never => {
      throw new TransportFault('gave no answer in time');
    };
    await withinDeadline(client.connect(transport, { timeout: limitMs }), { limitMs, overdue, signal });
    return { client, transport, era: client.getProtocolEra() ?? 'legacy' };
  } catch (error) {
    await transport.close();
    return { error, transport };
  }
}

/** Schemas are enforced with those of all tools; the SDK would compile them into code. */
const NO_VALIDATOR = {
  getValidator(): never {
    throw new Error('Cannot check a value: schemas of tools are enforced elsewhere.');
  },
};
