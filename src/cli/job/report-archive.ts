import type { Diagnostic } from '../../contracts/errors/diagnostic.ts';
import type { SkillTree } from '../../contracts/skills/skill.ts';
import { skillDigest } from '../../skills/text/digest.ts';
import { listFiles } from '../../library/stores/cache/tree-cache.ts';
import type { CommandContext } from '../options/flags/command.ts';
import { diagnosticLine } from '../terminal/diagnostic-line.ts';
import { escapeLine } from '../terminal/escape-controls.ts';

/** Reports a packed or unpacked skill. @returns the exit code */
export async function reportArchive(
  { output, json }: CommandContext,
  written: { file: string; bytes: number } | { folder: string },
  tree: SkillTree,
  diagnostics: readonly Diagnostic[],
): Promise<number> {
  const files = listFiles(tree);
  const digest = skillDigest(files);
  if (json) {
    await output.json({ ...written, digest, files, diagnostics });
    return 0;
  }
  for (const found of diagnostics) await output.note(diagnosticLine(found));
  const bytes = 'bytes' in written ? written.bytes : files.reduce((sum, file) => sum + file.bytes, 0);
  const shown = 'file' in written ? written.file : written.folder;
  const count = `${files.length} ${files.length === 1 ? 'file' : 'files'}`;
  await output.text(`${escapeLine(shown)}: ${count}, ${bytes} bytes, ${digest}\n`);
  return 0;
}
