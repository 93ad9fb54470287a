import type { DenialReason } from '../../contracts/network/denial-reasons.ts';
import type { NetworkRequest } from '../rules/judge-request.ts';
import { targetAmbiguity } from '../rules/target-ambiguity.ts';
import { isPackageName, matchesName, normalName, scopeOf } from './package-names.ts';
import { type PackageRegistry, registryRule, type RegistryPlace } from './package-registry.ts';

/** A request to a registry: it is passed on, or denied for a reason and the thing that the reason is about. */
export type PackageVerdict = { place: RegistryPlace; rule: string } | { reason: DenialReason; what: string };

/** npm writes a name with a scope as one segment, in which the slash is encoded. */
const ENCODED_SLASH = /^(@[^/%]+)%2f/i;
/** A local version of Python (PEP 440) has a plus, which pages of an index encode. */
const ENCODED_PLUS = /%2b/gi;
/** `NAME-VERSION[-BUILD]-PYTHON-ABI-PLATFORM.whl`, or the metadata of that file (PEP 427 and 658). */
const WHEEL =
  /^([A-Za-z0-9._]+)-[A-Za-z0-9._+!]+(?:-[0-9][A-Za-z0-9._]*)?-[A-Za-z0-9._]+-[A-Za-z0-9._]+-[A-Za-z0-9._]+\.whl(?:\.metadata)?$/;
const METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD']);

/**
 * Judges a request to a registry: only reading, and only paths that belong to one package, whose name a pattern must match. So the patterns
 * hold for dependencies as well, and for a client that names no package on its command line.
 *
 * @param hasBody whether the request has a body
 * @returns undefined for a request to another place
 */
export function judgePackageRequest(
  registries: readonly PackageRegistry[],
  request: NetworkRequest,
  hasBody: boolean,
): PackageVerdict | undefined {
  const found = placeOf(registries, request);
  if (found === undefined) return undefined;
  const { registry, place } = found;
  const { method, host, path } = request;
  if (!METHODS.has(method) || hasBody)
    return { reason: 'method-not-allowed', what: `${method}${hasBody ? ' with a body' : ''} ${host}` };
  const rest = path.slice(place.path.length).replace(ENCODED_SLASH, '$1/').replaceAll(ENCODED_PLUS, '+');
  // A package is read without a query.
  const isPlain = !path.includes('?') && targetAmbiguity(place.path + rest) === undefined && !rest.includes('%');
  const name = isPlain ? NAMES[registry.kind](rest, place) : undefined;
  if (name === undefined) return { reason: 'path-not-allowed', what: `${host}${path.split('?', 1)[0]}` };
  const isOurs = registry.kind === 'pypi' || isAskedAt(place, registry, name);
  const isAllowed = isOurs && registry.names.some((pattern) => matchesName(registry.kind, pattern, name));
  return isAllowed
    ? { place, rule: registryRule(registry.kind) }
    : { reason: 'package-not-allowed', what: `${name} at ${host}` };
}

/** The place with the longest path: one registry may lie below another. */
function placeOf(
  registries: readonly PackageRegistry[],
  { scheme, host, port, path }: NetworkRequest,
): { registry: PackageRegistry; place: RegistryPlace } | undefined {
  return registries
    .flatMap((registry) => registry.places.map((place) => ({ registry, place })))
    .filter(({ place }) => place.scheme === scheme && place.host === host && place.port === port)
    .filter(({ place }) => path.startsWith(place.path))
    .toSorted((a, b) => b.place.path.length - a.place.path.length)[0];
}

/** A scope with a registry of its own is asked nowhere else, and that registry is asked for nothing else unless it is the default. */
function isAskedAt(place: RegistryPlace, { places }: PackageRegistry, name: string): boolean {
  const scope = scopeOf(name);
  const owner = places.find(({ scopes }) => scope !== undefined && scopes.includes(scope));
  return owner === undefined ? place.isDefault : owner === place;
}

/** Reads the name of the package out of a path below a place. */
const NAMES: Record<PackageRegistry['kind'], (rest: string, place: RegistryPlace) => string | undefined> = {
  npm: npmName,
  pypi: pypiName,
};

/** `NAME`, `NAME/VERSION`, `NAME/-/FILE.tgz`, and GitHub's `download/NAME/VERSION/DIGEST`. */
function npmName(rest: string): string | undefined {
  const segments = rest.split('/');
  const isDownload = segments[0] === 'download' && segments.length === 5;
  const from = isDownload ? 1 : 0;
  const to = from + (segments[from]?.startsWith('@') === true ? 2 : 1);
  const name = segments.slice(from, to).join('/');
  const more = segments.slice(to);
  if (!isPackageName('npm', name)) return undefined;
  if (isDownload || more.length === 0 || (more.length === 1 && more[0] !== '' && more[0] !== '-')) return name;
  const file = more.at(-1) ?? '';
  const isTarball = more[0] === '-' && (more.length === 2 || (more.length === 3 && more[1] === scopeOf(name)));
  const base = name.slice(name.indexOf('/') + 1);
  return isTarball && file.startsWith(`${base}-`) && file.endsWith('.tgz') ? name : undefined;
}

/** `NAME/` below the index, and files that are wheels anywhere else: a source archive would run its own code when it is installed. */
function pypiName(rest: string, { path, index }: RegistryPlace): string | undefined {
  const below =
    index === undefined ? undefined : (path + rest).startsWith(index) ? (path + rest).slice(index.length) : undefined;
  const name = below?.replace(/\/$/, '');
  if (name !== undefined && !name.includes('/') && !WHEEL.test(name))
    return isPackageName('pypi', name) ? normalName('pypi', name) : undefined;
  const file = WHEEL.exec(rest.slice(rest.lastIndexOf('/') + 1))?.[1];
  return file !== undefined && isPackageName('pypi', file) ? normalName('pypi', file) : undefined;
}
