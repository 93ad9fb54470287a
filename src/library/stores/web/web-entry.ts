import { ENTRY_CHECKS } from '../../../archives/checks/entry-checks.ts';
import { quotedText } from '../../../contracts/text/quoted-text.ts';
import { SKILL_FILE } from '../../../skills/load/files/skill-file-name.ts';
import { isSlug } from '../../../skills/text/slug.ts';

/** Version of a list of skills. The older one has no digests of files. */
export type WebIndexVersion = '0.2.0' | '0.1.0';

/** A skill that a web site lists. */
export interface WebEntry {
  name: string;
  /** `files`: single files below the url, as in the older version. */
  type: 'skill-md' | 'archive' | 'files';
  /** Absolute. It is checked when it is fetched. */
  url: string;
  /** Digest of the bytes at the url; absent for `files`. */
  digest?: string;
  /** Paths of `files`. */
  paths?: readonly string[];
}

const NAME = /^[a-z0-9]+(?:-[a-z0-9]+)*$/;
const DIGEST = /^sha256:[0-9a-f]{64}$/;

/** Reads an entry, or returns its fault. Unknown fields are ignored. */
export function webEntry(given: unknown, version: WebIndexVersion, base: URL): WebEntry | string {
  if (typeof given !== 'object' || given === null) return 'it is not an object';
  const { name, type, url, digest, files } = given as Record<string, unknown>;
  if (typeof name !== 'string') return 'it has no name';
  if (!NAME.test(name) || !isSlug(name)) return `its name is not a valid skill name, got ${quotedText(name)}`;
  if (version === '0.1.0') return filesEntry(name, files, base);
  if (type !== 'skill-md' && type !== 'archive') return `${name} has an unknown type`;
  if (typeof digest !== 'string' || !DIGEST.test(digest)) return `${name} has no digest sha256:<64 hex>`;
  const target = typeof url === 'string' ? URL.parse(url, base.href) : null;
  return target === null ? `${name} has no usable url` : { name, type, url: target.href, digest };
}

function filesEntry(name: string, files: unknown, base: URL): WebEntry | string {
  if (!Array.isArray(files) || !files.every((path) => typeof path === 'string')) return `${name} has no list of files`;
  if (!files.includes(SKILL_FILE)) return `${name} lists no ${SKILL_FILE}`;
  const listed = files.map((path) => ({ name: path, kind: 'file' as const, bytes: 0, executable: false }));
  for (const [, faultOf] of ENTRY_CHECKS) {
    const fault = faultOf(listed);
    if (fault !== undefined) return `${name} lists ${fault}`;
  }
  return { name, type: 'files', url: new URL(`${name}/`, base).href, paths: files };
}
