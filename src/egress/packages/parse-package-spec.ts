import { SkillcellError } from '../../contracts/errors/skillcell-error.ts';
import { quotedText } from '../../contracts/text/quoted-text.ts';
import { loadSemver } from '../../skills/text/load-semver.ts';
import { isArchiveName, isPackageName } from './package-names.ts';
import type { RegistryKind } from './package-registry.ts';

const LONGEST = 300;
const TAG = /^[A-Za-z][A-Za-z0-9._-]*$/;
const NAME = /^[A-Za-z0-9._-]+/;
const EXTRA = /^[A-Za-z0-9][A-Za-z0-9._-]*$/;
const OPERATOR = /^(?:===|==|~=|!=|<=|>=|<|>)/;
const VERSION = /^v?[0-9][A-Za-z0-9.!+_-]*(?:\.\*)?$/;

/**
 * Checks a package that a job asks for: a name, and perhaps a version, a range or a tag. Nothing else reaches an installer, which would take
 * it for an option, a path, a URL or a repository.
 *
 * @returns the text for the command line
 * @throws SkillcellError `packages.refused`
 */
export function parsePackageSpec(kind: RegistryKind, given: string): string {
  const isLong = given.length > LONGEST;
  const read = isLong ? { fault: `it has more than ${LONGEST} characters` } : READERS[kind](given);
  if ('spec' in read) return read.spec;
  const message = `Cannot install the package of ${kind}: ${read.fault}, got ${quotedText(given)}.`;
  throw new SkillcellError('packages.refused', message);
}

type ReadSpec = { spec: string } | { fault: string };

const READERS: Record<RegistryKind, (given: string) => ReadSpec> = { npm: readNpm, pypi: readPypi };

function readNpm(given: string): ReadSpec {
  const at = given.indexOf('@', 1);
  const name = at < 0 ? given : given.slice(0, at);
  if (!isPackageName('npm', name)) return { fault: nameFault(given) };
  if (at < 0) return { spec: given };
  const version = given.slice(at + 1);
  const isTag = TAG.test(version) && !isArchiveName(version);
  // An empty range and one of blanks stand for all versions.
  const isRange = version.trim() !== '' && loadSemver().validRange(version) !== null;
  return isTag || isRange ? { spec: given } : { fault: 'behind the name stands no version, range or tag' };
}

/** A name, extras in brackets, and versions (PEP 508), without a URL and without markers. */
function readPypi(given: string): ReadSpec {
  const name = NAME.exec(given)?.[0] ?? '';
  if (!isPackageName('pypi', name) || isArchiveName(given)) return { fault: nameFault(given) };
  const rest = given.slice(name.length).trim();
  const end = rest.startsWith('[') ? rest.indexOf(']') : -1;
  const extras = end < 0 ? [] : partsOf(rest.slice(1, end));
  const clauses = partsOf(rest.slice(end + 1)).map((clause) => {
    const operator = OPERATOR.exec(clause)?.[0] ?? '';
    return { operator, version: clause.slice(operator.length).trim() };
  });
  const isSound =
    extras.every((extra) => EXTRA.test(extra)) &&
    clauses.every(({ operator, version }) => operator !== '' && VERSION.test(version));
  if (!isSound) return { fault: 'behind the name stand no versions such as `==1.0` or `>=1,<2`' };
  const versions = clauses.map(({ operator, version }) => operator + version).join(',');
  return { spec: `${name}${extras.length === 0 ? '' : `[${extras.join(',')}]`}${versions}` };
}

function partsOf(text: string): string[] {
  return text.trim() === '' ? [] : text.split(',').map((part) => part.trim());
}

function nameFault(given: string): string {
  if (given.startsWith('-')) return 'options are not passed on';
  if (/^(?:git|ssh|https?|file|github|gitlab|bitbucket|gist|npm|link|workspace)[+:]/i.test(given))
    return 'only names are installed, no URLs and no repositories';
  return /[/\\]|^[.~]/.test(given) && !given.startsWith('@')
    ? 'only names are installed, no paths and no repositories'
    : 'it does not begin with a name that a registry can have';
}
