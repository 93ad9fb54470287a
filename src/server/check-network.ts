import { SkillcellError } from '../contracts/errors/skillcell-error.ts';
import { type AskedNetwork, checkJobNetwork } from '../jobs/network/job-network.ts';
import type { NetworkSettings } from '../jobs/network/network-settings.ts';
import type { JobRequest } from '../queue/request/job-request.ts';
import { RequestRefused } from './http/problem.ts';

/**
 * Refuses a job that asks for more of the network than the service gives, before it is accepted.
 *
 * @param settings network of the orchestrator; undefined without one
 * @throws {RequestRefused} with the code of the orchestrator and a pointer to the first such place
 */
export function checkNetwork(job: JobRequest, settings: NetworkSettings | undefined): void {
  const { network = [], packages = {}, secrets = [] } = job;
  for (const [at, rule] of network.entries()) checkPart({ network: [rule] }, `/network/${at}`, settings);
  for (const kind of ['npm', 'pypi'] as const) {
    for (const [at, spec] of (packages[kind] ?? []).entries())
      checkPart({ packages: { [kind]: [spec] } }, `/packages/${kind}/${at}`, settings);
  }
  for (const [at, name] of secrets.entries()) checkPart({ secrets: [name] }, `/secrets/${at}`, settings);
  checkPart({ network, packages, secrets }, '/secrets', settings);
}

function checkPart(asked: AskedNetwork, pointer: string, settings: NetworkSettings | undefined): void {
  try {
    checkJobNetwork(asked, settings);
  } catch (error) {
    if (!SkillcellError.isInstance(error)) throw error;
    throw new RequestRefused(error.code, error.message, [{ pointer, detail: error.message }]);
  }
}
