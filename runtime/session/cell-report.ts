import { type Diagnostic, diagnostic } from '../../src/contracts/errors/diagnostic.ts';
import { MOST_RESULTS, RESULT_BYTES } from '../../src/contracts/jobs/session.ts';
import type { ShownResults } from './shown-results.ts';

/** The report of an interpreter on a finished run. Only its form is trusted. */
export interface CellReport {
  /** Exit code of the last command of a shell, or of the exit that ended the run. */
  code: number | undefined;
  error: unknown;
  /** JSON text of the value, its byte count if it is over its cap, or any other value. */
  json: unknown;
  diagnostics: Diagnostic[];
}

/** Reads the report of a run. Its results have arrived earlier. */
export function readCellReport(fields: Record<string, unknown>, shown: ShownResults): CellReport {
  const { code, error, dropped, asValue } = fields;
  const rest = shown.takeRest();
  const diagnostics: Diagnostic[] = [];
  // A shell has no JSON: its bytes are the value.
  const isValue = asValue === true && rest !== undefined;
  if (shown.isDoubtful || (!isValue && rest?.length !== 0))
    diagnostics.push(omitted('results are left out: they differ from the announcement of the interpreter'));
  if (typeof dropped === 'number' && dropped > 0)
    diagnostics.push(
      omitted(
        `${Math.trunc(dropped)} results are left out: a run shows at most ${MOST_RESULTS} results of ${RESULT_BYTES} bytes together`,
      ),
    );
  return {
    code: typeof code === 'number' && Number.isInteger(code) ? code & 255 : undefined,
    error,
    json: isValue ? rest.toString() : fields['json'],
    diagnostics,
  };
}

function omitted(message: string): Diagnostic {
  return diagnostic('result.omitted', `${message}.`);
}
