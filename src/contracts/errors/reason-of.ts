/** The reason in the message of an error, without its last full stop: of `Cannot <action>: <reason>.`, the part after the action. */
export function reasonOf(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  return message.replace(/^Cannot [^:]*: /, '').replace(/\.$/, '');
}
