import { expect, it } from 'vitest';
import type { ExecOptions } from '../../src/contracts/jobs/job.ts';
import type { JobResult } from '../../src/contracts/jobs/result.ts';
import { programChecks } from '../../src/evals/plan/program-check.ts';

const NONE = { text: '', bytes: 0, truncated: false };
const result = { outcome: 'succeeded', exitCode: 0, stdout: NONE, stderr: NONE, omitted: [] } as unknown as JobResult;

/** The job that runs a check. */
async function jobOf(path: string, code: string, product: Partial<JobResult> = {}): Promise<ExecOptions> {
  const jobs: ExecOptions[] = [];
  const tree = new Map([[path, { bytes: Buffer.from(code) }]]);
  const check = programChecks(tree, async (options) => {
    jobs.push(options);
    return result;
  })(path, 'evals.0.assertions.0.program');
  await check({ result: { ...result, ...product }, files: new Map() });
  return jobs[0] as ExecOptions;
}

it.each([
  ['evals/agree.mjs', 'agree.mjs'],
  ['evals/(agree).mjs', 'main.mjs'],
  ['evals/agree.(old)', 'main'],
])('a check in %s runs as %s, which a job takes', async (path, fileName) => {
  expect(await jobOf(path, '#!/usr/bin/env node\nexport default true;')).toMatchObject({ fileName });
});

it('a check learns which artifacts were left out', async () => {
  const omitted = [{ path: 'a', reason: 'a symbolic link' }];
  const { files } = await jobOf('evals/agree.mjs', 'export default true;', { omitted });
  const [run] = files as { bytes: Uint8Array }[];
  expect(JSON.parse(Buffer.from(run?.bytes ?? []).toString())).toMatchObject({ artifacts: [], omitted });
});
