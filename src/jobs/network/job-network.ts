import type { NetworkRule } from '../../contracts/network/network-rule.ts';
import type { ToldNetwork } from '../../contracts/network/told-network.ts';
import { SkillcellError } from '../../contracts/errors/skillcell-error.ts';
import { quotedText } from '../../contracts/text/quoted-text.ts';
import type { Isolation } from '../../contracts/jobs/result.ts';
import { requireCovered } from '../../egress/rules/covers.ts';
import type { CheckedRule } from '../../egress/rules/checked-rule.ts';
import { describeRules, placeText } from '../../egress/rules/describe-rules.ts';
import { parseNetworkRule } from '../../egress/rules/parse-network-rule.ts';
import { usableRules } from '../../egress/rules/usable-rules.ts';
import type { NetworkSettings, SecretSettings } from './network-settings.ts';

/** The network that a job asks for, checked against that of its orchestrator. */
export interface JobNetwork {
  rules: CheckedRule[];
  /** By name. */
  secrets: ReadonlyMap<string, SecretSettings>;
  /** As prompts name it. */
  told: ToldNetwork;
}

/** Fields of a job about its network. */
export interface AskedNetwork {
  network?: readonly (NetworkRule | string)[] | undefined;
  secrets?: readonly string[] | undefined;
  isolation?: Isolation | undefined;
}

/**
 * Checks the network that a job asks for. Nothing is started yet.
 *
 * @returns undefined for a job without a network
 * @throws SkillcellError `network.rule-invalid`, `network.not-allowed`, `secret.unknown`, `runner.isolation-unmet`
 */
export function checkJobNetwork(
  { network = [], secrets = [], isolation }: AskedNetwork,
  settings: NetworkSettings | undefined,
): JobNetwork | undefined {
  const rules = network.map(parseNetworkRule);
  for (const rule of rules) requireCovered(settings?.allow ?? [], rule);
  const named = new Map(secrets.map((name) => [name, requireSecret(name, settings)]));
  if (rules.length === 0) return undefined;
  if (isolation === 'none') {
    const message = 'Cannot give the job a network: level none cannot hold it to its rules, got isolation "none".';
    throw new SkillcellError('runner.isolation-unmet', message);
  }
  return { rules, secrets: named, told: tellNetwork(rules, named, settings?.allow ?? []) };
}

function tellNetwork(
  rules: readonly CheckedRule[],
  secrets: ReadonlyMap<string, SecretSettings>,
  allow: readonly CheckedRule[],
): ToldNetwork {
  return {
    allowed: describeRules(usableRules(rules, allow)),
    secrets: Array.from(secrets.values(), ({ variable, header, hosts }) => ({
      variable,
      header,
      hosts: hosts.map(placeText),
    })),
  };
}

function requireSecret(name: string, settings: NetworkSettings | undefined): SecretSettings {
  const known = settings?.secrets.get(name);
  if (known !== undefined) return known;
  throw new SkillcellError(
    'secret.unknown',
    `Cannot accept the job: the orchestrator has no such secret, got ${quotedText(name)}.`,
  );
}
