import { createRequire } from 'node:module';
import type { DestinationStream, Logger, pino as Pino } from 'pino';

const require = createRequire(import.meta.url);

/** Names of fields whose values are redacted, at the first three depths. */
const SECRET_FIELDS = ['apiKey', 'api_key', 'authorization', 'cookie', 'env', 'key', 'password', 'secret', 'token'];

/** Options of {@link createLogger}. */
export interface LoggerOptions {
  /** @default 'info' */
  level?: 'trace' | 'debug' | 'info' | 'warn' | 'error';
  /** @default the standard error stream */
  destination?: DestinationStream;
}

/**
 * Creates a logger for an orchestrator: one JSON object in each line, with secrets redacted. The output of programs is never logged,
 * so a program cannot forge a line.
 *
 * @example
 * ```ts
 * import { createLogger } from 'skillcell';
 *
 * const lines: string[] = [];
 * const logger = createLogger({ level: 'warn', destination: { write: (line) => lines.push(line) } });
 * logger.info('too little to be told');
 * logger.warn({ jobId: 'j1', apiKey: 'sk-1' }, 'slow');
 * for (const line of lines) console.log(JSON.parse(line).msg, JSON.parse(line).apiKey);
 * // prints: slow [redacted]
 * ```
 */
export function createLogger(options: LoggerOptions = {}): Logger {
  const paths = SECRET_FIELDS.flatMap((name) => [name, `*.${name}`, `*.*.${name}`]);
  // Most orchestrators log nothing, and the package takes longer to load than all modules of skillcell.
  const { pino } = require('pino') as { pino: typeof Pino };
  return pino(
    { name: 'skillcell', level: options.level ?? 'info', redact: { paths, censor: '[redacted]' } },
    options.destination ?? pino.destination({ fd: 2, sync: true }),
  );
}
