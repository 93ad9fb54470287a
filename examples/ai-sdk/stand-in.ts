import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** The service's answer to one request: a text, or the call of a tool. */
export type Answer = string | { tool: string; input: object };

/** The parts of a request that an answer depends on. */
export interface Asked {
  tools: { function: { name: string; description: string } }[];
  messages: { role: string; content: string }[];
}

/** Starts a local service with the interface of OpenAI's chat completions, in place of a paid one. */
export async function startStandIn(
  answers: readonly ((asked: Asked) => Answer)[],
): Promise<{ baseURL: string } & AsyncDisposable> {
  let requests = 0;
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const answer = answers[requests]?.(JSON.parse(Buffer.concat(chunks).toString()) as Asked) ?? 'I have no more to say.';
      requests += 1;
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(completion(answer, requests)));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    baseURL: `http://127.0.0.1:${port}/v1`,
    async [Symbol.asyncDispose]() {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}

function completion(answer: Answer, request: number): object {
  const isText = typeof answer === 'string';
  const message = isText
    ? { role: 'assistant', content: answer }
    : { role: 'assistant', content: null, tool_calls: [toolCall(answer, request)] };
  const choice = { index: 0, message, finish_reason: isText ? 'stop' : 'tool_calls' };
  const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
  return { id: `answer-${request}`, object: 'chat.completion', created: 0, model: 'stand-in', choices: [choice], usage };
}

function toolCall({ tool, input }: Exclude<Answer, string>, request: number): object {
  return { id: `call-${request}`, type: 'function', function: { name: tool, arguments: JSON.stringify(input) } };
}
