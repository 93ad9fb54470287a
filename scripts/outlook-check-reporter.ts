import type { Reporter, TestModule } from 'vitest/node';
import { suitePart } from './suite-parts.ts';
import { testOutlook } from './test-outlook.ts';

/** Allowed difference between the announced and the actual number of skipped tests, as a share of the announced number. */
const TOLERANCE = 0.25;

/** Fails a complete run of a part of the tests if its opening line was far off. */
export default class OutlookCheckReporter implements Reporter {
  async onTestRunEnd(modules: readonly TestModule[]): Promise<void> {
    const tests = modules.flatMap((module) => [...module.children.allTests()]);
    const skipped = tests.filter((test) => test.result().state === 'skipped').length;
    const { leftOut } = await testOutlook(suitePart());
    if (Math.abs(skipped - leftOut) <= TOLERANCE * leftOut) return;
    process.exitCode = 1;
    process.stderr.write(
      `Cannot predict the number of skipped tests: ${leftOut} were announced, got ${skipped}. Mend the numbers of scripts/test-outlook.ts.\n`,
    );
  }
}
