import type { YAMLMap } from 'yaml';
import { isMap, isScalar, isSeq } from './lazy-yaml.ts';
import type { Diagnostic } from '../contracts/diagnostic.ts';
import type { SkillFields } from '../contracts/skill.ts';
import { decodeText } from './decode-text.ts';
import { diagnostic } from './diagnostic-codes.ts';
import type { DiagnosticCode } from './diagnostic-codes.ts';
import { readFrontMatter } from './front-matter.ts';
import { readFields } from './skill-fields.ts';
import { compilePatterns } from './trigger-patterns.ts';
import { codePointLength, firstSentence, hasHidden, oneLine } from './text.ts';

/** The most code points that a description should have (Agent Skills specification). */
export const DESCRIPTION_LIMIT = 1024;

/** What {@link parseSkillMarkdown} needs to know besides the bytes. */
export interface ParseSkillOptions {
  /** Name of the skill's folder. */
  folder: string;
  /** Path that diagnostics name; default `SKILL.md`. */
  path?: string;
}

/** A SKILL.md, read leniently. If it is not `loaded`, only the diagnostics count. */
export interface ParsedSkill {
  loaded: boolean;
  fields: SkillFields;
  /** Unknown keys, and known keys of an unusable shape. */
  extra: Record<string, unknown>;
  /** Everything after the closing fence. */
  body: string;
  /** `brief_description`, else the first sentence of the description; one line. */
  brief: string;
  diagnostics: Diagnostic[];
}

/**
 * Reads one SKILL.md in any of the known dialects.
 *
 * @param bytes the whole file
 * @param options where the file is
 * @returns the skill's fields and body with everything that was found on the way
 */
export function parseSkillMarkdown(bytes: Uint8Array, options: ParseSkillOptions): ParsedSkill {
  const path = options.path ?? 'SKILL.md';
  const decoded = decodeText(bytes);
  if ('fault' in decoded) {
    const message =
      decoded.fault === 'encoding'
        ? 'The file is not UTF-8, or holds a NUL.'
        : `The file is over 1 MiB, it has ${bytes.length} bytes.`;
    return notLoaded([diagnostic(`skill.${decoded.fault}`, message, { path })]);
  }
  const frontMatter = readFrontMatter(decoded.text, { recover: true, path });
  if (!frontMatter.ok) return notLoaded(frontMatter.diagnostics);

  const { fields, extra, unusable } = readFields(frontMatter.root);
  const { description } = fields;
  if (description === undefined) {
    return notLoaded([
      diagnostic('skill.description-missing', 'The frontmatter needs a description that is a text.', { path }),
    ]);
  }
  const diagnostics = [...frontMatter.diagnostics];
  const report = (code: DiagnosticCode, message: string): void => {
    diagnostics.push(diagnostic(code, message, { path }));
  };
  for (const key of unusable) report('skill.field-type', `The value of ${key} has a shape that cannot be used.`);
  const length = codePointLength(description);
  if (length > DESCRIPTION_LIMIT)
    report('skill.description-long', `The description has ${length} characters, over ${DESCRIPTION_LIMIT}.`);
  if (fields.name !== undefined && fields.name.normalize('NFKC') !== options.folder.normalize('NFKC')) {
    report(
      'skill.name-mismatch',
      `The name ${JSON.stringify(fields.name)} is not that of the folder, ${JSON.stringify(options.folder)}.`,
    );
  }
  if (hasHidden(decoded.text) || (frontMatter.block.includes('\\') && holdsHidden(frontMatter.root))) {
    report('skill.hidden-text', 'The file holds characters that cannot be seen; they are left out of every prompt.');
  }
  const patterns = fields.triggers?.patterns;
  if (patterns !== undefined) diagnostics.push(...compilePatterns(patterns, path).diagnostics);
  const brief =
    fields.briefDescription === undefined ? firstSentence(oneLine(description)) : oneLine(fields.briefDescription);
  return { loaded: true, fields, extra, body: frontMatter.body, brief, diagnostics };
}

function notLoaded(diagnostics: Diagnostic[]): ParsedSkill {
  return { loaded: false, fields: {}, extra: {}, body: '', brief: '', diagnostics };
}

/** Looks for hidden characters that come out of YAML escapes, in keys and values. */
function holdsHidden(root: YAMLMap): boolean {
  const pending: unknown[] = [root];
  while (pending.length > 0) {
    const node = pending.pop();
    if (isScalar(node) && typeof node.value === 'string' && hasHidden(node.value)) return true;
    if (isSeq(node)) for (const item of node.items) pending.push(item);
    if (isMap(node)) for (const { key, value } of node.items) pending.push(key, value);
  }
  return false;
}
