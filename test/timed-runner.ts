import { type RunnerTestSuite, type RunnerTask, TestRunner } from 'vitest';

/** The last second, since 1970, in which a test or a suite may start. CI sets it for tests that a slow machine does not finish. */
const until = Number(process.env['SKILLCELL_TESTS_UNTIL'] ?? Infinity);
if (!(until > 0)) throw new Error('Cannot run tests: SKILLCELL_TESTS_UNTIL is not a number of seconds.');

const isLate = (): boolean => Date.now() / 1_000 > until;

/** Skips the tests that would start too late, and the hooks of their suites, which can take longer than the tests. */
export default class TimedRunner extends TestRunner {
  override async onBeforeRunSuite(suite: RunnerTestSuite): Promise<void> {
    if (isLate()) for (const hooks of Object.values(TestRunner.getSuiteHooks(suite))) hooks.length = 0;
    await super.onBeforeRunSuite(suite);
  }

  override async onBeforeRunTask(test: RunnerTask): Promise<void> {
    if (isLate()) Object.assign(test, { mode: 'skip', result: { state: 'skip', note: 'the time for tests is over' } });
    await super.onBeforeRunTask(test);
  }
}
