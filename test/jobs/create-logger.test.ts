import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { createLogger, type LoggerOptions } from '../../src/jobs/create-logger.ts';

const MODULE = fileURLToPath(new URL('../../src/jobs/create-logger.ts', import.meta.url));

/** The lines of a logger whose destination is memory. */
function linesOf(level: LoggerOptions['level'], log: (logger: ReturnType<typeof createLogger>) => void): unknown[] {
  const lines: unknown[] = [];
  const destination = { write: (line: string) => void lines.push(JSON.parse(line)) };
  log(createLogger(level === undefined ? { destination } : { level, destination }));
  return lines;
}

describe('createLogger()', () => {
  it.each([
    [undefined, ['info', 'warn', 'error']],
    ['debug', ['debug', 'info', 'warn', 'error']],
    ['error', ['error']],
  ] as const)('with the level %s writes the levels %j, each under the name of the package', (level, expected) => {
    const lines = linesOf(level, (logger) => {
      for (const name of ['trace', 'debug', 'info', 'warn', 'error'] as const) logger[name](name);
    });
    expect(lines).toMatchObject(expected.map((msg) => ({ name: 'skillcell', msg })));
  });

  it('redacts secrets at the first three depths, and nothing else', () => {
    const secrets = { apiKey: 'a', api_key: 'a', authorization: 'a', cookie: 'a', env: { A: 'a' }, key: 'a' };
    const fields = { ...secrets, password: 'a', secret: 'a', token: 'a' };
    const hidden = Object.fromEntries(Object.keys(fields).map((name) => [name, '[redacted]']));
    const [line] = linesOf(undefined, (logger) =>
      logger.info({ jobId: 'j', ...fields, one: { jobId: 'j', ...fields, two: { jobId: 'j', ...fields } } }, 'a'),
    );
    expect(line).toMatchObject({
      msg: 'a',
      jobId: 'j',
      ...hidden,
      one: { jobId: 'j', ...hidden, two: { jobId: 'j', ...hidden } },
    });
  });

  it('without options writes to the standard error stream, before the process exits', () => {
    const program = `
      import { createLogger } from ${JSON.stringify(MODULE)};
      createLogger().warn('late');
      process.exit(0);`;
    const words = ['-c', '"$0" --input-type=module-typescript -e "$1" 2>&1 >/dev/null', process.execPath, program];
    expect(JSON.parse(execFileSync('/bin/sh', words, { encoding: 'utf8' }))).toMatchObject({ level: 40, msg: 'late' });
  });
});
