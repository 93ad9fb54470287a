import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import type { RequestListener } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { NetworkOptions } from '../../src/contracts/network/network-options.ts';
import { createAuthority } from '../../src/egress/certificates/create-authority.ts';

/** A host on this machine, in place of one on the internet. */
export interface LocalHost extends AsyncDisposable {
  /** Name and port, as in a rule. */
  place: string;
  /** Options of a network that lead to it: its address, and the authority of its certificate. A host on the internet needs none. */
  options: Pick<NetworkOptions, 'caFile' | 'allowPrivate' | 'lookup'>;
}

/** Starts a host that answers over HTTPS under this name. */
export async function startLocalHost(name: string, answer: RequestListener): Promise<LocalHost> {
  const authority = await createAuthority();
  const folder = await mkdtemp(join(tmpdir(), 'local-host-'));
  const caFile = join(folder, 'authority.pem');
  await writeFile(caFile, authority.pem);
  const context = await authority.contextFor(name);
  const server = createServer({ SNICallback: (_asked, done) => done(null, context) }, answer);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    place: `${name}:${(server.address() as AddressInfo).port}`,
    options: {
      caFile,
      allowPrivate: ['127.0.0.1/32'],
      lookup: async () => [{ address: '127.0.0.1', family: 4 }],
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
