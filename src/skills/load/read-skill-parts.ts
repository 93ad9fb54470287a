import { type Diagnostic, diagnostic } from '../../contracts/errors/diagnostic.ts';
import type { Skill } from '../../contracts/skills/skill.ts';
import { decodeText } from '../text/decode-text.ts';
import { parseSkillMarkdown } from '../parse/parse-skill.ts';
import { SKILL_FILE, SKILL_FILE_LOWER } from './files/skill-file-name.ts';
import { readSourcesFile } from '../parse/sources-file.ts';
import { placeAt } from '../text/text-place.ts';
import { hiddenAt, oneLine } from '../text/text.ts';
import { readToolsFile } from '../parse/tools-file.ts';

/** The files of a skill that are read as text. */
export const COMPACT_FILE = 'compact.md';
export const TOOLS_FILE = 'tools.yaml';
export const SOURCES_FILE = 'sources.yaml';

/** Bytes of a skill's text files, from a disk or from another process. */
export interface SkillTexts {
  /** Name of the skill's folder. */
  folder: string;
  /** `SKILL.md` or another spelling of it. */
  skillFile: string;
  /** Path of the folder in diagnostics, empty or ending in `/`. */
  shown: string;
  /** Whether trigger patterns are tried out. Loading the engine takes longer than reading a few skills. */
  tryPatterns: boolean;
  /** Whether every comment behind a value without quotes is reported; by default only comments that look like a text. */
  everyComment?: boolean | undefined;
  /** Bytes of a file by its path; undefined when it does not exist, null when it is too large to be read as text. */
  bytesOf(path: string): Uint8Array | null | undefined;
}

/** Content of the text files of a skill. */
export type SkillParts = Pick<Skill, 'fields' | 'extra' | 'body' | 'brief' | 'tools' | 'sources' | 'diagnostics'> & {
  compact?: string;
};

/** Result of reading the text files. */
export interface SkillPartsReading {
  /** Absent when the files make no skill. */
  parts?: SkillParts;
  /** Fields of the frontmatter, even when the files make no skill; absent when it can't be read. */
  fields?: Skill['fields'];
  diagnostics: Diagnostic[];
}

/**
 * Reads the text files of a skill. A broken SKILL.md means no skill; any other broken file is left out of the skill.
 *
 * @param texts the files
 * @returns the parts, or the reason why the skill isn't loaded
 */
export function readSkillParts(texts: SkillTexts): SkillPartsReading {
  const path = `${texts.shown}${texts.skillFile}`;
  const bytes = texts.bytesOf(texts.skillFile);
  if (bytes === undefined) return { diagnostics: [diagnostic('skill.missing', 'There is no SKILL.md.', { path })] };
  if (bytes === null) return { diagnostics: [diagnostic('skill.too-large', 'The file is over 1 MiB.', { path })] };
  const { folder, tryPatterns, everyComment } = texts;
  const parsed = parseSkillMarkdown(bytes, { folder, path, tryPatterns, everyComment });
  const diagnostics = [...parsed.diagnostics];
  if (texts.skillFile !== SKILL_FILE) {
    const code = texts.skillFile === SKILL_FILE_LOWER ? 'skill.file-case' : 'skill.file-name';
    diagnostics.push(diagnostic(code, `The file should be called ${SKILL_FILE}.`, { path }));
  }
  if (!parsed.readable) return { diagnostics };
  const compact = readCompact(texts);
  const tools = readRows(texts, TOOLS_FILE, 'tools.invalid', readToolsFile);
  const sources = readRows(texts, SOURCES_FILE, 'sources.invalid', readSourcesFile);
  diagnostics.push(...compact.diagnostics, ...tools.diagnostics, ...sources.diagnostics);
  const { fields, extra, body, brief } = parsed;
  if (!parsed.loaded) return { fields, diagnostics };
  const parts: SkillParts = { fields, extra, body, brief, tools: tools.rows, sources: sources.rows, diagnostics };
  if (compact.text !== undefined) parts.compact = compact.text;
  return { parts, fields, diagnostics };
}

/**
 * Chooses the display name: `displayName`, else `name`, else the id, on one line.
 *
 * @param fields fields of the frontmatter
 * @param skillId the id without its namespace
 * @returns a text on one line
 */
export function displayName(fields: Skill['fields'], skillId: string): string {
  const named = [fields.displayName, fields.name].map((text) => oneLine(text ?? ''));
  return named.find((text) => text !== '') ?? skillId;
}

function readCompact(texts: SkillTexts): { text?: string; diagnostics: Diagnostic[] } {
  const path = `${texts.shown}${COMPACT_FILE}`;
  const bytes = texts.bytesOf(COMPACT_FILE);
  if (bytes === undefined) return { diagnostics: [] };
  const decoded = bytes === null ? { fault: 'too-large' } : decodeText(bytes);
  if ('fault' in decoded) {
    const why = decoded.fault === 'encoding' ? 'is not UTF-8, or holds a NUL' : 'is over 1 MiB';
    return { diagnostics: [diagnostic('compact.invalid', `The file ${why}; the skill stays without it.`, { path })] };
  }
  const message = 'The file holds characters that cannot be seen; they are left out of every prompt.';
  const hidden = hiddenAt(decoded.text);
  if (hidden < 0) return { text: decoded.text, diagnostics: [] };
  const place = { path, ...placeAt(decoded.text, hidden) };
  return { text: decoded.text, diagnostics: [diagnostic('skill.hidden-text', message, place)] };
}

function readRows<Row>(
  texts: SkillTexts,
  name: string,
  code: 'tools.invalid' | 'sources.invalid',
  read: (bytes: Uint8Array, path: string, everyComment?: boolean) => { rows: Row[]; diagnostics: Diagnostic[] },
): { rows: Row[]; diagnostics: Diagnostic[] } {
  const path = `${texts.shown}${name}`;
  const bytes = texts.bytesOf(name);
  if (bytes === undefined) return { rows: [], diagnostics: [] };
  if (bytes !== null) return read(bytes, path, texts.everyComment);
  return { rows: [], diagnostics: [diagnostic(code, 'The file is over 1 MiB.', { path })] };
}
