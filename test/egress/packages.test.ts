import { existsSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test, type TestContext } from 'vitest';
import type { ExecOptions } from '../../src/contracts/jobs/job.ts';
import type { JobResult } from '../../src/contracts/jobs/result.ts';
import { createOrchestrator } from '../../src/jobs/create-orchestrator.ts';
import type { Orchestrator } from '../../src/jobs/orchestrator.ts';
import { networkRunners, requireNetworkLevel, NETWORK_LEVELS } from '../fixtures/egress/network-levels.ts';
import { type Registries, startRegistries } from '../fixtures/egress/registries.ts';
import { requireHere } from '../fixtures/describe-with.ts';

let registries: Registries;
let orchestrator: Orchestrator;

beforeAll(async () => {
  registries = await startRegistries();
  orchestrator = createOrchestrator({
    runners: await networkRunners(),
    network: {
      ...registries.upstream.network([]),
      packages: {
        npm: ['tiny-*', 'scripted', 'with-*', '@acme/*'],
        pypi: ['tiny*', 'with*', 'SourceOnly'],
        index: registries.index,
      },
    },
  });
}, 300_000);
afterAll(async () => {
  await orchestrator?.close();
  await registries?.[Symbol.asyncDispose]();
});

describe.each(NETWORK_LEVELS)('at level %s', (isolation) => {
  const requireInstallers = (context: TestContext): void => {
    requireNetworkLevel(context, isolation);
    if (isolation === 'container') return;
    for (const path of ['/usr/bin/npm', '/usr/lib/python3/dist-packages/pip'])
      requireHere(context, existsSync(path) ? undefined : path);
  };
  const exec = async (context: TestContext, job: Omit<ExecOptions, 'isolation'>): Promise<JobResult> => {
    requireInstallers(context);
    return await orchestrator.exec({ ...job, isolation });
  };

  test('a program of JavaScript imports a package of npm and its dependency', async (context) => {
    const code = "import odd from 'tiny-odd'; export default odd(3);";
    const result = await exec(context, { code, packages: { npm: ['tiny-odd@3'] } });
    expect(result.error).toBeUndefined();
    expect(result.value).toBe(true);
    expect(result.packages).toMatchObject([
      { registry: 'npm', name: 'tiny-number', version: '6.0.0', digest: expect.stringMatching(/^sha512-/) as string },
      { registry: 'npm', name: 'tiny-odd', version: '3.0.1' },
    ]);
  });

  test('a program of Python imports a package of the index and its dependency', async (context) => {
    const code = 'import skillcell, tinypkg\nskillcell.set_value(tinypkg.value)';
    const result = await exec(context, { language: 'python', code, packages: { pypi: ['tinypkg==1.0'] } });
    expect(result.error).toBeUndefined();
    expect(result.value).toBe(42);
    expect(result.packages?.map(({ name, version }) => `${name} ${version}`).toSorted()).toEqual([
      'tinydep 2.0',
      'tinypkg 1.0',
    ]);
  });
});
