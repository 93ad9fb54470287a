import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import type { JobResult } from '../../../src/contracts/jobs/result.ts';
import { createOrchestrator } from '../../../src/jobs/create-orchestrator.ts';
import { createDockerRunner } from '../../../src/sandboxes/docker/docker-runner.ts';
import { createLocalRunner } from '../../../src/sandboxes/local/local-runner.ts';
import { controlGroupLayout } from '../../../src/sandboxes/local/control-group.ts';
import { MISSING_PYTHON, requireHere } from '../../fixtures/describe-with.ts';
import { dockerImage, dockerTest } from '../../fixtures/docker-image.ts';
import { LEVELS, requireLevel } from '../../fixtures/levels.ts';
import { MEMORY_PROGRAMS, type MemoryProgram } from '../../fixtures/memory-programs.ts';
import { programAnswer, scriptedModel } from '../../fixtures/scripted-model.ts';

const orchestrator = createOrchestrator({ runners: [createDockerRunner(), createLocalRunner()], concurrency: 2 });
afterAll(() => orchestrator.close());

const run = ({ job, memoryMib }: MemoryProgram, isolation: 'none' | 'namespace' | 'container'): Promise<JobResult> =>
  orchestrator.exec({ ...job, isolation, limits: { memoryMib, workspaceMib: 128, pids: 64 } });

/** V8 may reach its own limit between two checks of the watch, and reports it; the outcome is the same. */
const LAST_WORDS_OF_V8 = /^\s*<--- Last few GCs --->[^]*/;
/** Outcome, level and stderr without the last words of V8. */
const verdict = ({ outcome, isolation, stderr }: JobResult): object => ({
  outcome,
  isolation,
  stderr: stderr.text.replace(LAST_WORDS_OF_V8, ''),
});

describe.each(LEVELS)('memory at level %s', (isolation) => {
  beforeEach((context) => {
    requireLevel(context, isolation);
    requireHere(context, controlGroupLayout() === null ? 'a control group of its own (uid 0)' : undefined);
    requireHere(context, MISSING_PYTHON);
  });
  it.each(MEMORY_PROGRAMS)(
    '$title, $memoryMib MiB: $outcome',
    async (program) => {
      expect(verdict(await run(program, isolation))).toEqual({ outcome: program.outcome, isolation, stderr: '' });
    },
    60_000,
  );

  it('of a program that has removed its workspace is still watched', async () => {
    const code = "import os, shutil\nshutil.rmtree(os.getcwd(), ignore_errors=True)\nb = bytearray(b'x') * (400 << 20)";
    const result = await run(
      { title: '', job: { language: 'python', code }, memoryMib: 128, outcome: 'failed' },
      isolation,
    );
    expect(result.outcome).toBe('out_of_memory');
  });

  it('of a second attempt is not judged by the peak of the first', async () => {
    const codes = ["b = bytearray(b'x') * (400 << 20)", "print('small')"];
    const model = scriptedModel(codes.map((code) => programAnswer('python', code)));
    await using other = createOrchestrator({ runners: [createLocalRunner()], model });
    const result = await other.codegen({
      task: 't',
      language: 'python',
      isolation,
      limits: { memoryMib: 256, workspaceMib: 64 },
    });
    expect(result.codegen?.attempts.map(({ outcome }) => outcome)).toEqual(['out_of_memory', 'succeeded']);
    expect(result.outcome).toBe('succeeded');
  });
});

for (const program of MEMORY_PROGRAMS) {
  dockerTest(
    `memory at level container: ${program.title}, ${program.memoryMib} MiB: ${program.outcome}`,
    {},
    async () => {
      await dockerImage();
      const isolation = 'container';
      expect(verdict(await run(program, isolation))).toEqual({ outcome: program.outcome, isolation, stderr: '' });
    },
  );
}
