import { validRange } from 'semver';
import { SkillcellError } from '../../contracts/errors/skillcell-error.ts';
import { quotedText } from '../../contracts/text/quoted-text.ts';
import { isPackageName } from './package-names.ts';
import type { RegistryKind } from './package-registry.ts';

const LONGEST = 300;
const TAG = /^[A-Za-z][A-Za-z0-9._-]*$/;
const FILE = /\.(?:tgz|tar|tar\.gz|zip|whl|tar\.bz2|tar\.xz)$/i;
const REQUIREMENT = /^([A-Za-z0-9._-]+)(\[[A-Za-z0-9._, -]*\])?(.*)$/;
const CLAUSE = /^(?:===|==|~=|!=|<=|>=|<|>)v?[0-9][A-Za-z0-9.!+_-]*(?:\.\*)?$/;

/**
 * Checks a package that a job asks for: a name, and perhaps a version, a range or a tag. Nothing else reaches an installer, which would take
 * it for an option, a path, a URL or a repository.
 *
 * @returns the text for the command line
 * @throws SkillcellError `packages.refused`
 */
export function parsePackageSpec(kind: RegistryKind, given: string): string {
  const fault = given.length > LONGEST ? `it has more than ${LONGEST} characters` : FAULTS[kind](given);
  if (fault === undefined) return kind === 'pypi' ? given.replaceAll(' ', '') : given;
  const message = `Cannot install the package of ${kind}: ${fault}, got ${quotedText(given)}.`;
  throw new SkillcellError('packages.refused', message);
}

const FAULTS: Record<RegistryKind, (given: string) => string | undefined> = { npm: npmFault, pypi: pypiFault };

function npmFault(given: string): string | undefined {
  const at = given.indexOf('@', 1);
  const name = at < 0 ? given : given.slice(0, at);
  if (!isPackageName('npm', name)) return nameFault(given);
  if (at < 0) return undefined;
  const version = given.slice(at + 1);
  const isTag = TAG.test(version) && !FILE.test(version);
  // An empty range and one of blanks stand for all versions.
  const isRange = version.trim() !== '' && validRange(version) !== null;
  return isTag || isRange ? undefined : 'behind the name stands no version, range or tag';
}

function pypiFault(given: string): string | undefined {
  const [, name = '', , rest = ''] = REQUIREMENT.exec(given) ?? [];
  if (!isPackageName('pypi', name) || FILE.test(given)) return nameFault(given);
  const clauses = rest.replaceAll(' ', '');
  if (clauses === '' || clauses.split(',').every((clause) => CLAUSE.test(clause))) return undefined;
  return 'behind the name stand no versions such as `==1.0` or `>=1,<2`';
}

function nameFault(given: string): string {
  if (given.startsWith('-')) return 'options are not passed on';
  if (/^(?:git|ssh|https?|file|github|gitlab|bitbucket|gist|npm|link|workspace)[+:]/i.test(given))
    return 'only names are installed, no URLs and no repositories';
  return /[/\\]|^[.~]/.test(given) && !given.startsWith('@')
    ? 'only names are installed, no paths and no repositories'
    : 'it does not begin with a name that a registry can have';
}
