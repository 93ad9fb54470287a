import type { CallToolResult, Client, Tool } from '@modelcontextprotocol/client';
import { ToolCallError } from '../../tools/define/tool-errors.ts';
import { SkillcellError } from '../../contracts/errors/skillcell-error.ts';
import { withinDeadline } from '../../protocol/within-deadline.ts';
import { callUntilComplete } from './call-until-complete.ts';
import { callError, type FaultScene, faultWords, networkCode } from './connection-fault.ts';
import type { LoadedSdk } from './transport/load-sdk.ts';
import { isAddress, type McpServer } from './mcp-servers.ts';
import type { McpTransport } from './transport/mcp-transport.ts';
import { openClient, type OpenClient, type ProtocolEra } from './transport/open-client.ts';
import { keptSecrets } from './server-secrets.ts';
import { TransportFault } from './transport/transport-fault.ts';

/** Limits of one server. */
const MAX_TOOLS = 1_000;
const MAX_PAGES = 100;
/** Bytes of the JSON of all its tools. */
const LIST_BYTES = 8 * 1024 * 1024;

/** Least length of a part of a secret value that counts as secret by itself. `Bearer` before a token is shorter, and so is a port. */
const PART = 8;

/** The first and the longest pause between the end of a server and its next start. */
const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 30_000;
/** A call waits for its server to start again, but not for a longer pause than this. */
const PATIENCE_MS = 10_000;

/** Options of {@link ServerConnection}. */
export interface ServerConnectionOptions {
  alias: string;
  server: McpServer;
  sdk: LoadedSdk;
  connectTimeoutMs: number;
}

/**
 * The connection to one server. After a loss, the next call connects anew, after a pause that doubles with each loss until a call
 * is answered.
 */
export class ServerConnection {
  readonly #options: ServerConnectionOptions;
  readonly secrets: readonly string[];
  readonly #closing: AbortController = new AbortController();
  #open: OpenClient | undefined;
  #opening: Promise<OpenClient> | undefined;
  #era: ProtocolEra | undefined;
  #calls = 0;
  #losses = 0;
  #notBefore = 0;

  constructor(options: ServerConnectionOptions) {
    this.#options = options;
    this.secrets = secretsOf(options.server);
  }

  /** Whether a tool may ask for arguments as headers: over HTTP, in the newer protocol. */
  get sendsHeaders(): boolean {
    return this.#era === 'modern' && isAddress(this.#options.server);
  }

