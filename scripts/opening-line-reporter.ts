import { globSync } from 'node:fs';
import type { Reporter, TestSpecification, Vitest } from 'vitest/node';
import { outlookLine, testOutlook } from './test-outlook.ts';

/** Says in one line, before the tests, what this machine lacks for them, what brings it, and how long they take. */
export default class OpeningLineReporter implements Reporter {
  #vitest: Vitest | undefined;

  onInit(vitest: Vitest): void {
    this.#vitest = vitest;
  }

  async onTestRunStart(specifications: readonly TestSpecification[]): Promise<void> {
    const { root, testNamePattern } = this.#vitest?.config ?? { root: '.' };
    const files = globSync('test/**/*.test.ts', { cwd: root }).length;
    const line = outlookLine(await testOutlook(), specifications.length === files && testNamePattern === undefined);
    if (line !== '') process.stdout.write(`${line}\n\n`);
  }
}
