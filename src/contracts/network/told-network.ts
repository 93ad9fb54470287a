/** A network as models are told of it. */
export interface ToldNetwork {
  /** The allowed places, a line each: `GET, HEAD https://api.example.com/v1/**`. The last line may count those left out. */
  allowed: string[];
  secrets: (ToldSecret | ToldKeys)[];
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

/**
 * Tells a model the network of its programs, as sentences.
 *
 * @param open the beginning of the first sentence, which the allowed places follow
 */
export function networkSentences(
  { allowed, secrets }: ToldNetwork,
  open = 'The network is open to these places alone, over HTTP and HTTPS',
): string[] {
  return [
    `${open}: ${allowed.map(shown).join(', ')}.`,
    ...secrets.map((secret) => ('header' in secret ? secretSentence(secret) : keysSentence(secret))),
    'A denied request is answered with status 403 and the header `x-skillcell-denied`, which names the reason; trying it again does not help.',
  ];
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
