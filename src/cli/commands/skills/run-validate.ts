import { realpathSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { fixFolders, type SkillFix } from '../../../authoring/fix/fix-folders.ts';
import { isSkillFileName, SKILL_FILE } from '../../../skills/load/files/skill-file-name.ts';
import { validateFolders, type ValidatedSkill } from '../../../skills/load/validate-folders.ts';
import type { CliIo } from '../../terminal/cli-io.ts';
import type { CommandContext } from '../../options/flags/command.ts';
import { unreadable } from '../../terminal/input-file.ts';
import { diagnosticLine } from '../../terminal/diagnostic-line.ts';
import { escapeLine } from '../../terminal/escape-controls.ts';
import { usageError } from '../../terminal/usage-error.ts';

/** `skillcell skills validate`, and `--fix`, which mends first: exit code 1 when a skill is not valid. */
export async function runValidate(context: CommandContext): Promise<number> {
  const { arguments: given, io, output, json, interruption } = context;
  const strict = given.flags.has('strict');
  const [fix, dryRun] = [given.flags.has('fix'), given.flags.has('dry-run')];
  if (dryRun && !fix) throw usageError('--dry-run', 'it works only with --fix', 'no --fix');
  // A check never yields, so it could not see a signal. With --fix, a file that is being replaced is completed first.
  if (!fix || dryRun) interruption.release();
  const folders = given.operands.map((path) => skillFolder(path, io));
  const fixes = fix
    ? folders.flatMap(({ path, shown }) =>
        fixFolders(path, { strict, dryRun }).map((each) => ({
          ...each,
          path: shownPath(each.path, realpathSync.native(path), shown),
        })),
      )
    : [];
  const rows = folders.flatMap(({ path, shown }) =>
    validateFolders(path, { strict }).map((row) => ({ ...row, path: shownPath(row.path, path, shown) })),
  );
  if (json) await output.json(fix ? { fixes, dryRun, skills: rows } : rows);
  else {
    for (const each of fixes) await output.text(`${dryRun ? 'would fix' : 'fixed'} ${fixLine(each)}\n`);
    for (const row of rows) await output.text(describe(row));
  }
  return rows.every(({ valid }) => valid) ? 0 : 1;
}

/** A path may name a skill folder, its SKILL.md, or a folder that holds skills. */
function skillFolder(path: string, io: CliIo): { path: string; shown: string } {
  const absolute = resolve(io.cwd(), path);
  const stats = path === '' ? undefined : statSync(absolute, { throwIfNoEntry: false });
  if (stats === undefined) throw unreadable('PATH', 'there is no such file or folder', path);
  if (stats.isDirectory()) return { path: absolute, shown: path };
  if (stats.isFile() && isSkillFileName(basename(absolute))) {
    return { path: dirname(absolute), shown: dirname(path) };
  }
  throw unreadable('PATH', `it must be a folder or a ${SKILL_FILE}`, path);
}

/** Rows name folders as the caller did. */
function shownPath(found: string, absolute: string, shown: string): string {
  return found === absolute ? shown : join(shown, found.slice(absolute.length + 1));
}

function fixLine({ path, line, what }: SkillFix): string {
  return escapeLine(`${path}${line === undefined ? '' : `:${line}`}: ${what}`);
}

function describe({ path, valid, id, diagnostics }: ValidatedSkill): string {
  const findings = diagnostics.map((found) => `  ${diagnosticLine(found)}\n`);
  return `${valid ? 'valid' : 'INVALID'} ${escapeLine(path)}${id === null ? '' : ` (${id})`}\n${findings.join('')}`;
}
