import type { HeldSecret } from '../secrets/held-secret.ts';

/** The kinds of registries. */
export type RegistryKind = 'npm' | 'pypi';

/** The credentials of a registry. */
export interface RegistryCredentials {
  /** Value of the header `authorization`. */
  authorization: string;
  /** Texts that its answers must not bring back. */
  washed: HeldSecret[];
}

/** A server with packages, and the folder below which it has them. */
export interface RegistryPlace {
  scheme: 'https' | 'http';
  /** In the form of `canonicalHost`. */
  host: string;
  port: number;
  /** Begins and ends with a slash. */
  path: string;
  /** Scopes of npm that are asked here only: `@acme`. */
  scopes: readonly string[];
  /** Whether all other names are asked here. */
  isDefault: boolean;
  /** Folder of the pages of names, of an index of Python's packages. Absent for a place with files only. */
  index?: string;
  /** Sent with each request to the place. */
  credentials?: RegistryCredentials | undefined;
  /** Certificates of authorities in PEM, in place of those of Node. */
  ca?: string | undefined;
}

/** The registries of one kind, and the names that a job may ask them for. Plain data, which the host posts to its network worker. */
export interface PackageRegistry {
  kind: RegistryKind;
  /** Patterns of names, in the form of `checkNamePattern`. */
  names: readonly string[];
  places: readonly RegistryPlace[];
}

/** A rule of a job that gives its program the registries of a kind. */
export function registryRule(kind: RegistryKind): `registry:${RegistryKind}` {
  return `registry:${kind}`;
}
