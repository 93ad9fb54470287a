import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client';
import { withResultType } from '../../../library/stores/mcp/complete-result.ts';
import type { LoadedSdk } from './load-sdk.ts';
import { createLineSplitter } from '../../../protocol/line-splitter.ts';
import type { McpProgram } from '../mcp-servers.ts';
import type { McpTransport } from './mcp-transport.ts';
import { startServerProcess, type ServerProcess } from './server-process.ts';
import {
  kindOf,
  MESSAGE_BYTES,
  parseMessage,
  refuseLongLine,
  tooMuch,
  TransportFault,
  UNASKED_BYTES,
} from './transport-fault.ts';

/** Bytes that a server may leave unread: the arguments of a hundred large calls at once. */
const UNREAD_BYTES = 32 * 1024 * 1024;
const BRACE = 0x7b;

/** Speaks with a server over its standard streams, in bounded memory, even if the server floods its output or does not read its input. */
export class StdioTransport implements McpTransport {
  onclose?: NonNullable<Transport['onclose']>;
  onerror?: NonNullable<Transport['onerror']>;
  onmessage?: NonNullable<Transport['onmessage']>;
  fault: string | undefined;
  /** `stderr` and `pid` tell the SDK that silence may come from a server of the older protocol. */
  readonly stderr: null = null;
  readonly #server: McpProgram;
  readonly #sdk: LoadedSdk;
  #process: ServerProcess | undefined;
  #isOver = false;
  #unasked = 0;

  constructor(server: McpProgram, sdk: LoadedSdk) {
    this.#server = server;
    this.#sdk = sdk;
  }

  get pid(): null {
    return null;
  }

  async start(): Promise<void> {
    const started = await startServerProcess(this.#server);
    this.#process = started;
    if (this.#isOver) return await started.stop();
    const cut = createLineSplitter(MESSAGE_BYTES, { line: (line) => this.#take(line), tooLong: refuseLongLine });
    started.stdout.on('data', (chunk: Buffer) => this.#guarded(() => this.#receive(chunk, cut)));
    started.stdout.on('error', () => undefined);
    void started.ended.then((how) => this.#over(how));
  }

  async send(message: JSONRPCMessage): Promise<void> {
    const stdin = this.#process?.stdin;
    if (this.#isOver || stdin === undefined || !stdin.writable) throw new Error('The server has ended.');
    stdin.write(`${JSON.stringify(message)}\n`);
    if (stdin.writableLength > UNREAD_BYTES)
      this.#refuse(new TransportFault(`left more than ${UNREAD_BYTES} bytes unread`));
  }

  async close(): Promise<void> {
    this.#over(undefined);
    await this.#process?.stop();
  }

  ref(): void {
    this.#process?.ref();
  }

  unref(): void {
    this.#process?.unref();
  }

  #receive(chunk: Buffer, cut: (chunk: Buffer) => void): void {
    if (this.#isOver) return;
    this.#unasked += chunk.length;
    cut(chunk);
    if (this.#unasked > UNASKED_BYTES) throw tooMuch();
  }

  #take(line: Buffer): void {
    // Some servers write their log to their standard output.
    if (this.#isOver || line[0] !== BRACE) return;
    const value = parseMessage(line);
    const kind = kindOf(value);
    if (kind === 'answer') this.#unasked = 0;
    if (kind === 'other') return;
    let message: JSONRPCMessage;
    try {
      message = this.#sdk.parseJSONRPCMessage(value);
    } catch {
      // JSON that is no message, such as a line of a log.
      return;
    }
    this.onmessage?.(withResultType(message));
  }

  #guarded(step: () => void): void {
    try {
      step();
    } catch (error) {
      if (!(error instanceof TransportFault)) throw error;
      this.#refuse(error);
    }
  }

  #refuse({ message }: TransportFault): void {
    this.#process?.kill();
    this.#over(message);
  }

  #over(fault: string | undefined): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.fault = fault;
    this.onclose?.();
  }
}
