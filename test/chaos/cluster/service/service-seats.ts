import { execFile } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import pg from 'pg';
import { type Ceph, startCeph } from '../../../fixtures/ceph.ts';
import { type PostgresServer, startPostgres } from '../../../fixtures/postgres.ts';
import { until } from '../../../fixtures/until.ts';
import type { Seat, SeatMaker } from '../cluster.ts';
import { type ClusterRunner, startProcess } from '../cluster-process.ts';
import type { ClusterNetwork, NetworkHost } from '../network.ts';
import type { Observation } from './replica-observer.ts';

/** Settings of a user of the service. */
export interface ReplicaUserSettings {
  addresses: readonly string[];
  token: string;
  /** Name of this process, which begins the names of its jobs. */
  life: string;
  seed: number;
  jobsAtOnce: number;
  histories: string;
}

/** Settings of an observer. */
export interface ObserverSettings {
  endpoint: string;
  credentials: Ceph['owner']['credentials'];
  bucket: string;
  /** Whether the bucket is to be created. */
  isNew: boolean;
  addresses: readonly string[];
  token: string;
  jobs: readonly string[];
  /** Key of an object that is to be put into the bucket. */
  put?: string | undefined;
}

/** A server of the service, which all replicas use. */
export interface ServerSeat<Server> {
  readonly name: string;
  readonly host: NetworkHost;
  readonly server: Server;
  /** Whether a fault is under way here. */
  isBusy: boolean;
}

/** The replicas of a service with their database, their bucket and their users, each on a host of its own. */
export interface ClusterService extends AsyncDisposable {
  readonly replicas: readonly Seat[];
  readonly users: readonly Seat[];
  readonly database: ServerSeat<PostgresServer>;
  readonly bucket: ServerSeat<Ceph>;
  /** Folder of the histories of users. */
  readonly histories: string;
  /** File with the calls of all jobs. */
  readonly journal: string;
  query<Row>(text: string): Promise<Row[]>;
  /** Looks at these jobs at each replica, and at the bucket. */
  observe(jobs: readonly string[]): Promise<Observation>;
  /** Puts an object into the bucket. */
  put(key: string): Promise<void>;
  /** The state folder of a replica, by its number from 1. */
  stateOf(replica: number): string;
  /** The log of a replica. */
  logOf(seat: Seat): string;
  /** Programs on the host of a replica. */
  programs(seat: Seat): string[];
}

/** Options of {@link startClusterService}. */
export interface ClusterServiceOptions {
  /** Makes a folder below that of the cluster. */
  made(...names: string[]): string;
  network: ClusterNetwork;
  seat: SeatMaker;
  fleetUrl: string;
  runner: ClusterRunner;
  replicas: number;
  users: number;
  seed: number;
}

const PORT = 7_420;
const BUCKET = 'service';
const JOBS_AT_ONCE = 4;
/** Exit code of a service whose database does not answer. */
const UNAVAILABLE = 3;
const READY_MS = 120_000;
/** A program that looks at every job takes a while. */
const OBSERVE_MS = 300_000;
const OUTPUT_BYTES = 256 * 1024 * 1024;
const CHECKOUT = fileURLToPath(new URL('../../../..', import.meta.url));
const REPLICA = fileURLToPath(new URL('replica-program.ts', import.meta.url));
const USER = fileURLToPath(new URL('replica-user.ts', import.meta.url));
const TOOLS = fileURLToPath(new URL('journal-tools.ts', import.meta.url));
const OBSERVER = fileURLToPath(new URL('replica-observer.ts', import.meta.url));
const run = promisify(execFile);

