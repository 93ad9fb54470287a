import type { ServerContext } from '@modelcontextprotocol/server';

/** The longest silence for a client that waits for a long job. */
const HEARTBEAT_MS = 5_000;

/** Reports the progress of one call to its client. */
export interface CallProgress {
  say(message: string): void;
  end(): void;
}

/** Sends notifications only if the client asked for them with a token. */
export function createCallProgress({ mcpReq }: ServerContext, log: (line: string) => void): CallProgress {
  const progressToken = mcpReq._meta?.progressToken;
  if (progressToken === undefined) return { say: () => undefined, end: () => undefined };
  let progress = 0;
  let last = 'waiting';
  const send = (message: string): void => {
    progress += 1;
    last = message;
    const notification = { method: 'notifications/progress' as const, params: { progressToken, progress, message } };
    mcpReq.notify(notification).catch((error: unknown) => log(`progress was not sent: ${String(error)}`));
  };
  const heartbeat = setInterval(() => send(last), HEARTBEAT_MS).unref();
  return { say: send, end: () => clearInterval(heartbeat) };
}
