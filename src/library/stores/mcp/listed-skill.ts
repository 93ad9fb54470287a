import type { Skill as SkillEntry } from '@modelcontextprotocol/client/ext/skills';
import { ENTRY_CHECKS } from '../../../archives/checks/entry-checks.ts';
import { nameFault } from '../../../archives/checks/name-fault.ts';
import { quotedText } from '../../../contracts/text/quoted-text.ts';
import type { SkillFile } from '../../../contracts/skills/skill.ts';
import { SKILL_FILE } from '../../../skills/load/files/skill-file-name.ts';
import { canonicalJson } from '../../../skills/text/canonical-json.ts';
import { TEXT_FILE_LIMIT } from '../../../skills/text/decode-text.ts';
import { digestOf } from '../../../skills/text/digest.ts';
import { compareCodePoints } from '../../../skills/text/text.ts';

/** A skill that a server lists with all of its files. */
export interface ListedSkill {
  /** URI of its SKILL.md. Together with the server, it identifies the skill. */
  uri: string;
  /** Path in the store. */
  path: string;
  /** Digest of everything that is listed about its files. */
  revision: string;
  /** In code-point order. No file of a server is executable. */
  files: SkillFile[];
  entry: SkillEntry;
}

/** Limits that every host has to accept by the extension. Hosts may refuse more. */
const MAX_FILES = 512;
const MAX_BYTES = 16 * 1024 * 1024;
const SKILL_URI = /^([a-z][a-z0-9+.-]{0,30}):\/\/(.{1,1000})\/SKILL\.md$/i;

/** Reads an entry that the SDK has validated, or returns the reason why it is left out. */
export function listedSkill(entry: SkillEntry): ListedSkill | string {
  const { uri, resources } = entry;
  const shown = quotedText(uri);
  const [, scheme = '', place = ''] = SKILL_URI.exec(uri) ?? [];
  const path = decoded(scheme.toLowerCase() === 'skill' ? place : `${scheme}/${place}`);
  const fault = path === undefined ? 'not UTF-8' : nameFault(path);
  if (path === undefined || fault !== undefined) return `the uri of ${shown} makes no path: ${fault}`;
  if (!Array.isArray(resources)) return `${shown} has no list of its files with their digests`;
  if (resources.length > MAX_FILES) return `${shown} has more than ${MAX_FILES} files`;
  if (resources.reduce((sum, { size }) => sum + size, 0) > MAX_BYTES)
    return `${shown} has more than ${MAX_BYTES} bytes`;

  const root = uri.slice(0, -SKILL_FILE.length);
  const files: SkillFile[] = [];
  for (const resource of resources) {
    const file = resource.uri.startsWith(root) ? decoded(resource.uri.slice(root.length)) : undefined;
    if (file === undefined) return `${shown} lists a file that is not below it, got ${quotedText(resource.uri)}`;
    files.push({ path: file, digest: resource.digest, bytes: resource.size, executable: false });
  }
  const listed = files.map((file) => ({
    name: file.path,
    kind: 'file' as const,
    bytes: file.bytes,
    executable: false,
  }));
  for (const [, faultOf] of ENTRY_CHECKS.filter(([check]) => check !== 'entries')) {
    const found = faultOf(listed);
    if (found !== undefined) return `${shown} lists ${found}`;
  }
  const skillFile = files.find((file) => file.path === SKILL_FILE);
  if (skillFile === undefined) return `${shown} lists no ${SKILL_FILE}`;
  if (skillFile.bytes > TEXT_FILE_LIMIT) return `${shown} has a ${SKILL_FILE} of more than ${TEXT_FILE_LIMIT} bytes`;
  files.sort((a, b) => compareCodePoints(a.path, b.path));
  const revision = digestOf(canonicalJson({ uri, files: files.map((file) => [file.path, file.digest, file.bytes]) }));
  return { uri, path, revision, files, entry };
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    // Percent-encoded bytes that are not UTF-8.
    return undefined;
  }
}
