import type { Reporter, TestModule } from 'vitest/node';
import { suitePart } from './suite-parts.ts';
import { testOutlook } from './test-outlook.ts';

/** How far the number of skipped tests may be from what the line before the run says, as a share of it. */
const TOLERANCE = 0.25;

/** Fails a whole run of a part of the tests whose opening line was far from the truth. */
export default class OutlookCheckReporter implements Reporter {
  async onTestRunEnd(modules: readonly TestModule[]): Promise<void> {
    const tests = modules.flatMap((module) => [...module.children.allTests()]);
    const skipped = tests.filter((test) => test.result().state === 'skipped').length;
    const { leftOut } = await testOutlook(suitePart());
    if (Math.abs(skipped - leftOut) <= TOLERANCE * leftOut) return;
    process.exitCode = 1;
    process.stderr.write(
      `Cannot foretell how many tests are skipped here: ${leftOut} were announced, got ${skipped}. Mend the numbers of scripts/test-outlook.ts.\n`,
    );
  }
}
