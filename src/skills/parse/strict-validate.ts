import { type Diagnostic, diagnostic, type OwnCode } from '../../contracts/errors/diagnostic.ts';
import { decodeText } from '../text/decode-text.ts';
import type { TextPlace } from '../text/text-place.ts';
import { readFrontMatter } from './front-matter.ts';
import { codePointLength } from '../text/text.ts';
import { entriesOf, isNull, writtenText } from './yaml/yaml-values.ts';

/** The keys of the specification. */
export const STRICT_KEYS: ReadonlySet<string> = new Set([
  'name',
  'description',
  'license',
  'compatibility',
  'metadata',
  'allowed-tools',
]);
const NAME_LIMIT = 64;
const DESCRIPTION_LIMIT = 1024;
const COMPATIBILITY_LIMIT = 500;

/** The most code points of each text. */
export const STRICT_LIMITS: Readonly<Record<'name' | 'description' | 'compatibility', number>> = {
  name: NAME_LIMIT,
  description: DESCRIPTION_LIMIT,
  compatibility: COMPATIBILITY_LIMIT,
};

type Report = (code: OwnCode, message: string, place?: Partial<TextPlace>) => void;

/**
 * Checks one skill folder against the Agent Skills specification (https://agentskills.io/specification). Every fault is
 * reported, each as an error; no diagnostics means the skill is valid.
 *
 * @param folder name of the folder
 * @param bytes its SKILL.md, or null if it does not exist
 * @param fileName name of that file, for the diagnostics
 * @returns errors of reading the file and `strict.*`, nothing else
 */
export function validateStrict(folder: string, bytes: Uint8Array | null, fileName: string): Diagnostic[] {
  const found: Diagnostic[] = [];
  const report: Report = (code, message, place) => {
    found.push(diagnostic(code, message, { path: fileName, ...place }));
  };
  if (bytes === null) {
    report('skill.missing', 'The folder holds no SKILL.md.');
    return found;
  }
  const decoded = decodeText(bytes);
  if ('fault' in decoded) {
    report(
      `skill.${decoded.fault}`,
      decoded.fault === 'encoding' ? 'The file is not UTF-8, or holds a NUL.' : 'The file is over 1 MiB.',
    );
    return found;
  }
  if (decoded.byteOrderMark) report('strict.bom', 'The file begins with a byte order mark.', { line: 1, column: 1 });
  const frontMatter = readFrontMatter(decoded.text, { recover: false, path: fileName });
  if (!frontMatter.ok) return [...found, ...frontMatter.diagnostics];

  const entries = entriesOf(frontMatter.root) ?? [];
  const nodes = new Map(entries.map(({ key, node }) => [key, node]));
  const keyNodes = new Map(entries.map(({ key, keyNode }) => [key, keyNode]));
  const reportOf =
    (key: string): Report =>
    (code, message) =>
      report(code, message, frontMatter.placeOf(keyNodes.get(key)));
  for (const key of nodes.keys()) {
    if (!STRICT_KEYS.has(key))
      reportOf(key)('strict.field-unknown', `The specification has no key ${JSON.stringify(key)}.`);
  }
  checkName(trimmedText(nodes.get('name')), folder, reportOf('name'));
  checkDescription(trimmedText(nodes.get('description')), reportOf('description'));
  if (nodes.has('compatibility'))
    checkCompatibility(trimmedText(nodes.get('compatibility')), reportOf('compatibility'));
  if (nodes.has('metadata') && !isTextMap(nodes.get('metadata')))
    reportOf('metadata')('strict.metadata', 'metadata must be a map from texts to texts.');
  return found;
}

function checkName(written: string, folder: string, report: Report): void {
  if (written === '') {
    report('strict.name-missing', 'name must be a text that is not blank.');
    return;
  }
  const name = written.normalize('NFKC');
  const shown = JSON.stringify(name);
  if (codePointLength(name) > NAME_LIMIT)
    report('strict.name-long', `name may have ${NAME_LIMIT} characters, it has ${codePointLength(name)}.`);
  if (name !== name.toLowerCase()) report('strict.name-case', `name must be lower case, got ${shown}.`);
  if (name.startsWith('-') || name.endsWith('-') || name.includes('--')) {
    report('strict.name-hyphen', `Hyphens stand alone and inside the name, got ${shown}.`);
  }
  if (/[^\p{L}\p{N}-]/u.test(name))
    report('strict.name-chars', `name holds letters, digits and hyphens only, got ${shown}.`);
  if (name !== folder.normalize('NFKC'))
    report('strict.name-folder', `name must be that of the folder, ${JSON.stringify(folder)}, got ${shown}.`);
}

function checkDescription(description: string, report: Report): void {
  const length = codePointLength(description);
  if (length === 0) report('strict.description-missing', 'description must be a text that is not blank.');
  if (length > DESCRIPTION_LIMIT)
    report('strict.description-long', `description may have ${DESCRIPTION_LIMIT} characters, it has ${length}.`);
}

function checkCompatibility(compatibility: string, report: Report): void {
  const length = codePointLength(compatibility);
  if (length === 0 || length > COMPATIBILITY_LIMIT) {
    report(
      'strict.compatibility',
      `compatibility must be a text of 1 to ${COMPATIBILITY_LIMIT} characters, it has ${length}.`,
    );
  }
}

function trimmedText(node: unknown): string {
  return writtenText(node)?.trim() ?? '';
}

function isTextMap(node: unknown): boolean {
  const entries = entriesOf(node);
  return (
    entries !== undefined && entries.every((entry) => !isNull(entry.node) && writtenText(entry.node) !== undefined)
  );
}
