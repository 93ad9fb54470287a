import { realpathSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import type { Diagnostic } from '../contracts/diagnostic.ts';
import { diagnostic } from './diagnostic-codes.ts';
import { findSkillFolders, type SkillFolder } from './find-skill-folders.ts';
import { loadSkillFolder } from './load-skill-folder.ts';
import { readManifest } from './read-manifest.ts';
import { SKILL_FILE } from './skill-file-name.ts';
import { validateStrict } from './strict-validate.ts';

/** How skills are validated. */
export interface ValidateOptions {
  /** By the Agent Skills specification instead of leniently. */
  strict?: boolean | undefined;
}

/** What was found of one skill folder. */
export interface ValidatedSkill {
  /** The folder, below the path that was given. */
  path: string;
  /** Whether nothing of severity `error` was found. */
  valid: boolean;
  /** Full id under the built-in root; null when the skill isn't loaded. */
  id: string | null;
  diagnostics: Diagnostic[];
}

/**
 * Validates a skill folder, or every skill folder below a folder.
 *
 * @param path a skill folder or a root
 * @param options which rules
 * @returns one row a skill folder; one row with `skill.missing` where there is none
 */
export function validateSkills(path: string, options: ValidateOptions = {}): ValidatedSkill[] {
  let root: string;
  try {
    root = realpathSync.native(resolve(path));
  } catch (cause) {
    // A path that isn't there is a finding like any other.
    return [row(path, null, [diagnostic('skill.missing', `Cannot read the folder: ${(cause as Error).message}.`)])];
  }
  const { folders, diagnostics } = findSkillFolders(root);
  if (folders.length === 0) {
    const missing = diagnostic('skill.missing', `The folder holds no ${SKILL_FILE}.`, { path: SKILL_FILE });
    return [row(path, null, [...diagnostics, missing])];
  }
  const name = basename(resolve(path));
  const rows = folders.map((folder) => validateFolder({ root, name, path, folder, strict: options.strict ?? false }));
  if (diagnostics.length > 0) rows.push(row(path, null, diagnostics));
  return rows;
}

interface FolderToValidate {
  root: string;
  name: string;
  path: string;
  folder: SkillFolder;
  strict: boolean;
}

function validateFolder({ root, name, path, folder, strict }: FolderToValidate): ValidatedSkill {
  const loading = { kind: 'builtin' as const, index: 0, path: root, name, overrides: new Set<string>() };
  const { skill, diagnostics } = loadSkillFolder(loading, folder);
  const shown = folder.dir === '.' ? path : join(path, folder.dir);
  if (!strict) return row(shown, skill?.id ?? null, diagnostics);
  const found = validateFile(join(root, folder.dir), folder.dir === '.' ? name : basename(folder.dir), folder);
  return row(shown, skill?.id ?? null, found);
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
