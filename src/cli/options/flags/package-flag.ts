import type { JobPackages } from '../../../contracts/network/job-packages.ts';
import type { PackageOptions } from '../../../contracts/network/network-options.ts';
import { usageError } from '../../terminal/usage-error.ts';

/** The packages that flags name: for the job, and for the operator's side. */
export interface CliPackages {
  job: { packages?: JobPackages };
  /** Names that may be read: the dependencies of a package are not known beforehand, so all names of its registry. */
  allowed: PackageOptions;
}

const FORM = /^(npm|pypi):(.+)$/s;

/**
 * Reads `--package npm:SPEC` and `--package pypi:SPEC`. The specs are checked with the job.
 *
 * @throws SkillcellError `usage.invalid`
 */
export function packagesFromFlags(values: readonly string[]): CliPackages {
  const packages: JobPackages = {};
  for (const value of values) {
    const [, registry, spec] = FORM.exec(value) ?? [];
    if (spec === undefined || (registry !== 'npm' && registry !== 'pypi'))
      throw usageError(
        '--package',
        'it must be npm:NAME or pypi:NAME, perhaps with a version',
        value,
        'For example: `--package npm:is-odd@3`.',
      );
    packages[registry] = [...(packages[registry] ?? []), spec];
  }
  const allowed = Object.fromEntries(Object.keys(packages).map((registry) => [registry, ['*']]));
  return { job: values.length === 0 ? {} : { packages }, allowed };
}
