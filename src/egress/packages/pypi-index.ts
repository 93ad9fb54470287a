import type { RegistryPlace } from './package-registry.ts';
import { readRegistryUrl } from './registry-place.ts';

const DEFAULT_INDEX = 'https://pypi.org/simple/';
/** The files of pypi.org lie elsewhere. */
const PYPI_HOST = 'pypi.org';
const PYPI_FILES = { host: 'files.pythonhosted.org', path: '/packages/' };

/** The index of Python's packages. */
export interface PypiIndex {
  places: RegistryPlace[];
  /** Its URL without credentials. */
  url: string;
}

/**
 * Reads the index of Python's packages. Its files may lie anywhere beside its pages.
 *
 * @param given option of the orchestrator
 * @param variable value of PIP_INDEX_URL
 * @throws SkillcellError `packages.unavailable`
 */
export function readPypiIndex(
  given: string | undefined,
  variable: string | undefined = process.env['PIP_INDEX_URL'],
): PypiIndex {
  const named = variable === undefined || variable === '' ? undefined : variable;
  const { place, url } = readRegistryUrl('pypi', given ?? named ?? DEFAULT_INDEX);
  const { path: index } = place;
  const path = index.slice(0, index.lastIndexOf('/', index.length - 2) + 1) || '/';
  const own: RegistryPlace = { ...place, path, index, scopes: [], isDefault: true };
  if (place.host !== PYPI_HOST) return { places: [own], url };
  const files: RegistryPlace = { scheme: 'https', ...PYPI_FILES, port: 443, scopes: [], isDefault: true };
  return { places: [own, files], url };
}
