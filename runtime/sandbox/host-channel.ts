import { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { writeTogether } from '../../src/protocol/channel/write-together.ts';
import type { SandboxLayout } from './sandbox-layout.ts';

const LOCAL_DESCRIPTOR = 3;

/** The byte stream to the host: a socket of the runner, or in a container the streams that the engine attached. */
export function hostChannel(layout: SandboxLayout): Duplex {
  if (layout.level !== 'container') return new Socket({ fd: LOCAL_DESCRIPTOR });
  const input = new Socket({ fd: 0, readable: true, writable: false });
  const output = new Socket({ fd: 1, readable: false, writable: true });
  const channel = new Duplex({
    read: () => void input.resume(),
    write: (chunk: Buffer, _encoding, done) => {
      output.write(chunk, done);
    },
    writev: (chunks, done) => writeTogether(output, chunks, done),
    final: (done) => void output.end(done),
    destroy: (error, done) => {
      input.destroy();
      output.destroy();
      done(error);
    },
  });
  input.on('data', (chunk: Buffer) => {
    if (!channel.push(chunk)) input.pause();
  });
  input.on('end', () => channel.push(null));
  for (const half of [input, output]) {
    half.on('error', (error) => channel.destroy(error));
    half.on('close', () => channel.destroy());
  }
  return channel;
}
