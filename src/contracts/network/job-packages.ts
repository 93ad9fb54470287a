/** Packages that are installed before a program: names, each with a version, a range or a tag. */
export interface JobPackages {
  /** Such as `is-odd@3` or `@acme/tool@^1.2`. */
  npm?: string[];
  /** Such as `tinypkg==1.0` or `tinypkg[extra]>=1,<2`. */
  pypi?: string[];
}

/** An installed package, as the sandbox reports it. */
export interface InstalledPackage {
  registry: 'npm' | 'pypi';
  name: string;
  version: string;
  /** Digest of its archive: `sha512-` and base64 for npm, `sha256:` and hex digits for Python. Empty if the installer knows none. */
  digest: string;
}

/** Most packages of each registry that a job may name. */
export const MOST_PACKAGES = 100;
