import type { YAMLMap } from 'yaml';
import { placeAt, type TextPlace } from '../text/text-place.ts';
import { isMap, isScalar, isSeq } from './yaml/lazy-yaml.ts';
import { type Diagnostic, diagnostic, type OwnCode } from '../../contracts/errors/diagnostic.ts';
import type { SkillFields } from '../../contracts/skills/skill.ts';
import { decodeText } from '../text/decode-text.ts';
import { readFrontMatter } from './front-matter.ts';
import type { PlaceOf } from './yaml/read-yaml.ts';
import { readFields } from './skill-fields.ts';
import { keepPlaces } from './field-places.ts';
import { compilePatterns } from './trigger-patterns.ts';
import { entriesOf, isNull, itemsOf, writtenText } from './yaml/yaml-values.ts';
import { codePointLength, firstSentence, hasHidden, hiddenAt, oneLine } from '../text/text.ts';

/** The most code points that a description should have (Agent Skills specification). */
export const DESCRIPTION_LIMIT = 1024;

/** Options of {@link parseSkillMarkdown}. */
export interface ParseSkillOptions {
  /** Name of the skill's folder. */
  folder: string;
  /** Path that diagnostics name; default `SKILL.md`. */
  path?: string;
  /** Whether trigger patterns are tried out, which loads their engine; default true. */
  tryPatterns?: boolean;
  /** Whether every comment behind a value without quotes is reported; by default only comments that look like a text. */
  everyComment?: boolean | undefined;
}

/** A SKILL.md, read leniently. */
export interface ParsedSkill {
  /** Whether the file makes a skill. */
  loaded: boolean;
  /** Whether its frontmatter could be read; if not, only the diagnostics count. */
  readable: boolean;
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
 * @returns the skill's fields and body with all diagnostics
 */
export function parseSkillMarkdown(bytes: Uint8Array, options: ParseSkillOptions): ParsedSkill {
  const path = options.path ?? 'SKILL.md';
  const decoded = decodeText(bytes);
  if ('fault' in decoded) {
    const message =
      decoded.fault === 'encoding'
        ? 'The file is not UTF-8, or holds a NUL.'
        : `The file is over 1 MiB, it has ${bytes.length} bytes.`;
    return unreadable([diagnostic(`skill.${decoded.fault}`, message, { path })]);
  }
  const frontMatter = readFrontMatter(decoded.text, { recover: true, path, everyComment: options.everyComment });
  if (!frontMatter.ok) return unreadable(frontMatter.diagnostics);

  const { root, placeOf, body, bodyLine } = frontMatter;
  const { fields, extra, unusable, keyNodes } = readFields(root);
  const placeOfKey = (key: string): Partial<TextPlace> => (keyNodes.has(key) ? placeOf(keyNodes.get(key)) : {});
  keepPlaces(fields, {
    bodyLine,
    namespace: placeOfKey('namespace'),
    imports: placeOfKey(keyNodes.has('import') ? 'import' : 'imports'),
  });
  const diagnostics = [...frontMatter.diagnostics];
  const report = (code: OwnCode, message: string, place: Partial<TextPlace>): void => {
    diagnostics.push(diagnostic(code, message, { path, ...place }));
  };
  for (const { field, keyNode, allowed } of unusable)
    report('skill.field-type', `The value of ${field} must be ${allowed}.`, placeOf(keyNode));
  // Without a description, the place is the beginning of the block.
  checkDescription(fields.description, (code, message) => report(code, message, placeOf(keyNodes.get('description'))));
  if (
    fields.name !== undefined &&
    fields.name !== options.folder &&
    fields.name.normalize('NFKC') !== options.folder.normalize('NFKC')
  ) {
    const message = `The name ${JSON.stringify(fields.name)} is not that of the folder, ${JSON.stringify(options.folder)}.`;
    report('skill.name-mismatch', message, placeOfKey('name'));
  }
  const hidden =
    (wasAscii(decoded.text, bytes) ? undefined : hiddenPlace(decoded.text)) ??
    (frontMatter.block.includes('\\') ? escapedHidden(root, placeOf) : undefined);
  if (hidden !== undefined)
    report(
      'skill.hidden-text',
      'The file holds characters that cannot be seen; they are left out of every prompt.',
      hidden,
    );
  const patterns = fields.triggers?.patterns;
  if (patterns !== undefined && options.tryPatterns !== false) {
    const places = patternNodes(root).map(placeOf);
    diagnostics.push(...compilePatterns(patterns, { path, places }).diagnostics);
  }
  const { briefDescription, description = '' } = fields;
  const brief = briefDescription === undefined ? firstSentence(oneLine(description)) : oneLine(briefDescription);
  return { loaded: fields.description !== undefined, readable: true, fields, extra, body, brief, diagnostics };
}

function unreadable(diagnostics: Diagnostic[]): ParsedSkill {
  return { loaded: false, readable: false, fields: {}, extra: {}, body: '', brief: '', diagnostics };
}

function checkDescription(description: string | undefined, report: (code: OwnCode, message: string) => void): void {
  if (description === undefined)
    report('skill.description-missing', 'The frontmatter needs a description that is a text.');
  const length = codePointLength(description ?? '');
  if (length > DESCRIPTION_LIMIT)
    report('skill.description-long', `The description has ${length} characters, over ${DESCRIPTION_LIMIT}.`);
}

/** The nodes of the trigger patterns that are not blank, in the order of `readFields`. */
function patternNodes(root: YAMLMap): unknown[] {
  const valueOf = (map: unknown, name: string): unknown => entriesOf(map)?.find(({ key }) => key === name)?.node;
  const patterns = valueOf(valueOf(root, 'triggers'), 'patterns');
  const nodes = itemsOf(patterns) ?? [patterns];
  return nodes.filter((node) => !isNull(node) && writtenText(node)?.trim() !== '');
}

/** A text has as many units as bytes only if all bytes are ASCII. ASCII text has no hidden characters. */
function wasAscii(text: string, bytes: Uint8Array): boolean {
  return text.length === bytes.length;
}

/** Place of the first hidden character of a file. */
function hiddenPlace(text: string): TextPlace | undefined {
  const offset = hiddenAt(text);
  return offset < 0 ? undefined : placeAt(text, offset);
}

/** Place of a key or value whose YAML escapes produce hidden characters. */
function escapedHidden(root: YAMLMap, placeOf: PlaceOf): TextPlace | undefined {
  const pending: unknown[] = [root];
  while (pending.length > 0) {
    const node = pending.pop();
    if (isScalar(node) && typeof node.value === 'string' && hasHidden(node.value)) return placeOf(node);
    if (isSeq(node)) for (const item of node.items) pending.push(item);
    if (isMap(node)) for (const { key, value } of node.items) pending.push(key, value);
  }
  return undefined;
}
