import type { Socket } from 'node:net';
import type { SandboxJob, SandboxNetwork } from '../../contracts/jobs/globals.ts';
import type { JobLimits } from '../../contracts/jobs/limits.ts';
import type { NetworkRow, ResultNetwork } from '../../contracts/network/result-network.ts';
import type { Channel } from '../../protocol/channel/channel.ts';
import { type HandedConnections, handOverConnections } from '../../egress/hand-over-connections.ts';
import type { RegistryKind } from '../../egress/packages/package-registry.ts';
import type { Egress, JobEgress } from '../../egress/start-egress.ts';
import { type NetworkSum, sumNetwork } from '../../egress/sum-network.ts';
import type { EgressJob, EgressRow } from '../../egress/worker/worker-messages.ts';
import type { JobNetwork } from './job-network.ts';
import type { NetworkSettings } from './network-settings.ts';
import { readRegistries } from './read-registries.ts';
import { secretValues } from './secret-values.ts';

/** Requests beyond its share after which a job is ended. */
const MOST_REFUSED = 100;

/** The open network of one job. */
export interface OpenNetwork {
  /** The fields of the job by which its sandbox gets the network. */
  sandbox: Pick<SandboxJob, 'network' | 'packages'>;
  /** Takes the connections of its sandbox. */
  handOver(channel: Channel): HandedConnections;
  /**
   * The packages are installed: their registries are closed, and all further connections are those of the program.
   *
   * @throws Error for a job without packages, or if they were installed before
   */
  installed(): void;
  /** Called after the job has made too many requests beyond its share. */
  onExhausted(take: () => void): void;
  /** Counts the requests from now on apart, until the returned function is called. */
  count(): () => Promise<ResultNetwork>;
  /** Ends all connections. */
  close(): Promise<ResultNetwork>;
}

/** Options of {@link openJobNetwork}. */
export interface OpenNetworkOptions {
  jobId: string;
  limits: JobLimits;
  settings: NetworkSettings;
  egress: Egress;
  onRow(row: NetworkRow): void;
  /** Logs the error of the audit. */
  onAuditFailure(error: unknown): void;
}

/**
 * Reads the secrets of a job, and makes it known to the worker.
 *
 * @throws SkillcellError `secret.unavailable`, `packages.unavailable`
 */
export async function openJobNetwork(
  { rules, secrets, told, registries, packages }: JobNetwork,
  { jobId, limits, settings, egress, onRow, onAuditFailure }: OpenNetworkOptions,
): Promise<OpenNetwork> {
  const { variables: placeholders, ...held } = await secretValues(secrets);
  const asked = { npm: (packages?.npm.length ?? 0) > 0, pypi: (packages?.pypi.length ?? 0) > 0 };
  const known = await readRegistries(
    { npm: asked.npm || registries.includes('npm'), pypi: asked.pypi || registries.includes('pypi') },
    settings.packages,
  );
  const sums = new Set<NetworkSum>();
  const whole = sumNetwork();
  sums.add(whole);
  let refused = 0;
  let exhausted: (() => void) | undefined;

  const audit = async (row: NetworkRow): Promise<void> => {
    try {
      await settings.audit?.(row);
    } catch (error) {
      egress.refuse();
      onAuditFailure(error);
    }
  };
  const take = (given: EgressRow): void => {
    const row: NetworkRow = { jobId, ...given };
    for (const sum of sums) sum.add(row);
    onRow(row);
    void audit(row);
    if (row.reason !== 'quota') return;
    refused += 1;
    if (refused === MOST_REFUSED) exhausted?.();
  };
  const share = {
    requests: limits.networkRequests,
    bytesIn: limits.networkBytesIn,
    bytesOut: limits.networkBytesOut,
    connections: limits.networkConnections,
  };
  const open = (job: Pick<EgressJob, 'rules' | 'secrets' | 'awsKeys' | 'registries'>): Promise<JobEgress> =>
    egress.open(
      { jobId, limits: share, ...job },
      { onRow: take, onFault: (message) => sums.forEach((sum) => sum.addFault(message)) },
    );
  const ofProgram = await open({
    rules,
    ...held,
    registries: known.filter(({ kind }) => registries.includes(kind)).map(({ registry }) => registry),
  });
  // The program and the installers have different tokens, so no connection of the one has the rights of the other.
  const ofInstallers =
    packages === undefined
      ? undefined
      : await open({
          rules: [],
          secrets: [],
          awsKeys: [],
          registries: known.filter(({ kind }) => asked[kind]).map(({ registry }) => registry),
        });
  let isInstalling = ofInstallers !== undefined;
  const network = (own: Record<string, string>, kinds: readonly RegistryKind[]): SandboxNetwork => {
    const usable = known.filter(({ kind }) => kinds.includes(kind));
    const npmrc = usable.find((one) => one.npmrc !== undefined)?.npmrc;
    return {
      ...told,
      authority: ofProgram.authority,
      connections: limits.networkConnections,
      variables: Object.assign({}, ...usable.map(({ variables }) => variables), own) as Record<string, string>,
      ...(npmrc === undefined ? {} : { npmrc }),
    };
  };
  const hasOwn = rules.length > 0 || registries.length > 0;
  const kindsAsked = (['npm', 'pypi'] as const).filter((kind) => asked[kind]);
  return {
    sandbox: {
      ...(hasOwn ? { network: network(placeholders, registries) } : {}),
      ...(packages === undefined ? {} : { packages: { ...packages, network: network({}, kindsAsked) } }),
    },
    handOver: (channel) => {
      const connect = (): Socket => (isInstalling && ofInstallers !== undefined ? ofInstallers : ofProgram).connect();
      return handOverConnections(channel, { connect }, limits.networkConnections);
    },
    installed() {
      if (!isInstalling) throw new Error('packages that were not asked for');
      isInstalling = false;
      void ofInstallers?.close();
    },
    onExhausted: (given) => void (exhausted = given),
    count() {
      const sum = sumNetwork();
      sums.add(sum);
      return async () => {
        await ofProgram.settled();
        sums.delete(sum);
        return sum.sum;
      };
    },
    async close() {
      await Promise.all([ofProgram.close(), ofInstallers?.close()]);
      return whole.sum;
    },
  };
}
