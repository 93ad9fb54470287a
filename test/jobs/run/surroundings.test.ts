import { existsSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { createOrchestrator } from '../../../src/jobs/create-orchestrator.ts';
import type { Orchestrator } from '../../../src/jobs/orchestrator.ts';
import { MISSING_MATPLOTLIB, MISSING_PYTHON, requireHere } from '../../fixtures/describe-with.ts';
import { type EachLevel, everyRunner, requireEachLevel } from '../../fixtures/every-level.ts';
import { requireLevel } from '../../fixtures/levels.ts';
import { until } from '../../fixtures/until.ts';
import { SURROUNDINGS, SURROUNDINGS_JOB } from '../../fixtures/surroundings-program.ts';

let orchestrator: Orchestrator;
beforeAll(async () => {
  orchestrator = createOrchestrator({ runners: await everyRunner() });
});
afterAll(() => orchestrator.close());

const ISOLATING: readonly EachLevel[] = ['namespace', 'container'];

describe.each(ISOLATING)('a program at level %s', (isolation) => {
  it('finds accounts, host names, services and temporary folders like on its own machine', async (context) => {
    requireEachLevel(context, isolation);
    const result = await orchestrator.exec({ ...SURROUNDINGS_JOB, isolation });
    expect(result.stderr.text).toBe('');
    expect(JSON.parse(result.stdout.text)).toEqual(SURROUNDINGS);
  });
});

it('a program at level namespace plots with a package that reads /etc, and so does its child', async (context) => {
  requireHere(context, MISSING_MATPLOTLIB);
  requireLevel(context, 'namespace');
  const code = `
import subprocess, sys
import matplotlib
matplotlib.use('Agg')
from matplotlib import pyplot
pyplot.plot([1, 2])
pyplot.savefig('plot.svg')
code = 'import matplotlib; print(matplotlib.matplotlib_fname())'
print(subprocess.run([sys.executable, '-c', code], capture_output=True, text=True).stdout, end='')`;
  const result = await orchestrator.exec({ isolation: 'namespace', language: 'python', code });
  expect(result).toMatchObject({ outcome: 'succeeded', stdout: { text: '/etc/matplotlibrc\n' } });
});

it('a program at level none has its own temporary folder with a short path, which its job removes', async (context) => {
  requireHere(context, MISSING_PYTHON);
  const code = `
import os, tempfile
from multiprocessing import Manager
if __name__ == '__main__':
    with Manager() as manager: print(dict(manager.dict(a=1)), os.environ['TMPDIR'], len(os.environ['TMPDIR']) < 60)
    with open(os.path.join(tempfile.gettempdir(), 'left'), 'w') as file: file.write('x')`;
  const result = await orchestrator.exec({ isolation: 'none', language: 'python', code });
  const [, folder = ''] = /^\{'a': 1\} (\/\S+) True\n$/.exec(result.stdout.text) ?? [];
  expect(folder, result.stdout.text + result.stderr.text).not.toBe('');
  await until(() => !existsSync(folder), 'the temporary folder is removed');
});

it('a temporary folder at level none counts as part of the workspace', async () => {
  const fills = await orchestrator.exec({
    isolation: 'none',
    language: 'bash',
    code: 'head -c 8000000 /dev/zero >"$TMPDIR/full"; while :; do sleep 0.05; done',
    limits: { workspaceMib: 4 },
  });
  expect(fills).toMatchObject({ outcome: 'limit', limit: 'workspace' });
});

it('a missing temporary folder of the host is an unusable path', async () => {
  vi.stubEnv('TMPDIR', '/not/there');
  try {
    await expect(orchestrator.exec({ isolation: 'none', language: 'bash', code: ':' })).rejects.toMatchObject({
      code: 'path.unusable',
      entry: { exitCode: 2 },
    });
  } finally {
    vi.unstubAllEnvs();
  }
});
