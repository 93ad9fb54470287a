import { type JobPackages, MOST_PACKAGES } from '../../contracts/network/job-packages.ts';
import type { NetworkRule } from '../../contracts/network/network-rule.ts';
import type { ToldNetwork } from '../../contracts/network/told-network.ts';
import { SkillcellError } from '../../contracts/errors/skillcell-error.ts';
import { quotedText } from '../../contracts/text/quoted-text.ts';
import type { Isolation } from '../../contracts/jobs/result.ts';
import { type RegistryKind, registryRule } from '../../egress/packages/package-registry.ts';
import { parsePackageSpec } from '../../egress/packages/parse-package-spec.ts';
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
  /** Registries that the program may read itself. */
  registries: RegistryKind[];
  /** Packages that are installed before the program; undefined without any. */
  packages: Record<RegistryKind, string[]> | undefined;
}

/** Fields of a job about its network. */
export interface AskedNetwork {
  network?: readonly (NetworkRule | string)[] | undefined;
  secrets?: readonly string[] | undefined;
  packages?: JobPackages | undefined;
  isolation?: Isolation | undefined;
}

/**
 * Checks the network that a job asks for. Nothing is started yet.
 *
 * @returns undefined for a job without a network
 * @throws SkillcellError `network.rule-invalid`, `network.not-allowed`, `packages.refused`, `secret.unknown`, `job.invalid` for two secrets in one
 *   variable, `runner.isolation-unmet`
 */
export function checkJobNetwork(
  { network = [], secrets = [], packages: wanted = {}, isolation }: AskedNetwork,
  settings: NetworkSettings | undefined,
): JobNetwork | undefined {
  const registries = KINDS.filter((kind) => network.includes(registryRule(kind)));
  const rules = network.filter((rule) => !KINDS.some((kind) => rule === registryRule(kind))).map(parseNetworkRule);
  const packages = { npm: specsOf('npm', wanted), pypi: specsOf('pypi', wanted) };
  const hasPackages = packages.npm.length > 0 || packages.pypi.length > 0;
  for (const kind of KINDS) if (registries.includes(kind) || packages[kind].length > 0) requirePatterns(kind, settings);
  for (const rule of rules) requireCovered(settings?.allow ?? [], rule);
  const named = new Map(secrets.map((name) => [name, requireSecret(name, settings)]));
  requireOwnVariables(named);
  if (rules.length === 0 && registries.length === 0 && !hasPackages) return undefined;
  if (isolation === 'none') {
    const message = 'Cannot give the job a network: level none cannot hold it to its rules, got isolation "none".';
    throw new SkillcellError('runner.isolation-unmet', message);
  }
  const told = { ...tellNetwork(rules, named, settings?.allow ?? []), registries, packages };
  return { rules, secrets: named, told, registries, packages: hasPackages ? packages : undefined };
}

const KINDS: readonly RegistryKind[] = ['npm', 'pypi'];

function specsOf(kind: RegistryKind, wanted: JobPackages): string[] {
  const specs = wanted[kind] ?? [];
  if (specs.length <= MOST_PACKAGES) return specs.map((spec) => parsePackageSpec(kind, spec));
  const message = `Cannot install the packages of ${kind}: a job names at most ${MOST_PACKAGES}, got ${specs.length}.`;
  throw new SkillcellError('packages.refused', message);
}

function requirePatterns(kind: RegistryKind, settings: NetworkSettings | undefined): void {
  if ((settings?.packages[kind] ?? []).length > 0) return;
  const message = `Cannot give the job packages of ${kind}: network.packages.${kind} of the orchestrator has no name, got ${quotedText(registryRule(kind))}.`;
  throw new SkillcellError('network.not-allowed', message);
}

function tellNetwork(
  rules: readonly CheckedRule[],
  secrets: ReadonlyMap<string, SecretSettings>,
  allow: readonly CheckedRule[],
): Pick<ToldNetwork, 'allowed' | 'secrets'> {
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
