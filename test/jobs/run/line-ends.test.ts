import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import type { JobResult } from '../../../src/contracts/jobs/result.ts';
import { createOrchestrator } from '../../../src/jobs/create-orchestrator.ts';
import { MISSING_PYTHON, requireHere } from '../../fixtures/describe-with.ts';
import { EVERY_LEVEL, everyRunner, requireEachLevel } from '../../fixtures/every-level.ts';
import { BEST_LEVEL } from '../../fixtures/levels.ts';
import { skillLibrary, skillText } from '../../fixtures/skill-library.ts';

const MARK = '\uFEFF';
const SOURCED = 'if true; then\r\n  said="a b"\r\nfi\r\n';
const library = skillLibrary({
  'kit/SKILL.md': skillText({ name: 'kit', description: 'Scripts.' }, 'Run them.'),
  'kit/scripts/run.sh': `${MARK}#!/bin/bash\r\nset -e\r\n. scripts/lib/plain\r\n. scripts/lib/said.sh\r\necho "$said"\r\nfalse\r\necho on\r\n`,
  'kit/scripts/lib/said.sh': SOURCED,
  'kit/scripts/lib/plain': '#!/bin/sh\r\ntrue\r\n',
  'kit/notes.txt': 'text\r\n',
});
const orchestrator = createOrchestrator({
  runners: await everyRunner(),
  skills: library.subsystem,
  allowUnisolated: true,
});
afterAll(async () => {
  await orchestrator.close();
  library[Symbol.dispose]();
});

const told = ({ diagnostics }: JobResult): string[] =>
  diagnostics.filter(({ code }) => code === 'program.line-ends').map(({ message }) => message);

describe.each(EVERY_LEVEL)('files of bash with line ends of Windows at level %s', (isolation) => {
  beforeEach((context) => requireEachLevel(context, isolation));
  const place = { isolation, runner: isolation === 'container' ? 'docker' : 'local' } as const;

  it('of a skill run and are sourced without them, and are named', async () => {
    const result = await orchestrator.script({ skill: 'custom.kit', script: 'scripts/run.sh', ...place });
    expect(result).toMatchObject({ exitCode: 1, stdout: { text: 'a b\n' }, stderr: { text: '' } });
    expect(told(result)).toEqual([
      'Lines of custom/kit/scripts/lib/plain, custom/kit/scripts/lib/said.sh, custom/kit/scripts/run.sh end with a carriage return, which bash takes for part of a word; the copies in the sandbox are without them.',
    ]);
  });

  it('in the input are sourced without them, and no other file changes', async () => {
    const files = ['1', '2', '3', '4'].map((name) => ({
      destination: `lib/${name}.sh`,
      bytes: Buffer.from(MARK + SOURCED),
    }));
    const packed = { destination: 'packed.sh', bytes: Buffer.from('exit\r\n\0') };
    const data = { destination: 'data.csv', bytes: Buffer.from(`${MARK}a\r\n`) };
    const code =
      '. lib/4.sh; echo "$said"; cat packed.sh data.csv "$SKILLS_DIR/custom/kit/notes.txt" | grep -c $\'\\r\'';
    const result = await orchestrator.exec({
      language: 'bash',
      code,
      files: [...files, packed, data],
      ...place,
      skills: { refs: ['custom.kit'] },
    });
    expect(result).toMatchObject({ outcome: 'succeeded', stdout: { text: 'a b\n3\n' }, stderr: { text: '' } });
    expect(told(result)).toHaveLength(2);
    expect(told(result)[1]).toContain('Lines of lib/1.sh, lib/2.sh, lib/3.sh and 1 more end with');
  });
});

it('does not change files of bash in a job of another language', async () => {
  const code = "console.log(require('node:fs').readFileSync('said.sh', 'utf8') === process.argv[2])";
  const files = [{ destination: 'said.sh', bytes: Buffer.from(SOURCED) }];
  const result = await orchestrator.exec({ fileName: 'a.cjs', code, files, args: [SOURCED], isolation: BEST_LEVEL });
  expect(result).toMatchObject({ stdout: { text: 'true\n' } });
  expect(told(result)).toEqual([]);
});

it.for([
  ['bash', 'set -e\nfalse\necho on\n', ''],
  ['python', 'print(1)\n', '1\n'],
  ['javascript', 'console.log(1)\n', '1\n'],
] as const)('drops a byte order mark before a piece of %s in a session', async ([language, code, text], context) => {
  requireHere(context, language === 'python' ? MISSING_PYTHON : undefined);
  await using session = await orchestrator.session({ language, isolation: BEST_LEVEL });
  expect(await session.run(MARK + code)).toMatchObject({ stdout: { text }, stderr: { text: '' } });
});
