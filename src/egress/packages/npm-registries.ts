import { readFileSync } from 'node:fs';
import { quotedText } from '../../contracts/text/quoted-text.ts';
import { loadNpmConfiguration, loadRegistryAuthToken } from './lazy-npm-configuration.ts';
import type { RegistryPlace } from './package-registry.ts';
import { registryCredentials } from './registry-credentials.ts';
import { readRegistryUrl, requireCredentials, unavailable } from './registry-place.ts';

/** The registries of npm's configuration. */
export interface NpmRegistries {
  places: RegistryPlace[];
  /** The configuration for the sandbox, without credentials. */
  npmrc: string;
}

const DEFAULT_REGISTRY = 'https://registry.npmjs.org/';
const SCOPE_SETTING = /^(@[A-Za-z0-9][A-Za-z0-9._-]*):registry$/;
const DAY_MS = 86_400_000;

/** Settings of the sandbox's npm. */
const OWN_SETTINGS = ['audit=false', 'fund=false', 'update-notifier=false', 'ignore-scripts=true'];

/**
 * Reads the registries of this host's own npm configuration: its variables, and the `.npmrc` of the project, the user and the machine. Later
 * changes count for later jobs.
 *
 * @throws SkillcellError `packages.unavailable` if a file of it cannot be read: a scope without its registry would be asked elsewhere
 */
export function readNpmRegistries(now: number = Date.now()): NpmRegistries {
  const settings = readSettings();
  const ca = readAuthorities(settings);
  const places = new Map<string, RegistryPlace>();
  const placeAt = (url: string): RegistryPlace => {
    const { place, url: shown } = readRegistryUrl('npm', url);
    const known = places.get(shown) ?? {
      ...place,
      ...{ scopes: [], isDefault: false, ca },
      credentials: place.credentials ?? credentialsOf(shown, settings),
    };
    places.set(shown, known);
    return known;
  };
  const lines = [...OWN_SETTINGS];
  const main = textOf(settings['registry']) ?? DEFAULT_REGISTRY;
  placeAt(main).isDefault = true;
  lines.push(`registry=${readRegistryUrl('npm', main).url}`);
  for (const [name, value] of Object.entries(settings)) {
    const scope = SCOPE_SETTING.exec(name)?.[1];
    const url = textOf(value);
    if (scope === undefined || url === undefined) continue;
    const place = placeAt(url);
    place.scopes = [...place.scopes, scope];
    lines.push(`${scope}:registry=${readRegistryUrl('npm', url).url}`);
  }
  const before = oldest(settings, now);
  if (before !== undefined) lines.push(`before=${before}`);
  return { places: [...places.values()], npmrc: `${lines.join('\n')}\n` };
}

function readSettings(): Record<string, unknown> {
  let read: ReturnType<ReturnType<typeof loadNpmConfiguration>>;
  try {
    read = loadNpmConfiguration()();
  } catch {
    // The message may hold the value of a setting.
    throw unavailable('npm', 'the configuration of npm cannot be read');
  }
  const [warning] = read.warnings;
  if (warning === undefined) return read.config.snapshot;
  const [begun = '', file = 'a file'] = /^Issue while reading "([^"]*)"/.exec(warning) ?? [];
  const [, variable] = /^\. Failed to replace env in config: \$\{([^}]*)\}/.exec(warning.slice(begun.length)) ?? [];
  const reason = variable === undefined ? 'cannot be read' : `names the variable ${variable}, which is not set`;
  throw unavailable('npm', `a file of its configuration ${reason}, got ${quotedText(file)}`);
}

/** Credentials belong to a registry only if its URL names them; a token for all registries would go to each of them. */
function credentialsOf(url: string, settings: Record<string, unknown>): RegistryPlace['credentials'] {
  if (!url.startsWith('https:')) return undefined;
  const { _auth: _all, ...named } = settings as Record<string, string>;
  const found = loadRegistryAuthToken()(url, { recursive: true, npmrc: named });
  if (found === undefined) return undefined;
  const password = found.password ?? (found.type === 'Basic' ? passwordIn(found.token) : undefined);
  return requireCredentials('npm', registryCredentials('npm', found.type, found.token, password), url);
}

/** The password of an encoded `user:password`. */
function passwordIn(token: string): string | undefined {
  const text = Buffer.from(token, 'base64').toString();
  const at = text.indexOf(':');
  return at < 0 ? undefined : text.slice(at + 1);
}

/** The authorities that replace those of Node, as for npm. */
function readAuthorities(settings: Record<string, unknown>): string | undefined {
  const file = textOf(settings['cafile']);
  if (file !== undefined) {
    try {
      return readFileSync(file, 'utf8');
    } catch {
      throw unavailable('npm', `the file of its setting cafile cannot be read, got ${quotedText(file)}`);
    }
  }
  const { ca } = settings;
  const listed = Array.isArray(ca) ? ca.filter((one) => typeof one === 'string') : [textOf(ca)];
  const texts = listed.filter((one) => one !== undefined && one !== '');
  return texts.length === 0 ? undefined : texts.join('\n').replaceAll('\\n', '\n');
}

/** The setting `before`, or the date that `min-release-age` in days gives: older npm knows only the former. */
function oldest(settings: Record<string, unknown>, now: number): string | undefined {
  const days = Number(settings['min-release-age'] ?? Number.NaN);
  const age = Number.isFinite(days) && days > 0 ? now - days * DAY_MS : Number.NaN;
  const given = settings['before'];
  const before = given instanceof Date ? given.getTime() : Date.parse(textOf(given) ?? '');
  const dates = [age, before].filter((date) => !Number.isNaN(date));
  return dates.length === 0 ? undefined : new Date(Math.min(...dates)).toISOString();
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}
