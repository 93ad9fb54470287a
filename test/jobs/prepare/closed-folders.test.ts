import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import type { Isolation, JobResult } from '../../../src/contracts/jobs/result.ts';
import { createOrchestrator } from '../../../src/jobs/create-orchestrator.ts';
import { LEVELS, requireLevel } from '../../fixtures/levels.ts';
import { sandboxLeftovers } from '../../fixtures/sandbox-leftovers.ts';
import { programAnswer, scriptedModel } from '../../fixtures/scripted-model.ts';

const orchestrator = createOrchestrator();
afterAll(async () => {
  await orchestrator.close();
  expect(sandboxLeftovers()).toEqual([]);
});

/** A command that makes folders with names of 200 letters, 40 deep. */
function deepIn(folder: string): string {
  return `mkdir -p ${folder}; cd ${folder}; for step in {1..40}; do mkdir ${'n'.repeat(200)} && cd -P ./${'n'.repeat(200)} || exit 9; done 2>/dev/null`;
}

/** Actions of programs on their own folders: the job still has a result, and it is never our fault. */
const MISCHIEF: [string, string][] = [
  ['closes its workspace', 'chmod 000 .'],
  ['closes its output folder', 'echo x >out/a; chmod 000 out'],
  ['leaves a folder that may be listed but not entered', 'mkdir -p out/d; echo x >out/d/f; chmod 400 out/d'],
  ['closes folders within folders', 'mkdir -p out/a/b; echo x >out/a/b/c; chmod 000 out/a/b out/a'],
  ['replaces its output folder by a link', 'rm -rf out; ln -s /etc out'],
  ['replaces its output folder by a file', 'rm -rf out; echo x >out'],
  ['removes everything', 'rm -rf ./* .[!.]*; rm -rf "$WORKSPACE"'],
  ['closes the folder of its value', 'chmod 000 "${SKILLCELL_VALUE%/*}"'],
  ['replaces its own file by a closed folder', 'rm main.sh; mkdir -p main.sh/x/y; chmod 000 main.sh/x main.sh'],
  ['leaves names that are not text', "touch $'\\xff\\xfe' $'a\\nb'; mkdir $'\\xfd'; touch $'\\xfd/\\xfc'"],
  ['makes folders deeper than a path is long', deepIn('.')],
  ['makes such folders closed', `${deepIn('out')}; cd "$WORKSPACE"; chmod 000 out/*`],
  ['puts a closed folder in the place of its value', 'mkdir -p "$SKILLCELL_VALUE/x/y"; chmod 000 "$SKILLCELL_VALUE/x"'],
  ['makes such folders in the place of its own file', `rm main.sh; ${deepIn('main.sh')}`],
  ['fills its workspace', 'head -c 8000000 /dev/zero >junk'],
];

describe.each(LEVELS)('a program at level %s that', (isolation) => {
  beforeEach((context) => requireLevel(context, isolation));

  it.each(MISCHIEF)('%s has a result', async (_name, code) => {
    const result = await orchestrator.exec({
      isolation,
      language: 'bash',
      code: `${code}\nexit 3`,
      expect: ['d/f'],
      limits: { workspaceMib: 4 },
    });
    // At level none the watch may end a program that fills the workspace before it ends itself.
    expect(['failed', 'limit']).toContain(result.outcome);
    // The program ran to its end.
    if (result.outcome === 'failed') expect(result.exitCode).toBe(3);
    expect(result.artifacts.every(({ path }) => ['a', 'd/f', 'a/b/c'].includes(path))).toBe(true);
  });

  it.each(MISCHIEF)('%s leaves the next attempt an empty workspace with its input', async (_name, code) => {
    const result = await attempts(isolation, `${code}\nexit 3`, 'ls -A; cat in/data.txt; echo done >out/done.txt');
    expect(result).toMatchObject({ outcome: 'succeeded', artifacts: [{ path: 'done.txt' }] });
    const removed = code.startsWith('rm -rf ./*');
    expect(result.stdout.text.split('\n').filter((line) => line !== '')).toEqual(
      removed ? ['main.sh', 'out'] : ['in', 'main.sh', 'out', 'input'],
    );
  });

  it('fills its temporary folders leaves the next attempt empty ones', async () => {
    // At level none they belong to the machine, and TMPDIR counts as part of the workspace.
    const folders = isolation === 'none' ? '"$TMPDIR"' : '/tmp /dev/shm';
    const fill = `mkdir -p "$TMPDIR/a/b" && chmod 000 "$TMPDIR/a" && for folder in ${folders}; do head -c 1000000 /dev/zero >"$folder/full" || exit 0; done || exit 0; exit 3`;
    const result = await attempts(isolation, fill, `find ${folders} -name full -o -name a`);
    expect(result).toMatchObject({ outcome: 'succeeded', stdout: { text: '' } });
    expect(result.codegen?.attempts.map(({ outcome }) => outcome)).toEqual(['failed', 'succeeded']);
  });

  it('closes its temporary folders themselves leaves the next attempt open ones', async () => {
    const close = isolation === 'none' ? 'chmod 0 "$TMPDIR"' : 'touch /tmp/a && chmod 555 /tmp && chmod 0 /dev/shm';
    const result = await attempts(
      isolation,
      `${close} || exit 0; exit 3`,
      'touch "$TMPDIR/made" && ls "$TMPDIR/a"; true',
    );
    expect(result).toMatchObject({ outcome: 'succeeded', stdout: { text: '' } });
    expect(result.codegen?.attempts).toHaveLength(2);
  });

  it('replaces an input by a link leaves the next attempt without that link', async () => {
    const result = await attempts(
      isolation,
      'rm in/data.txt; ln -s /etc/hostname in/data.txt; exit 3',
      'ls -A in; test ! -e in/data.txt',
    );
    expect(result).toMatchObject({ outcome: 'succeeded', stdout: { text: '' } });
  });
});

async function attempts(isolation: Isolation, ...codes: string[]): Promise<JobResult> {
  const model = scriptedModel(codes.map((code) => programAnswer('bash', code)));
  await using other = createOrchestrator({ model });
  return await other.codegen({
    isolation,
    language: 'bash',
    task: 't',
    maxAttempts: 2,
    limits: { workspaceMib: 4 },
    files: [{ destination: 'in/data.txt', bytes: Buffer.from('input\n') }],
  });
}
