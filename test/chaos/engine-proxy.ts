import { connect, createServer, type Socket } from 'node:net';
import { once } from 'node:events';

/** A proxy in front of an engine. It can fail on request. */
export interface EngineProxy extends AsyncDisposable {
  /** Its address, in the form of `DOCKER_HOST`. */
  readonly host: string;
  /** Cuts the upgraded connections: the streams of attached containers. Returns their number. */
  cutStreams(): number;
  /** Takes all bytes from now on and passes none on, in either direction. */
  hang(): void;
  /** Passes bytes on again, and first the bytes that arrived meanwhile. */
  recover(): void;
}

interface Passage {
  near: Socket;
  far: Socket;
  upgraded: boolean;
}

/** Starts a proxy on a free TCP port in front of an engine's socket. */
export async function startEngineProxy(socketPath: string): Promise<EngineProxy> {
  const passages = new Set<Passage>();
  let hanging = false;
  const server = createServer((near) => {
    const far = connect(socketPath);
    const passage: Passage = { near, far, upgraded: false };
    passages.add(passage);
    if (hanging) for (const socket of [near, far]) socket.pause();
    near.on('data', (bytes: Buffer) => {
      far.write(bytes);
    });
    far.on('data', (bytes: Buffer) => {
      passage.upgraded ||= bytes.toString('latin1', 0, 12) === 'HTTP/1.1 101';
      near.write(bytes);
    });
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      one.on('end', () => other.end());
      one.on('error', () => other.destroy());
      one.on('close', () => {
        other.destroy();
        passages.delete(passage);
      });
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  return {
    host: `tcp://127.0.0.1:${port}`,
    cutStreams() {
      const streams = [...passages].filter(({ upgraded }) => upgraded);
      for (const { near } of streams) near.destroy();
      return streams.length;
    },
    hang() {
      hanging = true;
      for (const { near, far } of passages) for (const socket of [near, far]) socket.pause();
    },
    recover() {
      hanging = false;
      for (const { near, far } of passages) for (const socket of [near, far]) socket.resume();
    },
    async [Symbol.asyncDispose]() {
      for (const { near } of passages) near.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}
