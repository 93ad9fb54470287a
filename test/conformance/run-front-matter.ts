import { parseSkillMarkdown } from '../../src/skills/parse/parse-skill.ts';
import { contentBytes } from './content-bytes.ts';
import type { Content } from './content-bytes.ts';
import { sortedCodes } from './sorted-codes.ts';

/** Reads one SKILL.md leniently. */
export function runFrontMatter(input: unknown): Record<string, unknown> {
  const { file, folder } = input as { file: Content; folder?: string };
  const { loaded, fields, extra, body, brief, diagnostics } = parseSkillMarkdown(contentBytes(file), {
    folder: folder ?? 'alpha',
  });
  return { loaded, fields, extra, body, brief, codes: sortedCodes(diagnostics) };
}
