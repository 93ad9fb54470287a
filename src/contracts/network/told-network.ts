/** A network as models are told of it. */
export interface ToldNetwork {
  /** The allowed places, a line each: `GET, HEAD https://api.example.com/v1/**`. The last line may count those left out. */
  allowed: string[];
  secrets: ToldSecret[];
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
    ...secrets.map(
      ({ variable, header, hosts }) =>
        `The environment variable \`${variable}\` holds a placeholder: send it in the header \`${header}\` to ${hosts.map(shown).join(', ')}; the host puts the value in.`,
    ),
    'A denied request is answered with status 403 and the header `x-skillcell-denied`, which names the reason; trying it again does not help.',
  ];
}

/** The line that counts the rest is no place. */
function shown(line: string): string {
  return line.startsWith('and ') ? line : `\`${line}\``;
}
