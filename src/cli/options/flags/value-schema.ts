import { JsonRefused, parseBoundedJson } from '../../../protocol/channel/bounded-json.ts';
import type { CliIo } from '../../terminal/cli-io.ts';
import { readInputFile } from '../../terminal/input-file.ts';
import { usageError } from '../../terminal/usage-error.ts';

const FLAG = '--value-schema';
const SCHEMA_BYTES = 1024 * 1024;

/** Reads the file of `--value-schema`. Keywords that cannot be enforced are refused later, with the job. @throws SkillcellError `usage.invalid` or `file.unreadable` */
export function valueSchemaFromFlag(path: string, io: CliIo): Record<string, unknown> {
  const bytes = readInputFile(FLAG, path, SCHEMA_BYTES, io);
  const schema = parseSchema(bytes, path);
  if (typeof schema !== 'object' || schema === null || Array.isArray(schema))
    throw usageError(FLAG, 'it must hold an object with a JSON schema', path);
  return schema as Record<string, unknown>;
}

function parseSchema(bytes: Uint8Array, path: string): unknown {
  try {
    return parseBoundedJson(bytes, { maxBytes: SCHEMA_BYTES });
  } catch (error) {
    if (!(error instanceof JsonRefused)) throw error;
    throw usageError(FLAG, `it must hold JSON (${error.message})`, path);
  }
}
