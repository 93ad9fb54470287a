import type { IncomingMessage, ServerResponse } from 'node:http';

/** Why a request is not looked at any further. */
export class HttpRefused extends Error {
  override readonly name = 'HttpRefused';
  readonly status: number;
  /** Of JSON-RPC. */
  readonly code: number;
  readonly headers: Record<string, string>;

  constructor(status: number, reason: string, options: { code?: number; headers?: Record<string, string> } = {}) {
    super(`Cannot answer the request: ${reason}.`);
    this.status = status;
    this.code = options.code ?? -32000;
    this.headers = options.headers ?? {};
  }
}

/** Answers a request that was refused. What of it was not read stays unread: the connection ends with it. */
export function refuse(request: IncomingMessage, response: ServerResponse, refused: HttpRefused): void {
  const { status, code, message, headers } = refused;
  const body = JSON.stringify({ jsonrpc: '2.0', id: null, error: { code, message } });
  const all = { 'content-type': 'application/json', ...headers, ...(request.complete ? {} : { connection: 'close' }) };
  response.writeHead(status, all).end(body);
}
