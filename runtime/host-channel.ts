import { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import type { SandboxLayout } from './sandbox-layout.ts';

const LOCAL_DESCRIPTOR = 3;

/** The byte stream to the host: a socket of the runner's, or in a container the streams that the engine attached to. */
export function hostChannel(layout: SandboxLayout): Duplex {
  if (layout.level !== 'container') return new Socket({ fd: LOCAL_DESCRIPTOR });
  const input = new Socket({ fd: 0, readable: true, writable: false });
  const output = new Socket({ fd: 1, readable: false, writable: true });
  return Duplex.from({ readable: input, writable: output });
}
