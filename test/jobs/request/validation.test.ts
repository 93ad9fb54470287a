import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { LIMIT_CEILINGS, type JobLimits } from '../../../src/contracts/jobs/limits.ts';
import { SkillcellError } from '../../../src/contracts/errors/skillcell-error.ts';
import { createOrchestrator } from '../../../src/jobs/create-orchestrator.ts';
import type { Runner } from '../../../src/sandboxes/runner.ts';
import { createLocalRunner } from '../../../src/sandboxes/local/local-runner.ts';

/** A real runner that counts its starts: a refused job must not start a sandbox. */
const local = createLocalRunner();
let starts = 0;
const counting: Runner = {
  ...local,
  start(spec, options) {
    starts += 1;
    return local.start(spec, options);
  },
};
const orchestrator = createOrchestrator({
  runners: [counting],
  ceilings: { memoryMib: 1_024, runTimeoutMs: 60_000 },
});
const folder = mkdtempSync(join(tmpdir(), 'validation-'));
afterAll(async () => {
  await orchestrator.close();
  rmSync(folder, { recursive: true });
});

/** Submits an untyped job, and returns the error. */
async function refusal(job: unknown, kind: 'exec' | 'codegen' = 'exec'): Promise<SkillcellError> {
  starts = 0;
  const error: unknown = await orchestrator[kind](job as never).then(
    () => expect.unreachable('the job was accepted'),
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(SkillcellError);
  expect(starts).toBe(0);
  return error as SkillcellError;
}

const code = 'console.log(1)';

describe('an invalid job is refused before anything starts', () => {
  const limits = Object.keys(LIMIT_CEILINGS) as (keyof JobLimits)[];
  const bad = [0, -1, Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, '5', '0', null, true, [5], 1n];

  it.each(limits)('B16 limits.%s of 0, negative, NaN, infinite, text or of another type', async (name) => {
    for (const value of bad) {
      const error = await refusal({ code, limits: { [name]: value } });
      expect(error.code).toBe('job.invalid');
      expect(error.message).toContain(`limits.${name}`);
      expect(error.entry.exitCode).toBe(2);
      if (typeof value === 'number' || typeof value === 'string')
        expect(error.message).toContain(`got ${JSON.stringify(value) === 'null' ? value : JSON.stringify(value)}`);
    }
  });

  it.each(limits.filter((name) => name !== 'cpus'))('B16 limits.%s of a fraction', async (name) => {
    expect((await refusal({ code, limits: { [name]: 50.5 } })).message).toContain(`limits.${name}`);
  });

  it.each(limits)('limits.%s over its maximum', async (name) => {
    const error = await refusal({ code, limits: { [name]: LIMIT_CEILINGS[name] + 1 } });
    expect(error.message).toContain(`limits.${name}`);
  });

  it('limits over the ceilings of the orchestrator, with the name of the limit', async () => {
    const error = await refusal({ code, limits: { memoryMib: 1_025 } });
    expect(error.message).toContain('limits.memoryMib must be at most 1024, got 1025');
  });

  it('M42 fewer processes than Node needs', async () => {
    expect((await refusal({ code, limits: { pids: 39 } })).message).toContain('limits.pids');
  });

  it.each(['..', '../a', 'a/../../b', '/etc/passwd', 'a//b', './a', '', 'a\0b', 'a\nb', 'a\\b', 'x'.repeat(256)])(
    'D11 the destination %j',
    async (destination) => {
      const error = await refusal({ code, files: [{ destination, bytes: Buffer.of(1) }] });
      expect(error.code).toBe('job.invalid');
    },
  );

  it.each(['..', '/a', 'a/../b', ''])('the declared output %j', async (path) => {
    expect((await refusal({ code, expect: [path] })).message).toContain('expect.0');
  });

  it('two files with the same destination, and a file in place of a folder', async () => {
    const file = (destination: string): object => ({ destination, bytes: Buffer.of(1) });
    expect((await refusal({ code, files: [file('a'), file('a')] })).message).toContain('one destination, got a');
    expect((await refusal({ code, files: [file('a/b/c'), file('a/b')] })).message).toContain('got a/b');
  });

  it.each<[string, object]>([
    ['an unknown field', { code, isolatoin: 'namespace' }],
    ['an unknown limit', { code, limits: { memoryMiB: 5 } }],
    ['an unknown skills field', { code, skills: { reference: ['a'] } }],
    ['a privileged field', { code, binds: ['/:/host'] }],
    ['an unknown language', { code, language: 'ruby' }],
    ['a runner that is a number', { code, runner: 5 }],
    ['an unknown level', { code, isolation: 'vm' }],
    ['empty code', { code: '' }],
    ['blank code', { code: ' \n\t' }],
    ['no code', {}],
    ['code that is not text', { code: 5 }],
    ['code over 4 MiB', { code: 'x'.repeat(4 * 1024 * 1024 + 1) }],
    ['a consumer of blanks', { code, skills: { consumer: '  ' } }],
    ['an empty consumer', { code, skills: { consumer: '' } }],
    ['a consumer with a newline', { code, skills: { consumer: 'a\nb' } }],
    ['an unknown variant', { code, skills: { variant: 'short' } }],
    ['a job id with a slash', { code, jobId: '../x' }],
    ['an empty job id', { code, jobId: '' }],
    ['a job id that is too long', { code, jobId: 'x'.repeat(65) }],
    ['an argument with a NUL', { code, args: ['a\0b'] }],
    ['an argument that is not text', { code, args: [5] }],
    ['an argument over the limit of Linux', { code, args: ['x'.repeat(128 * 1024)] }],
    ['arguments of more than a megabyte', { code, args: Array.from({ length: 11 }, () => 'x'.repeat(100_000)) }],
    ['too many declared outputs', { code, expect: Array.from({ length: 1_001 }, (_, index) => `f${index}`) }],
    ['a file in place of the output folder', { code, files: [{ destination: 'out', bytes: Buffer.of(1) }] }],
    ['a file in the output folder', { code, files: [{ destination: 'out/a', bytes: Buffer.of(1) }] }],
    ['a file in place of the program', { code, files: [{ destination: 'main.mjs', bytes: Buffer.of(1) }] }],
    ['a variable with a bad name', { code, env: { 'A=B': 'c' } }],
    ['a variable with a NUL', { code, env: { A: 'b\0c' } }],
    ['an environment over 128 KiB', { code, env: { A: 'x'.repeat(128 * 1024) } }],
    ['a file name with a folder', { code, fileName: '../main.js' }],
    ['a file without bytes or source', { code, files: [{ destination: 'a' }] }],
    ['a file with both', { code, files: [{ destination: 'a', bytes: Buffer.of(1), source: '/etc/hostname' }] }],
    ['stdin that is a number', { code, stdin: 5 }],
    ['an object as signal', { code, signal: {} }],
    ['an empty output folder', { code, output: '' }],
    ['skills without skills of the orchestrator', { code, skills: { refs: ['public.x'] } }],
  ])('%s', async (_name, job) => {
    const error = await refusal(job);
    expect(error.code).toBe('job.invalid');
    expect(error.message).toMatch(/^Cannot accept the job: .+[.?]$/);
    expect(error.entry.exitCode).toBe(2);
  });

  const common =
    'jobId, runner, isolation, files, stdin, args, env, expect, limits, budget, skills, tools, network, packages, secrets, context, output, signal';
  it.each<[string, object, string]>([
    ['a limit at the top', { timeout: 5 }, 'there is no field timeout, got 5. Did you mean limits.runTimeoutMs?'],
    ['another limit at the top', { memory: 5 }, 'there is no field memory, got 5. Did you mean limits.memoryMib?'],
    ['a misspelt field', { ouput: 'a' }, 'there is no field ouput, got "a". Did you mean output?'],
    [
      'an unknown field',
      { cwd: '/' },
      `there is no field cwd, got "/". There are ${common}, language, code, fileName.`,
    ],
    [
      'a field of codegen',
      { task: 't' },
      `there is no field task, got "t". There are ${common}, language, code, fileName.`,
    ],
    ['a name with a space', { 'a b': 1 }, 'there is no field "a b", got 1. There are jobId,'],
    [
      'a bad name of a variable',
      { env: { 'A=': 'b' } },
      'env["A="] must be a name of letters, digits and _, got "A=".',
    ],
    [
      'a malformed file',
      { files: [{ destination: 'a', byts: 5 }] },
      'files.0 must be { destination, bytes, executable? } or { destination, source }, got an object.',
    ],
    ['an output with a NUL', { output: 'a\0b' }, 'output holds a NUL character, got "a\\u0000b".'],
    ['a long name', { env: { ['-'.repeat(500)]: 'b' } }, `env["${'-'.repeat(100)}"] must be a name`],
  ])('with the allowed values for %s', async (_name, fields, expected) => {
    expect((await refusal({ code, ...fields })).message).toContain(`Cannot accept the job: ${expected}`);
  });

  it('with the fields of its kind', async () => {
    const { message } = await refusal({ task: 't', cwd: '/' }, 'codegen');
    expect(message).toContain(`There are ${common}, language, task, model, `);
    const script = orchestrator.script({ skill: 'custom.none', script: 'a', stdin: new Uint8Array(1) } as never);
    const fields = `${common.replace('stdin, ', '')}, skill, script`;
    await expect(script).rejects.toThrow(`there is no field stdin, got an object. There are ${fields}.`);
  });

  const unseen = 'a\u202e\n\u001b[31m\u009b\u200b\u2028\u{e0061}b';
  const shown = String.raw`"a\u202e\n\u001b[31m\u009b\u200b\u2028\udb40\udc61b"`;
  it.each<[string, object, string]>([
    ['a file', { files: { [unseen]: 'x' } }, `files[${shown}] must be a relative path`],
    ['a variable', { env: { [unseen]: 'x' } }, `env[${shown}] must be a name`],
    ['a field', { [unseen]: 'x' }, `there is no field ${shown}, got "x".`],
    ['a limit', { limits: { [unseen]: 1 } }, `there is no field limits[${shown}], got 1.`],
    ['a value', { isolation: unseen }, `got ${shown}.`],
    ['a runner', { runner: unseen }, String.raw`there is no runner a\u{202e}\x0a\x1b[31m\x9b`],
    ['an output', { output: `/dev/null/${unseen}` }, String.raw`got /dev/null/a\u{202e}\x0a\x1b[31m\x9b`],
    ['a source', { stdin: { source: `/nowhere/${unseen}` } }, String.raw`got /nowhere/a\u{202e}\x0a\x1b[31m\x9b`],
    ['a reference', { skills: { refs: [unseen] } }, `got ${shown}.`],
  ])('with escapes for invisible characters in the name of %s', async (_name, fields, expected) => {
    const { message } = await refusal({ code, ...fields });
    expect(message).toContain(expected);
    expect(message).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u);
  });

  it.each<[string, object]>([
    ['an empty task', { task: ' ' }],
    ['no task', {}],
    ['no attempts', { task: 't', maxAttempts: 0 }],
    ['endless attempts', { task: 't', maxAttempts: Number.POSITIVE_INFINITY }],
    ['half an attempt', { task: 't', maxAttempts: 1.5 }],
    ['code in a codegen job', { task: 't', code }],
  ])('codegen with %s', async (_name, job) => {
    expect((await refusal(job, 'codegen')).code).toBe('job.invalid');
  });

  it('a job of another kind', async () => {
    const stream = orchestrator.stream({ kind: 'session', code } as never);
    await expect(stream.result).rejects.toMatchObject({
      code: 'job.invalid',
      message: 'Cannot accept the job: kind must be exec, codegen or script, got "session".',
    });
  });

  it('codegen without a model', async () => {
    expect((await refusal({ task: 't' }, 'codegen')).code).toBe('model.not-configured');
  });

  it('isolation that no runner reaches, and the level is never lowered', async () => {
    for (const isolation of ['container', 'kernel'] as const) {
      expect((await refusal({ code, isolation })).code).toBe('runner.isolation-unmet');
    }
    expect((await refusal({ code, runner: 'docker' })).code).toBe('runner.unavailable');
  });
});

