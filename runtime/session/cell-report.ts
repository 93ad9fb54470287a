import { type Diagnostic, diagnostic } from '../../src/contracts/errors/diagnostic.ts';
import { MOST_RESULTS, RESULT_BYTES } from '../../src/contracts/jobs/session.ts';
import type { ShownResults } from './shown-results.ts';

/** What an interpreter says of a run that is over. Nothing in it is believed but its form. */
export interface CellReport {
  /** Exit code of the last command of a shell, or of what ended the run. */
  code: number | undefined;
  error: unknown;
  /** JSON text of the value, the bytes of one that is over its cap, or whatever stands in its place. */
  json: unknown;
  diagnostics: Diagnostic[];
}

/** Reads the report of a run, whose results have come ahead of it. */
export function readCellReport(fields: Record<string, unknown>, shown: ShownResults): CellReport {
  const { code, error, dropped, asValue } = fields;
  const rest = shown.takeRest();
  const diagnostics: Diagnostic[] = [];
  // A shell has no JSON of its own: the bytes are those of its value.
  const isValue = asValue === true && rest !== undefined;
  if (shown.isDoubtful || (!isValue && rest?.length !== 0))
    diagnostics.push(omitted('results are left out: they are not what the interpreter announced'));
  if (typeof dropped === 'number' && dropped > 0)
    diagnostics.push(
      omitted(
        `${Math.trunc(dropped)} results are left out: a run shows at most ${MOST_RESULTS} of them, of ${RESULT_BYTES} bytes`,
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
