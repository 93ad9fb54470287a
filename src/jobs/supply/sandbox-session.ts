import type { Duplex } from 'node:stream';
import * as z from 'zod/mini';
import { SkillcellError } from '../../contracts/errors/skillcell-error.ts';
import { createChannel, type Channel } from '../../protocol/channel/channel.ts';
import { readSandboxCall, sandboxMessageSchema } from '../../protocol/messages/message-schema.ts';
import {
  PROTOCOL_VERSION,
  type HostMessage,
  type SandboxCall,
  type SandboxMessage,
  type Rehearsal,
} from '../../protocol/messages/messages.ts';
import type { Sandbox } from '../../sandboxes/runner.ts';

/** Handlers for the messages of a sandbox. Attached when a job begins. */
export interface SessionHandlers {
  message(message: SandboxMessage): void;
  call(call: SandboxCall): void;
  /** Called once, with the error of the channel, or undefined if the sandbox just ended. */
  closed(error: Error | undefined): void;
}

/** A sandbox and the channel to it. */
export interface SandboxSession {
  sandbox: Sandbox;
  channel: Channel;
  /** Resolves when entry and executor wait for a job. Rejects when the sandbox ends before. */
  ready: Promise<void>;
  /** Milliseconds from the start until it was ready; null until then. */
  readonly startMs: number | null;
  /** Time of the last arrived data, by `performance.now()`. */
  readonly heardAt: number;
  attach(handlers: SessionHandlers): void;
  /** Rehearses a job in a ready sandbox, so that its job need not wait for code to load. */
  rehearse(rehearsal: Rehearsal): Promise<void>;
  /** Leaves the bytes of a ready sandbox to another reader. */
  release(): Duplex;
}

/** Opens the channel of a sandbox. Every message is validated before a handler sees it. */
export function openSession(sandbox: Sandbox, startedAt: number): SandboxSession {
  let handlers: SessionHandlers | undefined;
  let startMs: number | null = null;
  let heardAt = performance.now();
  let closedWith: { error: Error | undefined } | undefined;
  let rehearsed: (() => void) | undefined;
  const { promise: ready, resolve: becomeReady, reject: failToStart } = Promise.withResolvers<void>();
  // Callers that await `ready` see the rejection; a running job learns of the end through its handlers.
  ready.catch(() => undefined);

  const channel = createChannel(sandbox.channel, {
    onMessage(given) {
      const parsed = z.safeParse(sandboxMessageSchema, given);
      if (!parsed.success) throw new Error(`a message of no known form (${parsed.error.issues[0]?.message ?? ''})`);
      const message = parsed.data;
      if (message.type === 'rehearsed') return rehearsed?.();
      if (message.type !== 'ready') return handlers?.message(message);
      if (message.protocol !== PROTOCOL_VERSION)
        throw new Error(`a ready message of protocol version ${message.protocol}`);
      startMs ??= performance.now() - startedAt;
      becomeReady();
    },
    onPacked: (bytes) => handlers?.call(readSandboxCall(bytes)),
    onClose(error) {
      closedWith = { error };
      failToStart(startFailure(sandbox, error));
      handlers?.closed(error);
    },
  });

  const hear = (): void => void (heardAt = performance.now());
  sandbox.channel.on('data', hear);

  return {
    sandbox,
    channel,
    ready,
    get startMs() {
      return startMs;
    },
    get heardAt() {
      return heardAt;
    },
    async rehearse(rehearsal) {
      const answered = Promise.withResolvers<void>();
      rehearsed = answered.resolve;
      const leave = (): void => answered.reject(startFailure(sandbox, undefined));
      sandbox.channel.once('close', leave);
      try {
        channel.send({ type: 'rehearse', ...rehearsal } satisfies HostMessage);
        await answered.promise;
      } finally {
        sandbox.channel.off('close', leave);
      }
    },
    release() {
      sandbox.channel.off('data', hear);
      return channel.release();
    },
    attach(given) {
      handlers = given;
      if (closedWith !== undefined) given.closed(closedWith.error);
    },
  };
}

function startFailure(sandbox: Sandbox, error: Error | undefined): SkillcellError {
  const known = sandbox.startFailure?.();
  if (known !== undefined) return known;
  const said = sandbox.complaint().trim();
  const reason = said === '' ? 'it ended before it was ready' : said;
  return new SkillcellError('sandbox.start-failed', `Cannot start a sandbox: ${reason}.`, { cause: error });
}
