import { CONNECTION_PACE, type Channel } from '../protocol/channel/channel.ts';
import { joinSocket, type JoinedSocket } from '../protocol/connections/join-socket.ts';
import type { HostMessage, SandboxMessage } from '../protocol/messages/messages.ts';
import type { JobEgress } from './start-egress.ts';

/** Hands the connections of one sandbox over to the worker, as bytes. */
export interface HandedConnections {
  /** Takes a message of the sandbox. Throws where the sandbox breaks the protocol. */
  take(message: SandboxMessage & { type: 'connection' | 'reset' }): void;
}

/** @param most most connections at once */
export function handOverConnections(
  channel: Channel,
  egress: Pick<JobEgress, 'connect'>,
  most: number,
): HandedConnections {
  const open = new Map<number, JoinedSocket>();
  const send = (message: HostMessage): void => channel.send(message);
  return {
    take(message) {
      if (message.type === 'reset') {
        // The connection may have ended here in the meantime.
        open.get(message.of)?.reset();
        return;
      }
      const of = message.stream;
      if (open.size >= most) throw new Error(`more connections than ${most}`);
      const socket = egress.connect();
      const writer = channel.openStream(CONNECTION_PACE);
      const joined = joinSocket(socket, writer, {
        onReset: () => send({ type: 'reset', of }),
        onOver: () => open.delete(of),
        breakOff: () => socket.destroy(),
      });
      // Refuses a number that is not new, before anything is answered.
      channel.receive(of, joined.reader, CONNECTION_PACE);
      open.set(of, joined);
      send({ type: 'connection', of, stream: writer.number });
    },
  };
}
