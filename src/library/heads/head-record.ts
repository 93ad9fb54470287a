import { basename } from 'node:path';
import type { Diagnostic } from '../../contracts/errors/diagnostic.ts';
import type { SkillFile } from '../../contracts/skills/skill.ts';
import type { SkillHead, SkillStore, StoreItem } from '../../contracts/skills/store.ts';
import { readSkillParts, TOOLS_FILE, type SkillPartsReading } from '../../skills/load/read-skill-parts.ts';
import { skillDigest } from '../../skills/text/digest.ts';
import { sourceName } from '../source-name.ts';

/** Texts of a skill by path; null for a file that is too large to be read as text. */
export type HeadTexts = ReadonlyMap<string, Uint8Array | null>;

/** Everything known about a skill of a store at one revision. */
export interface HeadRecord {
  item: StoreItem;
  skillFile: string;
  /** Every file with its digest; undefined where the digests are unknown, as then is the skill's. */
  files: readonly SkillFile[] | undefined;
  digest: string | undefined;
  names: SkillHead['names'];
  /** Result of reading its texts. Only a `complete` record includes compact.md and sources.yaml. */
  reading: SkillPartsReading;
  complete: boolean;
  /** Whether the texts come from a list, so that nothing in them has a place in a file. */
  listed?: boolean | undefined;
  /** For a listed record: the largest possible size of the body in bytes. */
  bodyBytes?: number;
}

/** Source of a record; it is kept between processes. */
export interface HeadParts extends Pick<HeadRecord, 'item' | 'skillFile' | 'files' | 'names' | 'complete' | 'listed'> {
  texts: HeadTexts;
}

/** The parts of a head. */
export function headParts({ item, names, skillFile, tools, whole, listed }: SkillHead): HeadParts {
  const texts =
    whole?.texts ??
    new Map([[skillFile.path, skillFile.bytes], ...(tools === undefined ? [] : ([[TOOLS_FILE, tools]] as const))]);
  return { item, skillFile: skillFile.path, files: whole?.files, names, texts, complete: whole !== undefined, listed };
}

/** Reads the texts of a head. */
export function readHead(store: SkillStore, { texts, ...parts }: HeadParts): HeadRecord {
  const { item, files } = parts;
  const reading = readSkillParts({
    folder: item.path === '.' ? rootName(store, item) : basename(item.path),
    skillFile: parts.skillFile,
    shown: item.path === '.' ? '' : `${item.path}/`,
    tryPatterns: true,
    bytesOf: (path) => texts.get(path),
  });
  const record = { ...parts, digest: files && skillDigest(files), reading };
  if (parts.listed !== true) return record;
  const { bytes = 0 } = parts.names.find(({ path }) => path === parts.skillFile) ?? {};
  const bodyBytes = Math.max(0, bytes - (texts.get(parts.skillFile)?.length ?? 0));
  return { ...record, reading: withoutPlaces(reading), bodyBytes };
}

/** The diagnostic without its line and column. */
export function withoutPlace({ line: _line, column: _column, ...rest }: Diagnostic): Diagnostic {
  return rest;
}

/** Places are attached to the original fields object, so a copy has none. */
function withoutPlaces({ parts, fields, diagnostics }: SkillPartsReading): SkillPartsReading {
  const found = diagnostics.map(withoutPlace);
  const copied = fields && { ...fields };
  return {
    ...(parts === undefined ? {} : { parts: { ...parts, fields: copied ?? {}, diagnostics: found } }),
    ...(copied === undefined ? {} : { fields: copied }),
    diagnostics: found,
  };
}

/** The name of a skill whose folder is the root of its store. */
export function rootName({ id }: SkillStore, { origin }: StoreItem): string {
  const folder = origin.folder === '.' || origin.folder === '' ? origin.source : origin.folder;
  const name = sourceName(folder);
  return name === '' ? id : name;
}
