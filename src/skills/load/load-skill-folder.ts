import { basename, join } from 'node:path';
import type { Diagnostic } from '../../contracts/diagnostic.ts';
import type { RootKind, Skill } from '../../contracts/skill.ts';
import { skillDigest } from '../text/digest.ts';
import type { SkillFolder } from './find-skill-folders.ts';
import { placesOf } from '../parse/field-places.ts';
import { publishId } from './publish-id.ts';
import { readManifest } from './read-manifest.ts';
import { displayName, readSkillParts } from './read-skill-parts.ts';

/** The root that a skill folder was found in. */
export interface LoadingRoot {
  kind: RootKind;
  /** Index of the root in the list that is loaded. */
  index: number;
  /** Absolute path, links resolved. */
  path: string;
  /** Name of the folder as it was given; the id of a skill that is the root itself. */
  name: string;
  overrides: ReadonlySet<string>;
  /** `custom_namespaces` of the descriptor; they count for its own root only. */
  customNamespaces: ReadonlySet<string>;
  /** Says why a skill whose bytes were read may not be loaded; without it each may. */
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
  const read = readSkillParts({ folder, skillFile, shown, tryPatterns: true, bytesOf: (path) => texts.get(path) });
  const diagnostics = [...found.diagnostics, ...manifest.diagnostics, ...read.diagnostics];
  const { fields } = read;
  if (fields === undefined) return { diagnostics };
  const { published, diagnostics: ofId } = publishId({
    rootKind: root.kind,
    folder,
    dir,
    namespace: fields.namespace,
    overrides: root.overrides,
    customNamespaces: root.customNamespaces,
    place: { path: `${shown}${skillFile}` },
    namespacePlace: placesOf(fields)?.namespace ?? {},
  });
  diagnostics.push(...ofId);
  if (published === undefined || read.parts === undefined) return { diagnostics };
  const skill: Skill = {
    ...read.parts,
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
    digest: skillDigest(files),
    diagnostics,
  };
  return { skill, diagnostics };
}
