/** The cause of an error about a sandbox whose host has announced its end. */
export class HostLeaves extends Error {
  override readonly name = 'HostLeaves';
}
