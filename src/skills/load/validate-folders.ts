import { realpathSync } from 'node:fs';
import { basename, dirname, join, relative, resolve, sep } from 'node:path';
import { type Diagnostic, diagnostic, type OwnCode } from '../../contracts/errors/diagnostic.ts';
import type { Skill } from '../../contracts/skills/skill.ts';
import { findSkillFolders, type SkillFolder } from './find-skill-folders.ts';
import { firstOfEachId } from './first-of-each-id.ts';
import { loadSkillFolder } from './load-skill-folder.ts';
import { isNamespace } from './publish-id.ts';
import { readManifest } from './read-manifest.ts';
import { SKILL_FILE } from './files/skill-file-name.ts';
import { validateStrict } from '../parse/strict-validate.ts';
import { decodeFaultPlace } from '../text/decode-fault-place.ts';

/** How skills are validated. */
export interface ValidateOptions {
  /** Whether the Agent Skills specification applies instead of the lenient rules. */
  strict?: boolean | undefined;
}

/** Findings of one skill folder. */
export interface ValidatedSkill {
  /** The folder: the given path joined with the path of the folder below it. */
  path: string;
  /** Whether nothing of severity `error` was found. */
  valid: boolean;
  /** Full id, or null when the folder makes no skill. The namespace is the one that the skill or its folder claims, else `custom`. */
  id: string | null;
  diagnostics: Diagnostic[];
}

/**
 * Validates a skill folder, or every skill folder below a folder, by options that are known to be well-formed.
 *
 * @param path a skill folder or a root
 * @param options the rules to apply
 * @returns one row a skill folder; one row with `skill.missing` when there is no skill folder
 */
export function validateFolders(path: string, options: ValidateOptions = {}): ValidatedSkill[] {
  let root: string;
  try {
    root = realpathSync.native(resolve(path));
  } catch (cause) {
    // A missing path is a finding, not an error.
    return [row(path, null, [diagnostic('skill.missing', `Cannot read the folder: ${(cause as Error).message}.`)])];
  }
  const { folders, diagnostics } = findSkillFolders(root);
  if (folders.length === 0) {
    const missing = diagnostic('skill.missing', `The folder holds no ${SKILL_FILE}.`, { path: SKILL_FILE });
    return [row(path, null, [...diagnostics, missing])];
  }
  const name = basename(resolve(path));
  const found = folders.map((folder) => validateFolder({ root, name, path, folder, strict: options.strict ?? false }));
  const ids = new Map(found.flatMap(({ skill, id }) => (skill === undefined ? [] : [[skill, id ?? skill.id]])));
  const { duplicates, copies } = firstOfEachId([...ids.keys()], (skill) => ids.get(skill) ?? skill.id);
  const rows = found.map(({ skill, ...ofFolder }) => {
    const duplicate = skill === undefined ? undefined : duplicates.get(skill);
    return duplicate === undefined ? ofFolder : row(ofFolder.path, ofFolder.id, [...ofFolder.diagnostics, duplicate]);
  });
  const ofRoot = [...diagnostics, ...copies];
  if (ofRoot.length > 0) rows.push(row(path, null, ofRoot));
  return rows;
}

interface FolderToValidate {
  root: string;
  name: string;
  path: string;
  folder: SkillFolder;
  strict: boolean;
}

/** Loads a folder with the rights of the built-in root, so that duplicate ids are found as in a built-in root. */
function validateFolder({ root, name, path, folder, strict }: FolderToValidate): ValidatedSkill & { skill?: Skill } {
  const loading = { kind: 'builtin' as const, index: 0, path: root, name, everyComment: true };
  const { skill, diagnostics } = loadSkillFolder({ ...loading, overrides: NOTHING, customNamespaces: NOTHING }, folder);
  const shown = folder.dir === '.' ? path : join(path, folder.dir);
  const found = strict
    ? [
        ...diagnostics.filter(({ code }) => ABOUT_FILES.has(code)),
        ...validateFile(join(root, folder.dir), folder.dir === '.' ? name : basename(folder.dir), folder),
      ]
    : diagnostics;
  const placed = withBytePlaces(found, root, folder);
  if (skill === undefined) return row(shown, null, placed);
  return { ...row(shown, ownId(skill, liesInNamespace(join(root, folder.dir), root)), placed), skill };
}

/** Warnings about files and YAML; they hold for both sets of rules. */
const ABOUT_FILES: ReadonlySet<string> = new Set<OwnCode>([
  'skill.nested',
  'skill.link',
  'skill.path',
  'frontmatter.comment',
  'tools.comment',
  'sources.comment',
]);

const NOTHING: ReadonlySet<string> = new Set();

/** Id of a skill outside of the built-in root. A claimed namespace stays, because only a descriptor can grant or refuse it. */
function ownId({ id, skillId, fields }: Skill, inNamespace: boolean): string {
  return inNamespace || isNamespace(fields.namespace ?? '') ? id : `custom.${skillId}`;
}

/** Whether a skill lies in a folder `public` or `internal`, like the skills of a built-in root. */
function liesInNamespace(folder: string, root: string): boolean {
  const above = dirname(folder);
  const names = [basename(above), ...relative(root, above).split(sep)];
  return names.some((name) => name === 'public' || name === 'internal');
}

/** Codes for a file that is not text. Loading reports no position for them; only the author of the file needs it. */
const NO_TEXT: ReadonlySet<string> = new Set(['skill.encoding', 'compact.invalid', 'tools.invalid', 'sources.invalid']);

function withBytePlaces(found: Diagnostic[], root: string, { dir, listing }: SkillFolder): Diagnostic[] {
  const isPlaceless = ({ code, line }: Diagnostic): boolean => line === undefined && NO_TEXT.has(code);
  if (!found.some(isPlaceless)) return found;
  const manifest = readManifest(join(root, dir), { listing });
  if (manifest.files === undefined) return found;
  return found.map((each) => {
    const bytes = isPlaceless(each) ? manifest.texts.get(basename(each.path ?? '')) : undefined;
    const place = bytes ? decodeFaultPlace(bytes) : undefined;
    return place === undefined ? each : { ...each, ...place };
  });
}

function validateFile(folder: string, name: string, { skillFile, listing }: SkillFolder): Diagnostic[] {
  const manifest = readManifest(folder, { listing });
  if (manifest.files === undefined) return manifest.diagnostics;
  const bytes = manifest.texts.get(skillFile);
  if (bytes === null) return [diagnostic('skill.too-large', 'The file is over 1 MiB.', { path: skillFile })];
  return validateStrict(name, bytes ?? null, skillFile);
}

function row(path: string, id: string | null, diagnostics: Diagnostic[]): ValidatedSkill {
  return { path, valid: diagnostics.every(({ severity }) => severity !== 'error'), id, diagnostics };
}
