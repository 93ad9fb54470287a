import type { Client } from '@modelcontextprotocol/client';
import { packageVersion } from '../../../contracts/package-version.ts';
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
  /** What the server spoke before. A program that has to be asked may take that for its end, and is started once more then. */
  era: ProtocolEra | undefined;
  limitMs: number;
  signal: AbortSignal;
  /** Gets the error of each attempt, and the transport, whose fault says more. */
  onFailure(error: unknown, transport: McpTransport): Error;
}

/**
 * Connects to a server. What is not advertised is refused when a server asks for it all the same: sampling, roots and elicitation.
 *
 * @throws what `onFailure` makes of what went wrong
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
  // A program that says nothing may speak the older protocol and wait to be greeted; silence on the network is none.
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

/** Schemas are enforced where those of all tools are; the SDK would turn them into code. */
const NO_VALIDATOR = {
  getValidator(): never {
    throw new Error('Cannot check a value: schemas of tools are enforced elsewhere.');
  },
};
