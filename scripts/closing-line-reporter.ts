import type { Reporter, SerializedError, TestCase, TestModule } from 'vitest/node';

/** How a run of the tests ended. A file that cannot be loaded and an error outside any test count as one failure each. */
export interface TestCounts {
  passed: number;
  failed: number;
  skipped: number;
}

/**
 * Ends the output of a run with one line, `N passed, N failed, N skipped`, after a list of the skipped tests and their
 * reasons. With `CI` set, a skip without a reason fails the run.
 */
export default class ClosingLineReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandledErrors: readonly SerializedError[]): void {
    const counts: TestCounts = { passed: 0, failed: unhandledErrors.length, skipped: 0 };
    const skips: string[] = [];
    for (const module of modules) {
      counts.failed += errorsOutsideTests(module);
      for (const test of module.children.allTests()) {
        const { state } = test.result();
        // A test that never got a result was cut off by whatever ended the run.
        counts[state === 'pending' ? 'failed' : state] += 1;
        if (state === 'skipped') skips.push(describeSkip(test));
      }
    }
    // Other reporters write until the process ends, and this has to be the last line.
    process.once('exit', () => {
      if (counts.failed > 0) process.exitCode = 1;
      process.stdout.write([...skips, closingLine(counts), ''].join('\n'));
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

function describeSkip(test: TestCase): string {
  const result = test.result();
  const note = result.state === 'skipped' ? result.note : undefined;
  if (note === undefined && process.env['CI']) process.exitCode = 1;
  return `skipped: ${test.module.relativeModuleId} > ${test.fullName}: ${note ?? 'no reason given'}`;
}
