import { createHash } from 'node:crypto';
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { createOrchestrator } from '../../src/jobs/create-orchestrator.ts';
import { createLocalRunner } from '../../src/sandboxes/local/local-runner.ts';
import { cachedRuntime } from '../../src/sandboxes/local/runtime-cache.ts';
import type { Runner } from '../../src/sandboxes/runner.ts';
import { ensureRuntime } from '../../src/sandboxes/runtime-bundle.ts';
import { changedRunner } from '../fixtures/changed-container.ts';
import { ALL_NETWORK_LEVELS, requireNetworkLevel } from '../fixtures/egress/network-levels.ts';
import { programAnswer, scriptedModel } from '../fixtures/scripted-model.ts';

/** Sandboxes that fail when they load a file of the runtime. */
interface FailingSandboxes extends AsyncDisposable {
  runner: Runner;
  /** The file. */
  name: string;
}

async function failAt(pattern: RegExp, level: 'namespace' | 'container'): Promise<FailingSandboxes> {
  const whole = await ensureRuntime();
  const name = Object.keys(whole.files).find((path) => pattern.test(path)) ?? '';
  const text = `throw new Error('${name} was loaded');`;
  const parent = mkdtempSync(join(tmpdir(), 'skillcell-runtime-'));
  const folder = join(parent, 'bundle');
  cpSync(whole.folder, folder, { recursive: true });
  writeFileSync(join(folder, name), text);
  // A unique digest, so that no other runner takes the copy in the cache.
  const bundle = {
    folder,
    digest: `sha256:${parent}`,
    files: { ...whole.files, [name]: createHash('sha256').update(text).digest('hex') },
  };
  const binds = [`${join(folder, name)}:/opt/skillcell/${name}:ro`];
  const runner =
    level === 'namespace'
      ? createLocalRunner({ bundle })
      : changedRunner({ options: ({ HostConfig }) => void (HostConfig.Binds = binds) });
  return {
    runner,
    name,
    async [Symbol.asyncDispose]() {
      if (level === 'namespace') rmSync(await cachedRuntime(bundle), { recursive: true });
      rmSync(parent, { recursive: true });
    },
  };
}

const WITH_NETWORK = { network: ['api.test'] };
const WITH_PACKAGES = { packages: { npm: ['is-odd'] } };

describe.each(ALL_NETWORK_LEVELS)('at level %s', (isolation) => {
  test.for([
    ['door', /^network\.cjs$/, { needs: [WITH_NETWORK, WITH_PACKAGES], lacks: [] }],
    ['installer', /^entry-install-packages-\w+\.cjs$/, { needs: [WITH_PACKAGES], lacks: [WITH_NETWORK] }],
  ] as const)('a sandbox loads no %s for a job that does not need it', async ([, pattern, jobs], context) => {
    requireNetworkLevel(context, isolation);
    await using sandboxes = await failAt(pattern, isolation);
    await using orchestrator = createOrchestrator({
      runners: [sandboxes.runner],
      model: scriptedModel([programAnswer('javascript', 'export default 42;')]),
      network: { allow: ['api.test'], packages: { npm: ['*'] } },
    });
    const job = { isolation, code: 'export default 42;' };
    for (const lacks of [{}, ...jobs.lacks])
      expect(await orchestrator.exec({ ...job, ...lacks })).toMatchObject({ outcome: 'succeeded', value: 42 });
    const generated = await orchestrator.codegen({ isolation, task: 'The number.' });
    expect(generated).toMatchObject({ outcome: 'succeeded', value: 42 });
    await using session = await orchestrator.session({ isolation, language: 'javascript' });
    expect(await session.run('40 + 2')).toMatchObject({ outcome: 'succeeded' });
    for (const needs of jobs.needs)
      await expect(orchestrator.exec({ ...job, ...needs })).rejects.toThrow(`${sandboxes.name} was loaded`);
  });
});
