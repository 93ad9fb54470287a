import type { SandboxNetwork } from '../../contracts/jobs/globals.ts';
import type { JobLimits } from '../../contracts/jobs/limits.ts';
import type { NetworkRow, ResultNetwork } from '../../contracts/network/result-network.ts';
import type { Channel } from '../../protocol/channel/channel.ts';
import { type HandedConnections, handOverConnections } from '../../egress/hand-over-connections.ts';
import type { Egress } from '../../egress/start-egress.ts';
import { type NetworkSum, sumNetwork } from '../../egress/sum-network.ts';
import type { EgressRow } from '../../egress/worker/worker-messages.ts';
import type { JobNetwork } from './job-network.ts';
import type { NetworkSettings } from './network-settings.ts';
import { secretValues } from './secret-values.ts';

/** Requests beyond its share after which a job is ended. */
const MOST_REFUSED = 100;

/** The open network of one job. */
export interface OpenNetwork {
  /** The network as its sandbox gets it. */
  sandbox: SandboxNetwork;
  /** Texts of the rules of the job. */
  handOver(channel: Channel): HandedConnections;
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
 * @throws SkillcellError `secret.unavailable`
 */
export async function openJobNetwork(
  { rules, secrets, told }: JobNetwork,
  { jobId, limits, settings, egress, onRow, onAuditFailure }: OpenNetworkOptions,
): Promise<OpenNetwork> {
  const { variables, ...held } = await secretValues(secrets);
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
  const job = {
    jobId,
    rules,
    ...held,
    limits: {
      requests: limits.networkRequests,
      bytesIn: limits.networkBytesIn,
      bytesOut: limits.networkBytesOut,
    },
  };
  const opened = await egress.open(job, {
    onRow: take,
    onFault: (message) => sums.forEach((sum) => sum.addFault(message)),
  });
  return {
    sandbox: {
      ...told,
      authority: opened.authority,
      connections: limits.networkConnections,
      variables,
    },
    handOver: (channel) => handOverConnections(channel, opened, limits.networkConnections),
    onExhausted: (given) => void (exhausted = given),
    count() {
      const sum = sumNetwork();
      sums.add(sum);
      return async () => {
        await opened.settled();
        sums.delete(sum);
        return sum.sum;
      };
    },
    async close() {
      await opened.close();
      return whole.sum;
    },
  };
}
