import type { ToldNetwork } from '../../contracts/network/told-network.ts';
import { SkillcellError } from '../../contracts/errors/skillcell-error.ts';
import type { AskedNetwork } from './job-network.ts';

/** The key of an orchestrator's check of networks. It is not part of the public interface. */
export const NETWORK_PORT: unique symbol = Symbol.for('skillcell.network-port');

/** An orchestrator with its port. */
export interface NetworkPort {
  [NETWORK_PORT](asked: AskedNetwork): ToldNetwork | undefined;
}

/**
 * The network of jobs to come, for texts about them. Nothing is started.
 *
 * @param orchestrator the orchestrator of the jobs
 * @returns undefined without a network
 * @throws SkillcellError as the submission of such a job, or `options.invalid` for an orchestrator that is not ours
 */
export function networkOfJobs(orchestrator: object, asked: AskedNetwork): ToldNetwork | undefined {
  const port = orchestrator as Partial<NetworkPort>;
  if (port[NETWORK_PORT] !== undefined) return port[NETWORK_PORT](asked);
  if ((asked.network ?? []).length + (asked.secrets ?? []).length === 0) return undefined;
  const message = 'Cannot give jobs a network: the orchestrator must come from createOrchestrator().';
  throw new SkillcellError('options.invalid', message);
}
