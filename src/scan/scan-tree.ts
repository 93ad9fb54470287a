import type { SkillTree } from '../contracts/skills/skill.ts';
import { compareCodePoints } from '../skills/text/text.ts';
import { placeFinder } from '../skills/text/text-place.ts';
import { ACCESS_PATTERNS } from './rules/patterns/access-patterns.ts';
import { findBinaries } from './rules/find-binaries.ts';
import { findBlobs } from './rules/find-blobs.ts';
import { findByName } from './rules/find-by-name.ts';
import { findComments } from './rules/find-comments.ts';
import { findCredentials } from './rules/find-credentials.ts';
import { findEvaluatedCode } from './rules/find-evaluated-code.ts';
import { findHidden } from './rules/find-hidden.ts';
import { findLicences } from './rules/find-licences.ts';
import { findLookAlikes } from './rules/find-look-alikes.ts';
import { findOverrides } from './rules/find-overrides.ts';
import { findPatterns } from './rules/patterns/find-patterns.ts';
import { findPipedCode } from './rules/find-piped-code.ts';
import { findReferences } from './rules/find-references.ts';
import { MARKER_PATTERNS } from './rules/patterns/marker-patterns.ts';
import { WRITE_PATTERNS } from './rules/patterns/write-patterns.ts';
import { keptFindings, type KeptFindings, TOLD } from './kept-findings.ts';
import { type FoundInFile, scanFinding, type ScanFinding } from './scan-finding.ts';
import { scannedFile, type ScannedFile } from './scanned-file.ts';

/** A file, or another entry with a name, that was not scanned completely. */
export interface Unscanned {
  path: string;
  bytes: number;
  /** One line for people. */
  reason: string;
}

/** Findings of the files of one skill. */
export interface TreeScan {
  /** In the order of paths, then of places in a file. */
  findings: ScanFinding[];
  /** Bytes that every rule read as text. Together with the bytes of `unscanned`, it is the total. */
  scannedBytes: number;
  unscanned: Unscanned[];
}

const PATTERNS = [...MARKER_PATTERNS, ...ACCESS_PATTERNS, ...WRITE_PATTERNS];

/**
 * Scans a skill for things that its user should check. A scan makes nothing safe: it knows plain forms only, and lists the
 * files that it did not read. Takes time in proportion to the bytes.
 *
 * @param tree the files by their paths
 */
export function scanTree(tree: SkillTree): TreeScan {
  const scan: TreeScan = { findings: [], scannedBytes: 0, unscanned: [] };
  const paths = pathsWithFolders(tree.keys());
  for (const path of [...tree.keys()].toSorted(compareCodePoints)) {
    const content = tree.get(path);
    if (content === undefined) continue;
    const file = scannedFile(path, content);
    for (const finding of placed(file, keptFindings(foundIn(file, paths)))) scan.findings.push(finding);
    if (file.isText) scan.scannedBytes += content.bytes.length;
    else
      scan.unscanned.push({
        path,
        bytes: content.bytes.length,
        reason: file.binary?.name ?? 'neither text nor a known format',
      });
  }
  return scan;
}

/** The readable parts of a binary file are searched for words too, because a shell runs a file with any first bytes. */
function* foundIn(file: ScannedFile, paths: ReadonlySet<string>): Generator<FoundInFile> {
  yield* findByName(file);
  yield* findBinaries(file, paths);
  yield* findLicences(file);
  yield* findOverrides(file);
  yield* findPatterns(file, PATTERNS);
  yield* findPipedCode(file);
  yield* findEvaluatedCode(file);
  yield* findCredentials(file);
  if (!file.isText) return;
  yield* findHidden(file);
  yield* findLookAlikes(file);
  yield* findBlobs(file);
  yield* findReferences(file, paths);
  yield* findComments(file);
}

function* placed({ path, text, isText }: ScannedFile, { told, untold }: KeptFindings): Generator<ScanFinding> {
  for (const [code, count] of untold)
    yield scanFinding(code, `This file has ${count} of these findings; the first ${TOLD} are listed.`, { path });
  const placeAt = placeFinder(text);
  for (const { code, message, at } of told)
    yield scanFinding(code, message, { path, ...(at === undefined || !isText ? {} : placeAt(at)) });
}

/** All paths and the folders above them, because a link may name a folder. */
function pathsWithFolders(paths: Iterable<string>): Set<string> {
  const all = new Set<string>(['']);
  for (const path of paths) {
    all.add(path);
    for (
      let slash = path.lastIndexOf('/');
      slash > 0 && !all.has(path.slice(0, slash));
      slash = path.lastIndexOf('/', slash - 1)
    )
      all.add(path.slice(0, slash));
  }
  return all;
}
