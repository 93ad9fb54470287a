import { basename, join } from 'node:path';
import type { Diagnostic } from '../../contracts/errors/diagnostic.ts';
import type { RootKind, Skill, SkillFile } from '../../contracts/skills/skill.ts';
import { skillDigest } from '../text/digest.ts';
import type { SkillFolder } from './find-skill-folders.ts';
import { placesOf } from '../parse/field-places.ts';
import { publishId } from './publish-id.ts';
import { readManifest } from './read-manifest.ts';
import { displayName, readSkillParts, type SkillPartsReading } from './read-skill-parts.ts';

/** The root that a skill folder was found in. */
export interface LoadingRoot {
  kind: RootKind;
  /** Index of the root in the list that is loaded. */
  index: number;
  /** Absolute path with its links resolved; for a store its id. */
  path: string;
  /** Name of the folder as it was given; it is the id of a skill in the root itself. */
  name: string;
  overrides: ReadonlySet<string>;
  /** `custom_namespaces` of the descriptor; they count for its own root only. */
  customNamespaces: ReadonlySet<string>;
  /** Whether every comment behind a value without quotes is reported; by default only comments that look like a text. */
  everyComment?: boolean;
  /** Returns a diagnostic when a skill whose bytes were read may not be loaded; without it all skills may. */
  admit?: ((skill: Skill) => Diagnostic | undefined) | undefined;
}

/**
 * Loads one skill folder: lists it, takes the digest of every file and reads the text files.
 *
 * @param root where the folder was found
 * @param found the folder
 * @returns the skill, or why it isn't loaded
 */
export function loadSkillFolder(root: LoadingRoot, found: SkillFolder): { skill?: Skill; diagnostics: Diagnostic[] } {
  const { dir, skillFile, listing, place } = found;
  const shown = dir === '.' ? '' : `${dir}/`;
  const manifest = readManifest(place ?? join(root.path, dir), { listing, shown });
  if (manifest.files === undefined) return { diagnostics: [...found.diagnostics, ...manifest.diagnostics] };
  const { files, texts } = manifest;
  const folder = dir === '.' ? root.name : basename(dir);
  const { everyComment } = root;
  const bytesOf = (path: string): Uint8Array | null | undefined => texts.get(path);
  const read = readSkillParts({ folder, skillFile, shown, tryPatterns: true, everyComment, bytesOf });
  const diagnostics = [...found.diagnostics, ...manifest.diagnostics, ...read.diagnostics];
  return skillOfParts(root, { dir, skillFile, place, files, digest: skillDigest(files), ...read, diagnostics });
}

/** Parts of a skill folder that were read, and its place. */
export interface ReadFolder extends SkillPartsReading {
  /** Path below the root, `.` for the root itself. */
  dir: string;
  skillFile: string;
  /** Absolute path of the folder, where it lies apart from the root. */
  place: string | undefined;
  files: SkillFile[];
  digest: string;
}

/**
 * Makes a skill from the parts of a folder. Its id and namespace depend on its root.
 *
 * @returns the skill, or why it isn't one
 */
export function skillOfParts(
  root: LoadingRoot,
  { dir, skillFile, place, files, digest, fields, parts, diagnostics: found }: ReadFolder,
): { skill?: Skill; diagnostics: Diagnostic[] } {
  const diagnostics = [...found];
  if (fields === undefined) return { diagnostics };
  const { published, diagnostics: ofId } = publishId({
    rootKind: root.kind,
    folder: dir === '.' ? root.name : basename(dir),
    dir,
    namespace: fields.namespace,
    overrides: root.overrides,
    customNamespaces: root.customNamespaces,
    place: { path: dir === '.' ? skillFile : `${dir}/${skillFile}` },
    namespacePlace: placesOf(fields)?.namespace ?? {},
  });
  diagnostics.push(...ofId);
  if (published === undefined || parts === undefined) return { diagnostics };
  const skill: Skill = {
    ...parts,
    id: published.id,
    namespace: published.namespace,
    skillId: published.skillId,
    name: displayName(fields, published.skillId),
    rootKind: root.kind,
    root: root.index,
    rootPath: root.path,
    dir,
    ...(place === undefined ? {} : { folder: place }),
    files,
    digest,
    diagnostics,
  };
  return { skill, diagnostics };
}