/** Starts the servers, then the replicas, then their users. */
export async function startClusterService(options: ClusterServiceOptions): Promise<ClusterService> {
  const { made, network, seat, fleetUrl, runner } = options;
  await using opened = new AsyncDisposableStack();
  const hosts = { database: network.join('database'), bucket: network.join('bucket'), observer: network.join('looks') };
  const [postgres, ceph] = await Promise.all([startPostgres(hosts.database), startCeph(hosts.bucket)]);
  opened.use(postgres);
  opened.use(ceph);
  const databaseUrl = postgres.create('service');
  const { credentials } = ceph.owner;
  const folder = made('service');
  const histories = made('service', 'histories');
  const journal = join(folder, 'journal.jsonl');
  const fleetFile = join(folder, 'client.fleet');
  const tools = join(folder, 'mcp.json');
  writeFileSync(journal, '');
  writeFileSync(fleetFile, fleetUrl, { mode: 0o600 });
  const journalServer = { command: process.execPath, args: [TOOLS, journal] };
  writeFileSync(tools, JSON.stringify({ mcpServers: { journal: journalServer } }));

  const stateOf = (replica: number): string => made('service', `state-${replica}`);
  const addressOf = ({ host }: Seat): string => `http://${host.address}:${PORT}`;
  const replicas = Array.from({ length: options.replicas }, (_, index) =>
    seat(
      `replica-${index + 1}`,
      (host, { log, env, checkout = CHECKOUT }) => {
        const { address } = host;
        const place = ['--port', String(PORT), '--host', address, '--behind-proxy', '--state', stateOf(index + 1)];
        const shared = ['--replica', '--database', databaseUrl, '--advertise', `http://${address}:${PORT}`];
        const where = ['--files', `s3://${BUCKET}/jobs`, '--runner', 'fleet', '--fleet-file', fleetFile, '--plain'];
        const jobs = [
          '--isolation',
          runner === 'docker' ? 'container' : 'namespace',
          '--mcp',
          tools,
          '--tool',
          'journal.*',
        ];
        const bucket = {
          AWS_ACCESS_KEY_ID: credentials.accessKeyId,
          AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey,
          AWS_ENDPOINT_URL_S3: ceph.endpoint,
          AWS_REGION: 'us-east-1',
        };
        const command = [
          process.execPath,
          join(checkout, relative(CHECKOUT, REPLICA)),
          'serve',
          ...place,
          ...shared,
          ...where,
          ...jobs,
        ];
        return startProcess(host, command, { log, env: { ...env, ...bucket } });
      },
      // Without its database or its bucket it does not start.
      { again: UNAVAILABLE },
    ),
  );
  const addresses = replicas.map(addressOf);
  const tokenFile = (): string | undefined =>
    replicas.map((_, index) => join(stateOf(index + 1), 'admin-token')).find((path) => existsSync(path));
  const token = (): string => readFileSync(tokenFile() ?? '', 'utf8').trim();
  let lives = 0;
  const users = Array.from({ length: options.users }, (_, index) =>
    seat(`user-${index + 1}`, (host, { log, env, life }) => {
      lives += 1;
      const seed = options.seed * 1_000 + 500 + lives;
      const settings: ReplicaUserSettings = {
        ...{ addresses, life, seed, histories, token: token(), jobsAtOnce: JOBS_AT_ONCE },
      };
      return startProcess(host, [process.execPath, USER, JSON.stringify(settings)], { log, env });
    }),
  );

  const observe = async (
    about: Omit<ObserverSettings, 'credentials' | 'endpoint' | 'bucket'>,
  ): Promise<Observation> => {
    const settings: ObserverSettings = { ...about, credentials, endpoint: ceph.endpoint, bucket: BUCKET };
    const file = join(folder, 'observer.json');
    writeFileSync(file, JSON.stringify(settings));
    const [enter, ...where] = hosts.observer.run;
    const { stdout } = await run(enter, [...where, process.execPath, OBSERVER, file], {
      maxBuffer: OUTPUT_BYTES,
      timeout: OBSERVE_MS,
    });
    return JSON.parse(stdout) as Observation;
  };
  await observe({ isNew: true, jobs: [], addresses: [], token: '' });
  for (const each of replicas) each.start();
  await Promise.all(replicas.map(async (each) => await each.ready()));
  await until(() => tokenFile() !== undefined, 'the token of the first admin', READY_MS);
  for (const each of users) each.start();
  const parts = opened.move();
  return {
    ...{ replicas, users, histories, journal, stateOf },
    database: { name: 'database', host: hosts.database, server: postgres, isBusy: false },
    bucket: { name: 'bucket', host: hosts.bucket, server: ceph, isBusy: false },
    async query<Row>(text: string) {
      // The socket is reached from every network.
      const { folder: host, port } = postgres.socket;
      const client = new pg.Client({ host, port, user: 'postgres', database: 'service' });
      await client.connect();
      try {
        return (await client.query(text)).rows as Row[];
      } finally {
        await client.end();
      }
    },
    observe: (jobs) => observe({ isNew: false, jobs, addresses, token: token() }),
    put: async (key) => void (await observe({ isNew: false, jobs: [], addresses: [], token: '', put: key })),
    logOf: ({ name }) => join(made(), `${name}.log`),
    programs: ({ host }) => network.programs(host),
    [Symbol.asyncDispose]: () => parts.disposeAsync(),
  };
}
