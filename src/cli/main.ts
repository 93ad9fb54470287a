import { packageVersion } from '../contracts/package-root.ts';
import type { CliIo } from './terminal/cli-io.ts';
import { createCliOutput } from './terminal/cli-output.ts';
import { helpText } from './command-line/help-text.ts';
import { type Interruption, listenForInterruption } from './terminal/interruption.ts';
import { watchLauncher } from './terminal/launcher-watch.ts';
import { readCommandLine, wantsJson } from './command-line/read-command-line.ts';
import { reportError } from './terminal/report-error.ts';

/** How long pending output may take to leave after an interruption. */
const LINGER_MS = 200;

/**
 * Runs one command line.
 *
 * @param argv the words after the name of the program
 * @param io the process around it
 * @returns the exit code: 0 done, 1 the user's program failed, 2 usage or bad input, 3 this machine cannot do it, 4 a
 * fault of skillcell, 130 interrupted (other signals: 128 and their number)
 */
export async function main(argv: readonly string[], io: CliIo): Promise<number> {
  watchLauncher(io.env);
  const interruption = listenForInterruption(io);
  const output = createCliOutput(io, interruption);
  const json = wantsJson(argv);
  let code: number;
  try {
    const line = readCommandLine(argv);
    if (line.kind === 'run') {
      const run = await line.command.load();
      code = await run({ io, output, interruption, arguments: line.arguments, json });
    } else {
      await output.text(line.kind === 'help' ? helpText(line.path) : `${packageVersion()}\n`);
      code = 0;
    }
  } catch (error) {
    code = interrupted(interruption, error) ? 0 : await reportError(error, output, json, io);
  }
  await output.flush();
  interruption.release();
  const { exitCode } = interruption;
  if (exitCode === undefined) return code;
  // A stuck reader must not keep an interrupted command alive.
  setTimeout(() => io.exit(exitCode), LINGER_MS).unref();
  return exitCode;
}

/** Whether an error is only the interruption, which the exit code reports. */
function interrupted({ signal }: Interruption, error: unknown): boolean {
  return signal.aborted && (error === signal.reason || (error instanceof Error && error.name === 'AbortError'));
}
