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
import { AWS_VARIABLES } from './aws-variables.ts';
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
 * @throws SkillcellError `network.rule-invalid`, `network.not-allowed`, `secret.unknown`, `job.invalid` for two secrets in one variable,
 *   `runner.isolation-unmet`
 */
export function checkJobNetwork(
  { network = [], secrets = [], isolation }: AskedNetwork,
  settings: NetworkSettings | undefined,
): JobNetwork | undefined {
  const rules = network.map(parseNetworkRule);
  for (const rule of rules) requireCovered(settings?.allow ?? [], rule);
  const named = new Map(secrets.map((name) => [name, requireSecret(name, settings)]));
  requireOwnVariables(named);
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
    secrets: Array.from(secrets.values(), (secret) => {
      const hosts = secret.hosts.map(placeText);
      if ('aws' in secret) return { variables: variablesOf(secret), hosts };
      return { variable: secret.variable, header: secret.header, hosts };
    }),
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

function variablesOf(secret: SecretSettings): string[] {
  return 'aws' in secret ? Object.values(AWS_VARIABLES) : [secret.variable];
}

/** The secret that comes last would hide the other one. */
function requireOwnVariables(secrets: ReadonlyMap<string, SecretSettings>): void {
  const owners = new Map<string, string>();
  for (const [name, secret] of secrets) {
    for (const variable of variablesOf(secret)) {
      const other = owners.get(variable);
      owners.set(variable, name);
      if (other === undefined) continue;
      const both = `${quotedText(other)} and ${quotedText(name)}`;
      throw new SkillcellError(
        'job.invalid',
        `Cannot accept the job: two secrets set the variable ${variable}, got ${both}. Ask for one of them.`,
      );
    }
  }
}
