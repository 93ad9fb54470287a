import { type Language, programFileName } from '../contracts/jobs/language.ts';
import { findLanguage } from '../languages/languages.ts';
import { shownPathFault } from '../protocol/files/shown-path.ts';
import { writeBeneath } from '../durable/write-beneath.ts';
import { writeFailed } from '../durable/write-failed.ts';
import type { MadeEvalRun } from './make-run.ts';

/** Names that an evaluation writes into its folder; a folder with one of them is taken. */
export const EVAL_OUTPUT = ['runs', 'summary.json', 'table.txt'] as const;

/**
 * Writes the output of one run below a folder: `runs/<eval>/<side>-<run>/` with `run.json`, the answers of the model, the job's `result.json`, a program
 * for each attempt and the `artifacts/`. Nothing is written through a link.
 *
 * @throws SkillcellError `artifact.write-failed`
 */
export async function writeRun(
  folder: string,
  { row, result, files, answers }: MadeEvalRun,
  language: Language,
): Promise<void> {
  const place = `runs/${row.eval}/${row.side}-${row.run}`;
  await writeEvalFile(folder, `${place}/run.json`, json(row));
  for (const [index, { text }] of answers.entries())
    await writeEvalFile(folder, `${place}/answer-${index + 1}.md`, text);
  if (result === undefined) return;
  await writeEvalFile(folder, `${place}/result.json`, json(result));
  for (const [index, { code, files: further = [] }] of (result.codegen?.attempts ?? []).entries()) {
    const definition = findLanguage(language);
    const name = `program-${index + 1}`;
    if (code !== '')
      await writeEvalFile(
        folder,
        `${place}/${definition === undefined ? name : programFileName(definition, name)}`,
        code,
      );
    // Names of files from the sandbox are not checked yet.
    for (const file of further.filter(({ path }) => shownPathFault(path) === undefined))
      await writeEvalFile(folder, `${place}/${name}-files/${file.path}`, file.code);
  }
  for (const [path, bytes] of files) await writeEvalFile(folder, `${place}/artifacts/${path}`, bytes);
}

/** Writes one file below a folder. @throws SkillcellError `artifact.write-failed` */
export async function writeEvalFile(folder: string, path: string, content: string | Uint8Array): Promise<void> {
  try {
    await writeBeneath(folder, path, typeof content === 'string' ? Buffer.from(content) : content);
  } catch (cause) {
    throw writeFailed('write the results of the eval', `${folder}/${path}`, cause);
  }
}

function json(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}
