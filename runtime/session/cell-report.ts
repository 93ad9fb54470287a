import { type Diagnostic, diagnostic } from '../../src/contracts/diagnostic.ts';
import { isMediaType, MOST_FORMS, MOST_RESULTS, RESULT_BYTES } from '../../src/contracts/session.ts';
import type { ResultForm } from '../../src/protocol/session-messages.ts';

/** What an interpreter says of a run that is over. Nothing in it is believed but its form. */
export interface CellReport {
  /** Exit code of the last command, of a shell. */
  code: number | undefined;
  error: unknown;
  /** JSON text of the value, the bytes of one that is over its cap, or whatever stands in its place. */
  json: unknown;
  forms: ResultForm[][];
  bytes: Buffer;
  diagnostics: Diagnostic[];
}

/** Bytes of results as they come ahead of the report; what is over the cap is counted only. */
export interface ResultBytes {
  take(chunk: Buffer): void;
  read(): { bytes: Buffer; whole: boolean };
}

/** Collects the bytes of the results of one run. */
export function collectResultBytes(): ResultBytes {
  const chunks: Buffer[] = [];
  let size = 0;
  return {
    take(chunk) {
      size += chunk.length;
      if (size <= RESULT_BYTES) chunks.push(Buffer.from(chunk));
    },
    read: () => ({ bytes: Buffer.concat(chunks), whole: size <= RESULT_BYTES }),
  };
}

/** Reads the report of a run. Results that are not as they are announced are left out, with a diagnostic. */
export function readCellReport(fields: Record<string, unknown>, arrived: ResultBytes): CellReport {
  const { code, error, results, dropped, asValue } = fields;
  const diagnostics: Diagnostic[] = [];
  const read = arrived.read();
  // A shell has no JSON of its own: the bytes are those of its value.
  const isValue = asValue === true && read.whole;
  const json = isValue ? read.bytes.toString() : fields['json'];
  const { bytes, whole } = isValue ? { bytes: Buffer.alloc(0), whole: true } : read;
  const forms = readForms(results);
  const announced = forms?.flat().reduce((sum, form) => sum + form.bytes, 0);
  const isTrue = whole && forms !== undefined && announced === bytes.length;
  if (!isTrue) diagnostics.push(omitted('results are left out: they are not what the interpreter announced'));
  if (typeof dropped === 'number' && dropped > 0)
    diagnostics.push(
      omitted(
        `${Math.trunc(dropped)} results are left out: a run shows at most ${MOST_RESULTS} of them, of ${RESULT_BYTES} bytes`,
      ),
    );
  return {
    code: typeof code === 'number' && Number.isInteger(code) ? code & 255 : undefined,
    error,
    json,
    forms: isTrue ? forms : [],
    bytes: isTrue ? bytes : Buffer.alloc(0),
    diagnostics,
  };
}

function omitted(message: string): Diagnostic {
  return diagnostic('result.omitted', `${message}.`);
}

function readForms(given: unknown): ResultForm[][] | undefined {
  if (given === undefined) return [];
  if (!Array.isArray(given) || given.length > MOST_RESULTS) return undefined;
  const read = given.map((forms: unknown) =>
    Array.isArray(forms) && forms.length > 0 && forms.length <= MOST_FORMS ? forms.map(readForm) : undefined,
  );
  return read.every((forms) => forms?.every((form) => form !== undefined) === true)
    ? (read as ResultForm[][])
    : undefined;
}

function readForm(given: unknown): ResultForm | undefined {
  if (!Array.isArray(given) || given.length !== 2) return undefined;
  const [mediaType, bytes] = given as unknown[];
  if (typeof mediaType !== 'string' || !isMediaType(mediaType)) return undefined;
  return typeof bytes === 'number' && Number.isInteger(bytes) && bytes >= 0 && bytes <= RESULT_BYTES
    ? { mediaType, bytes }
    : undefined;
}