  /**
   * Connects for the first time, and lists the tools.
   *
   * @throws SkillcellError `mcp.unavailable`
   */
  async connect(signal: AbortSignal | undefined): Promise<Tool[]> {
    const open = await withinDeadline(this.#opened(), { signal });
    const { connectTimeoutMs } = this.#options;
    const overdue = (): never => {
      throw this.#unavailable('gave no list of its tools in time');
    };
    try {
      const listed = listTools(open.client, connectTimeoutMs);
      return await withinDeadline(listed, { limitMs: connectTimeoutMs, overdue, signal });
    } catch (error) {
      if (SkillcellError.isInstance(error) || signal?.aborted === true) throw error;
      throw this.#unavailable(this.#words(error, open.transport));
    } finally {
      this.#rest();
    }
  }

  /**
   * Makes one call of a tool.
   *
   * @throws ToolCallError
   */
  async call(
    tool: Pick<Tool, 'name' | 'inputSchema'>,
    args: Record<string, unknown>,
    signal: AbortSignal,
  ): Promise<CallToolResult> {
    this.#calls += 1;
    try {
      return await this.#callOnce(tool, args, signal, true);
    } finally {
      this.#calls -= 1;
      this.#rest();
    }
  }

  /** Ends the connection, and a program with it. */
  async close(): Promise<void> {
    this.#closing.abort(new Error('The connection was closed.'));
    await this.#opening?.catch(() => undefined);
    const open = this.#open;
    this.#open = undefined;
    await open?.client.close();
    // If the program ended by itself meanwhile, the client no longer closes it.
    await open?.transport.close();
  }

  async #callOnce(
    tool: Pick<Tool, 'name' | 'inputSchema'>,
    args: Record<string, unknown>,
    signal: AbortSignal,
    mayRepeat: boolean,
  ): Promise<CallToolResult> {
    const open = await this.#ready(signal);
    const { client, transport } = open;
    const { alias, sdk } = this.#options;
    transport.ref();
    const canceled = new AbortController();
    let isRepeated = false;
    const onRepeat = (): void => {
      isRepeated = true;
    };
    const cancel = (): void => canceled.abort('The call was canceled.');
    signal.addEventListener('abort', cancel, { once: true });
    try {
      signal.throwIfAborted();
      const result = await callUntilComplete(client, sdk, { tool, args, signal: canceled.signal, alias, onRepeat });
      this.#losses = 0;
      return result;
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      const isAnswered = error instanceof sdk.ProtocolError || error instanceof ToolCallError;
      if (isAnswered) this.#losses = 0;
      if (error instanceof ToolCallError) throw error;
      const isForgotten = error instanceof sdk.SdkHttpError && [400, 404].includes(error.status);
      const hasSession = transport.sessionId !== undefined;
      if (isForgotten && hasSession) await this.#drop(open);
      // The server looked only at the session, which it no longer knows, so a repeat is safe.
      if (isForgotten && hasSession && mayRepeat) return await this.#callOnce(tool, args, signal, false);
      if (networkCode(error, sdk) !== undefined) {
        this.#lost(open);
        await this.#drop(open);
      }
      throw callError(error, { ...this.#scene(transport), isRepeated });
    } finally {
      signal.removeEventListener('abort', cancel);
    }
  }

  /** The client, once it is connected. */
  async #ready(signal: AbortSignal): Promise<OpenClient> {
    if (this.#open !== undefined) return this.#open;
    const pauseMs = this.#notBefore - performance.now();
    if (pauseMs > PATIENCE_MS) throw this.#notThere(`is down and starts again in ${Math.ceil(pauseMs / 1000)} s`);
    try {
      return await withinDeadline(this.#opened(), { signal });
    } catch (error) {
      if (!SkillcellError.isInstance(error)) throw error;
      throw new ToolCallError('mcp.unavailable', error.message);
    }
  }

  #opened(): Promise<OpenClient> {
    if (this.#closing.signal.aborted) return Promise.reject(this.#unavailable('was closed'));
    if (this.#open !== undefined) return Promise.resolve(this.#open);
    this.#opening ??= this.#connectAnew().finally(() => {
      this.#opening = undefined;
    });
    // The waiting caller may have gone.
    this.#opening.catch(() => undefined);
    return this.#opening;
  }

  async #connectAnew(): Promise<OpenClient> {
    const { server, sdk, connectTimeoutMs } = this.#options;
    const { signal } = this.#closing;
    const pauseMs = this.#notBefore - performance.now();
    if (pauseMs > 0)
      await withinDeadline(new Promise(() => undefined), { limitMs: pauseMs, overdue: () => undefined, signal });
    const onFailure = (error: unknown, transport: McpTransport): Error => {
      this.#pause();
      return this.#unavailable(signal.aborted ? 'was closed' : this.#words(error, transport));
    };
    const open = await openClient(server, sdk, { era: this.#era, limitMs: connectTimeoutMs, signal, onFailure });
    // oxlint-disable-next-line unicorn/prefer-add-event-listener -- a client of the SDK is no event target
    open.client.onclose = () => this.#lost(open);
    // It may have ended before the listener was set.
    if (open.transport.fault !== undefined) throw onFailure(undefined, open.transport);
    this.#era = open.era;
    this.#open = open;
    return open;
  }

  #lost(open: OpenClient): void {
    if (this.#open !== open) return;
    this.#open = undefined;
    this.#pause();
  }

  #pause(): void {
    const pauseMs = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** this.#losses);
    this.#losses += 1;
    this.#notBefore = performance.now() + pauseMs;
  }

  async #drop(open: OpenClient): Promise<void> {
    if (this.#open === open) this.#open = undefined;
    await open.client.close();
  }

  /** An unused connection does not keep the process alive. */
  #rest(): void {
    if (this.#calls === 0) this.#open?.transport.unref();
  }

  #scene(transport: McpTransport): FaultScene {
    const { alias, sdk } = this.#options;
    return { alias, sdk, transport, secrets: this.secrets };
  }

  #words(error: unknown, transport: McpTransport): string {
    return faultWords(error, this.#scene(transport));
  }

  #notThere(words: string): ToolCallError {
    return new ToolCallError('mcp.unavailable', `The MCP server ${this.#options.alias} ${words}.`);
  }

  #unavailable(words: string): SkillcellError {
    const { alias, server } = this.#options;
    const hint = isAddress(server) ? 'Start the MCP server, or correct its url or headers.' : undefined;
    const message = `Cannot use the MCP server ${alias}: it ${words}.`;
    return new SkillcellError('mcp.unavailable', message, hint === undefined ? {} : { hint });
  }
}

/** Values that no message may repeat: those of the server's variables, headers and query, their parts, and values marked as secret. */
function secretsOf(server: McpServer): string[] {
  const values = Object.values((isAddress(server) ? server.headers : server.env) ?? {});
  const queries = isAddress(server) ? [...new URL(server.url).searchParams.values()] : [];
  const kept = keptSecrets(server).filter((value) => value.length >= PART);
  const all = [...values, ...queries, ...kept];
  const parts = all.flatMap((value) => value.split(/\s+/).filter((part) => part.length >= PART));
  // Longest first: replacing a part of a secret first would leave the rest of it readable.
  return [...all, ...parts].toSorted((one, other) => other.length - one.length);
}

/**
 * Lists the tools of a server, from all pages of its list.
 *
 * @param timeoutMs for each page
 * @throws TransportFault for an endless list, or a list that is too large
 */
async function listTools(client: Client, timeoutMs: number): Promise<Tool[]> {
  if (client.getServerCapabilities()?.tools === undefined) return [];
  const all: Tool[] = [];
  const cursors = new Set<string>();
  let bytes = 0;
  for (let cursor: string | undefined; ;) {
    const page = await client.request(
      { method: 'tools/list', params: cursor === undefined ? {} : { cursor } },
      { timeout: timeoutMs },
    );
    all.push(...page.tools);
    bytes += JSON.stringify(page.tools).length;
    if (all.length > MAX_TOOLS) throw new TransportFault(`lists more than ${MAX_TOOLS} tools`);
    if (bytes > LIST_BYTES) throw new TransportFault(`lists tools of more than ${LIST_BYTES} bytes`);
    cursor = page.nextCursor;
    if (cursor === undefined) return all;
    if (cursors.has(cursor) || cursors.size === MAX_PAGES) throw new TransportFault('lists its tools without an end');
    cursors.add(cursor);
  }
}
