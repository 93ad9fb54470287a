import type { Diagnostic } from '../contracts/diagnostic.ts';
import type { Skill } from '../contracts/skill.ts';
import { decodeText } from './decode-text.ts';
import { diagnostic } from './diagnostic-codes.ts';
import { parseSkillMarkdown } from './parse-skill.ts';
import { SKILL_FILE } from './skill-file-name.ts';
import { readSourcesFile } from './sources-file.ts';
import { hasHidden, oneLine } from './text.ts';
import { readToolsFile } from './tools-file.ts';
import { compilePatterns } from './trigger-patterns.ts';

/** The files of a skill that are read as text. */
export const COMPACT_FILE = 'compact.md';
export const TOOLS_FILE = 'tools.yaml';
export const SOURCES_FILE = 'sources.yaml';

/** Bytes of a skill's text files, from a disk or from another process. */
export interface SkillTexts {
  /** Name of the skill's folder. */
  folder: string;
  /** `SKILL.md` or `skill.md`. */
  skillFile: string;
  /** Path of the folder in diagnostics, empty or ending in `/`. */
  shown: string;
  /** Whether trigger patterns are tried out. Loading the engine takes longer than reading a few skills. */
  tryPatterns: boolean;
  /** Bytes of a file by its path; undefined when there is none, null when it is too large to be read as text. */
  bytesOf(path: string): Uint8Array | null | undefined;
}

/** What the text files of a skill say. */
export type SkillParts = Pick<Skill, 'fields' | 'extra' | 'body' | 'brief' | 'tools' | 'sources' | 'diagnostics'> & {
  compact?: string;
};

/**
 * Reads the text files of a skill. A broken SKILL.md means no skill; another broken file means a skill without it.
 *
 * @param texts the files
 * @returns the parts, or the reason why the skill isn't loaded
 */
export function readSkillParts(texts: SkillTexts): { parts?: SkillParts; diagnostics: Diagnostic[] } {
  const path = `${texts.shown}${texts.skillFile}`;
  const bytes = texts.bytesOf(texts.skillFile);
  if (bytes === undefined) return { diagnostics: [diagnostic('skill.missing', 'There is no SKILL.md.', { path })] };
  if (bytes === null) return { diagnostics: [diagnostic('skill.too-large', 'The file is over 1 MiB.', { path })] };
  const parsed = parseSkillMarkdown(bytes, { folder: texts.folder, path });
  const diagnostics = [...parsed.diagnostics];
  if (texts.skillFile !== SKILL_FILE) {
    diagnostics.push(diagnostic('skill.file-case', `The file should be called ${SKILL_FILE}.`, { path }));
  }
  if (!parsed.loaded) return { diagnostics };
  const compact = readCompact(texts);
  const tools = readRows(texts, TOOLS_FILE, 'tools.invalid', readToolsFile);
  const sources = readRows(texts, SOURCES_FILE, 'sources.invalid', readSourcesFile);
  diagnostics.push(...compact.diagnostics, ...tools.diagnostics, ...sources.diagnostics);
  const { fields, extra, body, brief } = parsed;
  const patterns = fields.triggers?.patterns;
  if (texts.tryPatterns && patterns !== undefined) diagnostics.push(...compilePatterns(patterns, path).diagnostics);
  const parts: SkillParts = { fields, extra, body, brief, tools: tools.rows, sources: sources.rows, diagnostics };
  if (compact.text !== undefined) parts.compact = compact.text;
  return { parts, diagnostics };
}

/**
 * Chooses the name that people see: `displayName`, else `name`, else the id, on one line.
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
  const hidden = hasHidden(decoded.text) ? [diagnostic('skill.hidden-text', message, { path })] : [];
  return { text: decoded.text, diagnostics: hidden };
}

function readRows<Row>(
  texts: SkillTexts,
  name: string,
  code: 'tools.invalid' | 'sources.invalid',
  read: (bytes: Uint8Array, path: string) => { rows: Row[]; diagnostics: Diagnostic[] },
): { rows: Row[]; diagnostics: Diagnostic[] } {
  const path = `${texts.shown}${name}`;
  const bytes = texts.bytesOf(name);
  if (bytes === undefined) return { rows: [], diagnostics: [] };
  if (bytes !== null) return read(bytes, path);
  return { rows: [], diagnostics: [diagnostic(code, 'The file is over 1 MiB.', { path })] };
}