it('a valid job with an aborted signal is canceled before anything starts', async () => {
  starts = 0;
  const { outcome } = await orchestrator.exec({ code, signal: AbortSignal.abort() });
  expect([outcome, starts]).toEqual(['canceled', 0]);
});

describe('input files of the host', () => {
  const path = join(folder, 'file');
  writeFileSync(path, 'bytes');

  it.each<[string, () => string]>([
    ['that is missing', () => join(folder, 'none')],
    ['that is a folder', () => folder],
    [
      'that is a pipe, without waiting for a writer',
      () => {
        const pipe = join(folder, 'pipe');
        execFileSync('mkfifo', [pipe]);
        return pipe;
      },
    ],
    ['that is an endless device', () => '/dev/zero'],
    [
      'that is larger than the workspace',
      () => {
        const sparse = join(folder, 'sparse');
        writeFileSync(sparse, '');
        truncateSync(sparse, 2 ** 40);
        return sparse;
      },
    ],
    [
      'that is a dangling link',
      () => {
        const link = join(folder, 'link');
        symlinkSync('/nowhere/at/all', link);
        return link;
      },
    ],
  ])('a source %s is refused, as file and as stdin', async (_name, make) => {
    const source = make();
    const jobs = [
      { code, files: [{ destination: 'a', source }] },
      { code, stdin: { source } },
    ];
    // A folder is a valid source of files, but not of stdin.
    for (const job of source === folder ? jobs.slice(1) : jobs) {
      const error = await refusal(job);
      expect(error.code).toBe('file.unreadable');
      expect(error.entry.exitCode).toBe(2);
    }
  });

  it('an output that is a file, or below a file, is refused', async () => {
    for (const output of [path, join(path, 'below')]) {
      const error = await refusal({ code, output });
      expect(error.code).toBe('job.invalid');
      expect(error.message).toContain(`got ${output}`);
    }
  });

  it('files that fit alone but not together are refused', async () => {
    const files = ['a', 'b'].map((destination) => ({ destination, bytes: Buffer.alloc(700 * 1024) }));
    const error = await refusal({ code, files, limits: { workspaceMib: 1 } });
    expect(error).toMatchObject({ code: 'file.unreadable' });
    expect(error.message).toContain('up to b: together');
  });
});
