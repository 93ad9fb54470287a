/** Hosts of a sandbox itself: clients in it reach them directly, never through the host. */
export const OWN_HOSTS: readonly string[] = ['localhost', '127.0.0.1', '::1'];

/** Reports if clients take a host for one of the sandbox's own. Some compare the end of a name only. */
export function isOwnHost(host: string): boolean {
  return OWN_HOSTS.includes(host) || host.endsWith('.localhost');
}
