import { SkillcellError } from '../contracts/skillcell-error.ts';
import type { CliIo } from './cli-io.ts';
import type { CliOutput } from './cli-output.ts';

/**
 * Prints an error as the command line promises and gives the exit code. With `--json` one document goes to stdout.
 *
 * @param thrown whatever a command threw; what is no `SkillcellError` is a fault of ours
 */
export async function reportError(thrown: unknown, output: CliOutput, json: boolean, io: CliIo): Promise<number> {
  const error = SkillcellError.isInstance(thrown) ? thrown : fault(thrown);
  if (json) {
    await output.json({ error: { code: error.code, message: error.message, hint: error.hint } });
  } else {
    await output.note(error.message);
    for (const { severity, code, message, path } of error.diagnostics) {
      await output.note(`  ${severity} ${code}${path === undefined ? '' : ` ${path}`}: ${message}`);
    }
    await output.note(error.hint);
  }
  if (io.env['SKILLCELL_DEBUG']) {
    for (const line of String(thrown instanceof Error ? thrown.stack : thrown).split('\n')) await output.note(line);
  }
  return error.entry.exitCode;
}

function fault(thrown: unknown): SkillcellError {
  const reason = thrown instanceof Error ? thrown.message : String(thrown);
  return new SkillcellError('internal.fault', `Cannot go on: ${reason}`, { cause: thrown });
}
