import type { Reporter, SerializedError, TestCase, TestModule, Vitest } from 'vitest/node';

/** Result of a test run. A file that cannot be loaded and an error outside any test count as one failure each. */
export interface TestCounts {
  passed: number;
  failed: number;
  skipped: number;
}

/** The reason shown for a test that was skipped without a reason. */
const NO_REASON = 'no reason given';
/** The reason shown for a test that the command line excluded. */
const NOT_CHOSEN = 'not chosen by -t';

/**
 * Ends the output of a run with one line, `N passed, N failed, N skipped`, after one line for each reason of skipped tests. With `CI` set, a skip
 * without a reason fails the run.
 */
export default class ClosingLineReporter implements Reporter {
  #chosenByName = false;

  onInit(vitest: Vitest): void {
    this.#chosenByName = vitest.config.testNamePattern !== undefined;
  }

  onTestRunEnd(modules: readonly TestModule[], unhandledErrors: readonly SerializedError[]): void {
    const counts: TestCounts = { passed: 0, failed: unhandledErrors.length, skipped: 0 };
    const skips = new Map<string, number>();
    const unexplained: string[] = [];
    for (const module of modules) {
      counts.failed += errorsOutsideTests(module);
      for (const test of module.children.allTests()) {
        const { state } = test.result();
        // A test without a result was cut off when the run ended.
        counts[state === 'pending' ? 'failed' : state] += 1;
        if (state !== 'skipped') continue;
        const reason = reasonOf(test) ?? (this.#chosenByName ? NOT_CHOSEN : NO_REASON);
        skips.set(reason, (skips.get(reason) ?? 0) + 1);
        if (reason === NO_REASON) unexplained.push(`skipped: ${test.module.relativeModuleId} > ${test.fullName}`);
      }
    }
    if (unexplained.length > 0 && process.env['CI']) process.exitCode = 1;
    const lines = [...skips].toSorted(([, a], [, b]) => b - a).map(([reason, count]) => `skipped ${count}: ${reason}`);
    // Other reporters write until the process ends, but this must be the last line.
    process.once('exit', () => {
      if (counts.failed > 0) process.exitCode = 1;
      process.stdout.write([...unexplained, ...lines, closingLine(counts), ''].join('\n'));
    });
  }
}

/** The last line of a test run. */
export function closingLine({ passed, failed, skipped }: TestCounts): string {
  return `${passed} passed, ${failed} failed, ${skipped} skipped`;
}

function errorsOutsideTests(module: TestModule): number {
  let errors = module.errors().length;
  for (const suite of module.children.allSuites()) errors += suite.errors().length;
  return errors;
}

/** The first line of the reason; later lines may differ from test to test. */
function reasonOf(test: TestCase): string | undefined {
  const result = test.result();
  return result.state === 'skipped' ? result.note?.split('\n')[0] : undefined;
}
