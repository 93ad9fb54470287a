import { SkillcellError } from '../../contracts/errors/skillcell-error.ts';
import type { CliIo } from './cli-io.ts';
import type { CliOutput } from './cli-output.ts';
import { diagnosticLine } from './diagnostic-line.ts';

/**
 * Prints an error in the documented form and returns the exit code. With `--json` one document goes to stdout.
 *
 * @param thrown any value; values other than `SkillcellError` and errors of the file system count as faults of skillcell
 */
export async function reportError(thrown: unknown, output: CliOutput, json: boolean, io: CliIo): Promise<number> {
  const error = SkillcellError.isInstance(thrown) ? thrown : await understood(thrown);
  if (json) {
    const { code, message, hint, diagnostics } = error;
    await output.json({ error: { code, message, hint, ...(diagnostics.length > 0 && { diagnostics }) } });
  } else {
    for (const line of messageLines(error)) await output.note(line);
    for (const found of error.diagnostics) await output.note(`  ${diagnosticLine(found)}`);
    await output.note(error.hint);
  }
  if (io.env['SKILLCELL_DEBUG']) {
    for (const line of String(thrown instanceof Error ? thrown.stack : thrown).split('\n')) await output.note(line);
  }
  return error.entry.exitCode;
}

/**
 * A message is one line, since names in it may hold line breaks to forge another. Only the difference of a recording has
 * lines of its own; they are indented, and each begins with its mark.
 */
function messageLines({ code, message }: SkillcellError): string[] {
  if (code !== 'model.replay-mismatch') return [message];
  const [first = '', ...difference] = message.split('\n');
  return [first, ...difference.map((line) => `  ${line}`)];
}

async function understood(thrown: unknown): Promise<SkillcellError> {
  const { fileSystemFault } = await import('../../durable/file-system-fault.ts');
  return fileSystemFault(thrown) ?? fault(thrown);
}

function fault(thrown: unknown): SkillcellError {
  const reason = thrown instanceof Error ? thrown.message : String(thrown);
  return new SkillcellError('internal.fault', `Cannot go on: ${reason}`, { cause: thrown });
}
