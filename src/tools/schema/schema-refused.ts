/** Why and where a schema cannot be enforced. */
export class SchemaRefused extends Error {
  override readonly name = 'SchemaRefused';
  readonly path: readonly string[];

  constructor(what: string, path: readonly string[] = []) {
    super(what);
    this.path = path;
  }
}
