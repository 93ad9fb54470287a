import type { IncomingMessage, ServerResponse } from 'node:http';
import type { RequestId } from '@modelcontextprotocol/server';

/** Details of a refusal beside its status. */
export interface HttpRefusedOptions {
  /** Error code of JSON-RPC. @default -32000 */
  code?: number;
  /** Id of the request, if it is known. */
  id?: RequestId | null;
  headers?: Record<string, string>;
}

/** The refusal of a request. */
export class HttpRefused extends Error {
  override readonly name = 'HttpRefused';
  readonly status: number;
  /** Error code of JSON-RPC. */
  readonly code: number;
  readonly id: RequestId | null;
  readonly headers: Record<string, string>;

  constructor(status: number, reason: string, { code = -32000, id = null, headers = {} }: HttpRefusedOptions = {}) {
    super(`Cannot answer the request: ${reason}.`);
    this.status = status;
    this.code = code;
    this.id = id;
    this.headers = headers;
  }
}

/** Answers a refused request. Its unread part stays unread: the connection ends with it. */
export function refuse(request: IncomingMessage, response: ServerResponse, refused: HttpRefused): void {
  const { status, code, id, message, headers } = refused;
  const body = JSON.stringify({ jsonrpc: '2.0', id, error: { code, message } });
  const all = { 'content-type': 'application/json', ...headers, ...(request.complete ? {} : { connection: 'close' }) };
  response.writeHead(status, all).end(body);
}
