import type { InstalledPackage, JobPackages } from './job-packages.ts';

/** A network as models are told of it. */
export interface ToldNetwork {
  /** The allowed places, a line each: `GET, HEAD https://api.example.com/v1/**`. The last line may count those left out. */
  allowed: string[];
  secrets: (ToldSecret | ToldKeys)[];
  /** Registries from which programs may install packages. */
  registries: InstalledPackage['registry'][];
  /** Packages that are installed before a program, as its job names them. */
  packages: Required<JobPackages>;
}

/** A secret without its value. */
export interface ToldSecret {
  /** Environment variable with the placeholder. */
  variable: string;
  /** Header in which the placeholder is replaced. */
  header: string;
  /** Hosts that get the value, as URLs. */
  hosts: string[];
}

/** Keys of AWS without their values. */
export interface ToldKeys {
  /** Environment variables with the placeholders. */
  variables: string[];
  /** Hosts whose requests are signed anew, as URLs. */
  hosts: string[];
}

const REGISTRIES: Readonly<Record<InstalledPackage['registry'], string>> = {
  npm: 'the registry of npm (`npm install`)',
  pypi: 'the index of Python packages (`pip install`)',
};

/**
 * Tells a model the network of its programs, as sentences.
 *
 * @param open the beginning of the first sentence, which the allowed places follow
 * @param closed the only sentence if there are no places
 */
export function networkSentences(
  { allowed, secrets, registries }: ToldNetwork,
  open = 'The network is open to these places alone, over HTTP and HTTPS',
  closed = 'There is no network.',
): string[] {
  const places = [...allowed.map(shown), ...registries.map((registry) => REGISTRIES[registry])];
  if (places.length === 0) return [closed];
  return [
    `${open}: ${places.join(', ')}.`,
    ...secrets.map((secret) => ('header' in secret ? secretSentence(secret) : keysSentence(secret))),
    'A denied request is answered with an error status and the header `x-skillcell-denied`, which names the reason; trying it again does not help.',
  ];
}

/** Tells a model all of a network: its places, as `networkSentences` does, and then the packages. */
export function sandboxSentences(network: ToldNetwork, open?: string, closed?: string): string[] {
  return [...networkSentences(network, open, closed), ...packageSentences(network)];
}

/** Tells a model which packages its programs find, and whether they can install more. */
export function packageSentences({ packages, registries }: ToldNetwork): string[] {
  return [
    ...(packages.npm.length === 0 ? [] : [`Packages of npm that are installed: ${packages.npm.join(', ')}.`]),
    ...(packages.pypi.length === 0 ? [] : [`Packages of Python that are installed: ${packages.pypi.join(', ')}.`]),
    installSentence({ registries }),
  ];
}

/** Tells a model whether its programs can install packages. */
export function installSentence({ registries }: Pick<ToldNetwork, 'registries'>): string {
  return registries.length === 0
    ? 'Nothing can be installed.'
    : 'Only packages whose names the host allows can be installed.';
}

function secretSentence({ variable, header, hosts }: ToldSecret): string {
  const places = hosts.map(shown).join(', ');
  return `The environment variable \`${variable}\` holds a placeholder: send it in the header \`${header}\` to ${places}; the host puts the value in.`;
}

function keysSentence({ variables, hosts }: ToldKeys): string {
  const places = hosts.map(shown).join(', ');
  return `The environment variables ${variables.map(shown).join(', ')} hold placeholders: sign requests to ${places} with them; the host signs them anew.`;
}

/** The line that counts the rest is no place. */
function shown(line: string): string {
  return line.startsWith('and ') ? line : `\`${line}\``;
}
