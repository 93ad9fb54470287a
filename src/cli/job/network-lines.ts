import { deniedLines } from '../../contracts/network/denied-lines.ts';
import type { ResultNetwork } from '../../contracts/network/result-network.ts';

/** Denied requests and faults of a network for people, a line each. Untrusted parts are not escaped yet. */
export function networkLines(network: ResultNetwork | undefined): string[] {
  if (network === undefined) return [];
  const { faults = [] } = network;
  return [...deniedLines(network), ...faults.map((fault) => `fault: ${fault}`)].map((line) => `network: ${line}`);
}
