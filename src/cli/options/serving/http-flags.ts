import { type CommandContext, flagValue } from '../flags/command.ts';
import { decodeInput, readSecretFile } from '../../terminal/input-file.ts';
import { usageError } from '../../terminal/usage-error.ts';
import { parseNumber } from '../flags/parse-number.ts';

const PORTS = { minimum: 0, maximum: 65_535, unit: 'the port' };
const TOKEN_FILE_BYTES = 4_096;
/** The characters that RFC 6750 allows in a header; 16 of them cannot be guessed. */
const TOKEN = /^[A-Za-z0-9._~+/-]{16,512}=*$/;

/** The port to listen at, and the token that requests must have. */
export interface HttpFlags {
  port: number;
  token: string;
}

/** Reads `--http PORT --token-file FILE`; undefined without them. @throws SkillcellError `usage.invalid` or `file.unreadable` */
export function httpFromFlags({ arguments: given, io }: CommandContext): HttpFlags | undefined {
  const [http, file] = [flagValue(given, 'http'), flagValue(given, 'token-file')];
  if (http === undefined) {
    if (file !== undefined) throw usageError('--token-file', 'it works only with --http PORT', file);
    return undefined;
  }
  const port = parseNumber('--http', http, PORTS);
  if (file === undefined) throw usageError('--http', 'clients need a token: add --token-file FILE', http);
  const about = '--token-file';
  const token = decodeInput(about, readSecretFile(about, file, TOKEN_FILE_BYTES, io), file).trim();
  if (!TOKEN.test(token)) {
    throw usageError(about, 'it must hold one token of 16 to 512 letters, digits and - . _ ~ + /', file);
  }
  return { port, token };
}
