import type { Node } from 'yaml';
import { readFrontMatter } from '../../skills/parse/front-matter.ts';
import { entriesOf, isNull, writtenText, type YamlEntry } from '../../skills/parse/yaml/yaml-values.ts';
import { isSlug } from '../../skills/text/slug.ts';
import { type FileLines, readText } from './file-lines.ts';
import type { TextChange } from './text-change.ts';
import { yamlText } from '../yaml-text.ts';

/** Options of {@link setName}. */
export interface SetNameOptions {
  /** Name of the skill's folder. */
  folder: string;
  /** Whether a name is required, and the specification must be kept. */
  strict: boolean;
}

/**
 * Sets the name to that of the folder. Unless `strict` is set, an old name that is no slug becomes `displayName`, if that is absent.
 *
 * @param file lines of a SKILL.md with a readable frontmatter
 */
export function setName(file: FileLines, { folder, strict }: SetNameOptions): TextChange[] {
  const read = readFrontMatter(readText(file), { recover: false });
  const wanted = folder.normalize('NFKC');
  if (!read.ok || !isSlug(wanted)) return [];
  const entries = entriesOf(read.root) ?? [];
  const entry = entries.find(({ key }) => key === 'name');
  const text = `name: ${yamlText(wanted)}`;
  if (entry === undefined) return strict ? inserted(file, 1, text, 'added the name of the folder') : [];
  const written = writtenText(entry.node)?.trim() ?? '';
  if (written.normalize('NFKC') === wanted || (written === '' && !isNull(entry.node))) return [];
  if (written === '' && !strict) return [];
  const index = read.placeOf(entry.keyNode).line - 1;
  const line = lineWith(entry, read.block, file.lines[index] ?? '', text);
  if (line === undefined) return [];
  file.lines[index] = line;
  const changes = [
    { line: index + 1, what: `set the name to ${JSON.stringify(wanted)}, it was ${JSON.stringify(written)}` },
  ];
  const isShown = entries.some(({ key }) => key === 'displayName');
  if (strict || isShown || written === '' || isSlug(written.normalize('NFKC'))) return changes;
  const shown = `displayName: ${yamlText(written)}`;
  return [...changes, ...inserted(file, index + 1, shown, 'kept the old name as displayName')];
}

function inserted(file: FileLines, index: number, line: string, what: string): TextChange[] {
  file.lines.splice(index, 0, line);
  file.ends.splice(index, 0, file.ends[0] ?? '\n');
  return [{ line: index + 1, what }];
}

/** Texts behind a key without a value. */
const NO_VALUE: ReadonlySet<string> = new Set(['', '~', 'null']);

/** The line with another value; undefined if the key does not begin the line or the value continues below. */
function lineWith({ keyNode, node }: YamlEntry, block: string, line: string, text: string): string | undefined {
  const [start = -1] = (keyNode as Node).range ?? [];
  const end = isNull(node) ? undefined : (node as Node).range?.[1];
  const lineStart = block.lastIndexOf('\n', start - 1) + 1;
  if (start !== lineStart) return undefined;
  if (end === undefined) return NO_VALUE.has(line.slice(line.indexOf(':') + 1).trim()) ? text : undefined;
  if (end > lineStart + line.length) return undefined;
  return `${text}${line.slice(end - lineStart)}`;
}
