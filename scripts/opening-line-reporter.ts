import type { Reporter, TestSpecification, Vitest } from 'vitest/node';
import { filesOf, suitePart } from './suite-parts.ts';
import { outlookLine, testOutlook } from './test-outlook.ts';

/** Prints one line before the tests: the missing parts of the machine, the packages that provide them, and the duration of the tests. */
export default class OpeningLineReporter implements Reporter {
  #vitest: Vitest | undefined;

  onInit(vitest: Vitest): void {
    this.#vitest = vitest;
  }

  async onTestRunStart(specifications: readonly TestSpecification[]): Promise<void> {
    const { root, testNamePattern } = this.#vitest?.config ?? { root: '.' };
    const part = suitePart();
    const isWhole = specifications.length === filesOf(part, root).length && testNamePattern === undefined;
    const line = outlookLine(await testOutlook(part), isWhole);
    if (line !== '') process.stdout.write(`${line}\n\n`);
  }
}
