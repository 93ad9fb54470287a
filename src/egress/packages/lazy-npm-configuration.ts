import { createRequire } from 'node:module';
import type registryAuthToken from 'registry-auth-token';

const require = createRequire(import.meta.url);

/** The part of the package's interface that is used. */
interface NpmConfiguration {
  config: {
    /** All settings, those of higher levels first. */
    readonly snapshot: Record<string, unknown>;
  };
  /** Files that could not be read. */
  warnings: string[];
}

/** Reads npm's configuration of this process: its variables, and the files of the project, the user and the machine. */
export function loadNpmConfiguration(): () => NpmConfiguration {
  return require('@pnpm/npm-conf') as () => NpmConfiguration;
}

/** Finds the credentials of a registry in npm's configuration. */
export function loadRegistryAuthToken(): typeof registryAuthToken {
  return require('registry-auth-token') as typeof registryAuthToken;
}
