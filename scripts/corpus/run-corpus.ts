import { type Dirent, readdirSync, realpathSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { Diagnostic } from '../../src/contracts/errors/diagnostic.ts';
import type { Skill } from '../../src/contracts/skills/skill.ts';
import { loadSkillFolder } from '../../src/skills/load/load-skill-folder.ts';
import { skillFolderAt } from '../../src/skills/load/find-skill-folders.ts';
import { readRegularFile } from '../../src/skills/load/files/read-regular-file.ts';
import { isSkillFileName } from '../../src/skills/load/files/skill-file-name.ts';
import { compareCodePoints } from '../../src/skills/text/text.ts';
import { referenceReading } from './reference-reading.ts';

/** Codes that keep a SKILL.md out by the rules, with their cause in a report: first mistakes of its author, then unreadable files. */
const KEEPS_OUT: ReadonlyMap<string, string> = new Map([
  ['skill.description-missing', 'no description'],
  ['frontmatter.missing', 'no frontmatter'],
  ['frontmatter.unclosed', 'no frontmatter'],
  ['frontmatter.language', 'no frontmatter'],
  ['frontmatter.yaml', 'broken YAML'],
  ['frontmatter.not-a-mapping', 'broken YAML'],
  ['frontmatter.too-large', 'too large'],
  ['skill.too-large', 'too large'],
  ['skill.encoding', 'not UTF-8'],
  ['skill.id-invalid', 'no id in its name'],
  ['skill.missing', 'no file'],
  ['skill.unreadable', 'no file'],
  ['skill.file-name', 'another spelling beside it'],
]);

/** A broken rule. */
export interface CorpusException {
  /** Path below the folder. */
  path: string;
  rule: 'crash' | 'unnamed' | 'kept-out' | 'description';
  reason: string;
}

/** The results for a tree of files. */
export interface CorpusReport {
  /** Every SKILL.md, in any spelling. */
  files: number;
  loaded: number;
  keptOut: number;
  /** Number of SKILL.md files kept out, by cause. */
  causes: Record<string, number>;
  /** Number of files with each code, sorted. */
  codes: Record<string, number>;
  exceptions: CorpusException[];
  /** Unreadable folders, with reasons. */
  unread: { path: string; reason: string }[];
}

const NOTHING: ReadonlySet<string> = new Set();

/** Loads every SKILL.md of a tree by itself, at any depth, and compares it with a plain reading by `yaml`. */
export function runCorpus(given: string): CorpusReport {
  const root = realpathSync.native(given);
  readdirSync(root);
  const unread: CorpusReport['unread'] = [];
  const report: CorpusReport = { files: 0, loaded: 0, keptOut: 0, causes: {}, codes: {}, exceptions: [], unread };
  const counts = new Map<string, number>();
  for (const { folder, name } of skillFiles(root, unread)) {
    const path = join(folder, name);
    report.files += 1;
    const { skill, codes, exceptions } = judge(root, folder, name);
    if (skill) report.loaded += 1;
    else {
      report.keptOut += 1;
      const [, cause] = [...KEEPS_OUT].find(([code]) => codes.includes(code)) ?? [];
      if (cause !== undefined) report.causes[cause] = (report.causes[cause] ?? 0) + 1;
    }
    for (const code of new Set(codes)) counts.set(code, (counts.get(code) ?? 0) + 1);
    report.exceptions.push(...exceptions.map((each) => ({ path, ...each })));
  }
  report.codes = Object.fromEntries([...counts].toSorted(([a], [b]) => compareCodePoints(a, b)));
  return report;
}

interface Judged {
  skill: boolean;
  codes: string[];
  exceptions: Omit<CorpusException, 'path'>[];
}

function judge(root: string, folder: string, name: string): Judged {
  let found: { skill?: Skill; diagnostics: Diagnostic[] };
  try {
    const listed = skillFolderAt(join(root, folder), '.');
    if (listed === undefined || listed.skillFile !== name) {
      // Another spelling has priority there, or it is not a file; the diagnostics of the folder tell which.
      const why = listed?.diagnostics.map(({ code }) => code) ?? ['skill.unreadable'];
      return { skill: false, codes: [...why, 'skill.file-name'], exceptions: [] };
    }
    const place = { kind: 'custom' as const, index: 0, path: join(root, folder), name: basename(join(root, folder)) };
    found = loadSkillFolder({ ...place, overrides: NOTHING, customNamespaces: NOTHING }, listed);
  } catch (cause) {
    // The loader must not throw, whatever a folder contains.
    return { skill: false, codes: ['crash'], exceptions: [{ rule: 'crash', reason: String(cause) }] };
  }
  const { skill, diagnostics } = found;
  const codes = diagnostics.map(({ code }) => code);
  const errors = diagnostics.filter(({ severity }) => severity === 'error').map(({ code }) => code);
  const exceptions: Judged['exceptions'] = [];
  if (skill === undefined && errors.length === 0)
    exceptions.push({ rule: 'unnamed', reason: 'it is not loaded, and no error says why' });
  if (skill === undefined && errors.length > 0 && !errors.some((code) => KEEPS_OUT.has(code)))
    exceptions.push({ rule: 'kept-out', reason: `only ${errors.join(', ')} keeps it out` });
  exceptions.push(...againstReference(join(root, folder, name), skill, errors));
  return { skill: skill !== undefined, codes, exceptions };
}

/** Compares the loaded frontmatter with a plain reading by `yaml`. */
function againstReference(place: string, skill: Skill | undefined, errors: readonly string[]): Judged['exceptions'] {
  const bytes = bytesOf(place);
  const reading = bytes === undefined ? undefined : referenceReading(bytes);
  if (reading === undefined) return [];
  if (skill === undefined) {
    // A folder without a usable name is not a fault of the text.
    const isNamed = errors.every((code) => code !== 'skill.id-invalid');
    return isNamed
      ? [{ rule: 'kept-out', reason: `yaml reads a description, and ${errors.join(', ')} keeps it out` }]
      : [];
  }
  const own = skill.fields.description?.trim();
  const other = reading.description.trim();
  return own === other
    ? []
    : [{ rule: 'description', reason: `yaml reads ${other.slice(0, 200)}, it is ${own?.slice(0, 200)}` }];
}

function bytesOf(place: string): Buffer | undefined {
  const limit = 1024 * 1024;
  try {
    return readRegularFile(place, { keep: limit, limit }).content;
  } catch {
    // Its diagnostic code names an unreadable file.
    return undefined;
  }
}

/** Every SKILL.md below a folder, in path order; links are not followed. */
function skillFiles(root: string, unread: CorpusReport['unread']): { folder: string; name: string }[] {
  const found: { folder: string; name: string }[] = [];
  const pending = [''];
  for (let folder = pending.pop(); folder !== undefined; folder = pending.pop()) {
    let entries: Dirent[];
    try {
      entries = readdirSync(join(root, folder), { withFileTypes: true });
    } catch (cause) {
      unread.push({ path: folder, reason: (cause as NodeJS.ErrnoException).code ?? String(cause) });
      continue;
    }
    for (const entry of entries.toSorted((a, b) => compareCodePoints(b.name, a.name))) {
      if (entry.isDirectory()) pending.push(join(folder, entry.name));
      else if (isSkillFileName(entry.name)) found.push({ folder, name: entry.name });
    }
  }
  return found;
}
