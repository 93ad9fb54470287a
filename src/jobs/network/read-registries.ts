import type { PackageRegistry, RegistryKind } from '../../egress/packages/package-registry.ts';
import type { NetworkSettings } from './network-settings.ts';

/** The registries of a kind as the host reads them, and the settings by which installers in the sandbox find them. */
export interface ReadRegistry {
  kind: RegistryKind;
  registry: PackageRegistry;
  variables: Record<string, string>;
  npmrc?: string;
}

/**
 * Reads the registries that a job needs.
 *
 * @throws SkillcellError `packages.unavailable`
 */
export async function readRegistries(
  needed: Record<RegistryKind, boolean>,
  { npm, pypi, index }: NetworkSettings['packages'],
): Promise<ReadRegistry[]> {
  const found: ReadRegistry[] = [];
  if (needed.npm) {
    const { readNpmRegistries } = await import('../../egress/packages/npm-registries.ts');
    const { places, npmrc } = readNpmRegistries();
    found.push({ kind: 'npm', registry: { kind: 'npm', names: npm, places }, variables: {}, npmrc });
  }
  if (needed.pypi) {
    const { readPypiIndex } = await import('../../egress/packages/pypi-index.ts');
    const { places, url } = readPypiIndex(index);
    const variables = {
      PIP_INDEX_URL: url,
      PIP_ONLY_BINARY: ':all:',
      PIP_DISABLE_PIP_VERSION_CHECK: '1',
      PIP_NO_INPUT: '1',
    };
    found.push({ kind: 'pypi', registry: { kind: 'pypi', names: pypi, places }, variables });
  }
  return found;
}
