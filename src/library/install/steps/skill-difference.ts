import type { Skill, SkillFile, SkillTree } from '../../../contracts/skills/skill.ts';
import type { ScanFinding } from '../../../scan/scan-finding.ts';
import { scanTree } from '../../../scan/scan-tree.ts';
import { TEXT_FILE_LIMIT } from '../../../skills/text/decode-text.ts';
import { digestOf } from '../../../skills/text/digest.ts';
import { compareCodePoints } from '../../../skills/text/text.ts';

/** Limit of changed lines; above it, a file's difference is not shown. */
const EDITS = 2_000;

/** One file that an update changes. */
export interface FileDifference {
  path: string;
  state: 'added' | 'removed' | 'changed';
  /** The new executable bit, where it changes. */
  executable?: boolean;
  /** Changed lines, in the format of `diff -u`, empty where only the executable bit changes; absent for a file that is not text, or has too many changes. */
  lines?: string;
}

/** The changes that an update makes to a skill. */
export interface SkillDifference {
  files: FileDifference[];
  /** Ids of tools that the skill requests. */
  tools: { added: string[]; removed: string[] };
  /** Scan findings that only the new bytes have, and only the old ones. */
  findings: { added: ScanFinding[]; removed: ScanFinding[] };
}

/** One state of a skill. */
interface SkillState {
  tree: SkillTree;
  skill: Pick<Skill, 'tools' | 'fields'> | undefined;
}

/**
 * Compares two states of a skill.
 *
 * @param before includes the locked files: for a file that is not in the tree, only its digest is known
 */
export async function skillDifference(
  before: SkillState & { files: readonly SkillFile[] },
  after: SkillState,
): Promise<SkillDifference> {
  const { createTwoFilesPatch } = await import('diff');
  const files: FileDifference[] = [];
  const locked = new Map(before.files.map((file) => [file.path, file]));
  for (const path of [...new Set([...locked.keys(), ...after.tree.keys()])].toSorted(compareCodePoints)) {
    const [kept, now] = [before.tree.get(path), after.tree.get(path)];
    const old = kept === undefined ? locked.get(path) : { ...kept, digest: digestOf(kept.bytes) };
    const isMode = old !== undefined && now !== undefined && old.executable !== now.executable;
    if (!isMode && old !== undefined && now !== undefined && old.digest === digestOf(now.bytes)) continue;
    const isUnknown = old !== undefined && kept === undefined;
    const [left, right] = [isUnknown ? undefined : textOf(kept?.bytes), textOf(now?.bytes)];
    const lines =
      left === undefined || right === undefined
        ? undefined
        : createTwoFilesPatch(path, path, left, right, '', '', { context: 3, maxEditLength: EDITS });
    files.push({
      path,
      state: old === undefined ? 'added' : now === undefined ? 'removed' : 'changed',
      ...(now !== undefined && (isMode || (old === undefined && now.executable)) ? { executable: now.executable } : {}),
      ...(lines === undefined ? {} : { lines: withoutHead(lines) }),
    });
  }
  const [had, has] = [toolsOf(before.skill), toolsOf(after.skill)];
  const tools = { added: has.filter((id) => !had.includes(id)), removed: had.filter((id) => !has.includes(id)) };
  return { files, tools, findings: findingsOf(before.tree, after.tree) };
}

/** A patch without the lines that repeat its path; a patch of equal texts has no other lines. */
function withoutHead(patch: string): string {
  const first = patch.indexOf('\n@@ ');
  return first === -1 ? '' : patch.slice(first + 1);
}

function toolsOf(skill: Pick<Skill, 'tools' | 'fields'> | undefined): string[] {
  return [...new Set([...(skill?.tools.map(({ id }) => id) ?? []), ...(skill?.fields.allowedTools ?? [])])];
}

/** A finding that only moved to another line does not count as new. */
function findingsOf(before: SkillTree, after: SkillTree): SkillDifference['findings'] {
  const [had, has] = [scanTree(before).findings, scanTree(after).findings];
  const keyOf = ({ code, path, message }: ScanFinding): string => JSON.stringify([code, path, message]);
  const without = (rows: ScanFinding[], others: ScanFinding[]): ScanFinding[] => {
    const known = new Set(others.map(keyOf));
    return rows.filter((row) => !known.has(keyOf(row)));
  };
  return { added: without(has, had), removed: without(had, has) };
}

/** Undefined for a file that is not text; a missing file counts as empty. */
function textOf(bytes: Uint8Array | undefined): string | undefined {
  if (bytes === undefined) return '';
  if (bytes.length > TEXT_FILE_LIMIT || bytes.includes(0)) return undefined;
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    // Not UTF-8.
    return undefined;
  }
}
