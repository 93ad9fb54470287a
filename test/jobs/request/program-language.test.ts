import { afterAll, describe, expect, it } from 'vitest';
import type { ExecOptions } from '../../../src/contracts/jobs/job.ts';
import type { JobResult } from '../../../src/contracts/jobs/result.ts';
import { createOrchestrator } from '../../../src/jobs/create-orchestrator.ts';
import { createLocalRunner } from '../../../src/sandboxes/local/local-runner.ts';
import { MISSING_PYTHON, requireHere } from '../../fixtures/describe-with.ts';

const orchestrator = createOrchestrator({ runners: [createLocalRunner()] });
afterAll(async () => await orchestrator.close());

const run = (options: ExecOptions): Promise<JobResult> => orchestrator.exec({ isolation: 'none', ...options });

describe('a program without a named language', () => {
  it('has the language of its file name, else of its first line, else JavaScript', async (context) => {
    requireHere(context, MISSING_PYTHON);
    for (const options of [
      { code: 'print("here")', fileName: 'a.py' },
      { code: '#!/usr/bin/env python3\nprint("here")', fileName: 'a' },
      { code: '#!/usr/bin/env python3\nprint("here")' },
      { code: 'console.log(require.main === module ? "here" : "")', fileName: 'a.cjs' },
      { code: 'console.log("here")' },
      { code: 'echo here\r\n', fileName: 'a.sh' },
    ]) {
      expect(await run(options), JSON.stringify(options)).toMatchObject({ stdout: { text: 'here\n' } });
    }
  });

  it('is refused if its file name or its first line names no known language', async () => {
    const languages = 'names none of bash, javascript, python, typescript.';
    await expect(run({ code: 'puts 1', fileName: 'a.rb' })).rejects.toMatchObject({
      code: 'job.invalid',
      message: `Cannot accept the job: language is missing and its file name "a.rb" ${languages}`,
    });
    await expect(run({ code: '#!/usr/bin/perl\nprint 1' })).rejects.toMatchObject({
      message: `Cannot accept the job: language is missing and its first line ${languages}`,
    });
    expect(await run({ code: 'echo here', fileName: 'a.rb', language: 'bash' })).toMatchObject({
      stdout: { text: 'here\n' },
    });
    await expect(run({ code: 'puts 1', language: 'ruby' })).rejects.toMatchObject({
      code: 'job.invalid',
      message: expect.stringMatching(
        /^Cannot accept the job: language must be .*bash, javascript, python, typescript, got "ruby"\./,
      ) as string,
    });
  });
});
