/** Writes `docs/openapi.json` from the routes of the service; with `--check` it only compares. */
import { fileURLToPath } from 'node:url';
import { pino } from 'pino';
import { createServer, type ServerOptions } from '../src/server/create-server.ts';
import { writeGenerated } from './write-generated.ts';

const server = await createServer({
  ...{ allowHosts: [], behindProxy: false, logger: pino({ enabled: false }), now: Date.now },
  // Describing the routes calls none of them.
  ...({ database: {}, queue: {}, files: {}, log: {}, incoming: {} } as Pick<
    ServerOptions,
    'database' | 'queue' | 'files' | 'log' | 'incoming'
  >),
  ending: new AbortController().signal,
});
writeGenerated({
  path: fileURLToPath(new URL('../docs/openapi.json', import.meta.url)),
  page: `${JSON.stringify(server.swagger(), null, 2)}\n`,
  check: process.argv.includes('--check'),
});
await server.close();
