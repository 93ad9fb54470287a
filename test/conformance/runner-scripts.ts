import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it, type TestContext } from 'vitest';
import type { ScriptOptions } from '../../src/contracts/jobs/job.ts';
import type { Isolation, JobResult } from '../../src/contracts/jobs/result.ts';
import { SkillcellError } from '../../src/contracts/errors/skillcell-error.ts';
import { createOrchestrator } from '../../src/jobs/create-orchestrator.ts';
import type { Orchestrator } from '../../src/jobs/orchestrator.ts';
import type { Runner, RunnerReport } from '../../src/sandboxes/runner.ts';
import { MISSING_PYTHON, requireHere } from '../fixtures/describe-with.ts';
import { skillLibrary, skillText, type SkillLibrary } from '../fixtures/skill-library.ts';

const PYTHON = `#!/usr/bin/env python3
import json, os, sys
import sibling
with open(os.path.join(os.environ["OUTPUT_DIR"], "made.txt"), "w", encoding="utf-8") as file:
    file.write(sibling.WORD)
import skillcell
skillcell.set_value({
    "argv": sys.argv[1:], "file": __file__, "cwd": os.getcwd(), "name": __name__, "first": sys.path[0],
    "stdin": sys.stdin.read(), "output": os.environ["OUTPUT_DIR"] == os.environ["SKILLCELL_OUTPUT"],
    "skill": os.environ["SKILL_DIR"], "workspace": sorted(os.listdir(os.environ["WORKSPACE"])),
    "data": open("data/table.csv", encoding="utf-8").read(),
})
`;
const SEES = `{ argv: process.argv.slice(2), cwd: process.cwd() === process.env.SKILL_DIR, word }`;

const FILES = {
  'kit/SKILL.md': skillText(
    {
      name: 'kit',
      description: 'Scripts.',
      scripts: ['tools/listed.py', './tools/dotted.sh', 'tools/gone.py'],
      import: ['custom.base'],
    },
    'Run them.',
  ),
  'kit/data/table.csv': 'x,y\n',
  'kit/scripts/all.py': PYTHON,
  'kit/scripts/sibling.py': 'WORD = "sibling"\n',
  'kit/scripts/plain.mjs': `import { word } from './word.mjs';\nimport { setValue } from 'skillcell';\nif (import.meta.main) setValue(${SEES});\n`,
  'kit/scripts/word.mjs': "export const word = 'sibling';\n",
  'kit/scripts/common.js': `const { word } = require('./word.mjs');\nif (require.main === module) module.exports = ${SEES};\n`,
  'kit/scripts/typed.ts': `import { word } from './typed-word.ts';\ninterface Seen { argv: string[]; cwd: boolean; word: string }\nconst seen: Seen = ${SEES};\nexport default await Promise.resolve(seen);\n`,
  'kit/scripts/typed-word.ts': "export const word: string = 'sibling';\n",
  'kit/scripts/deep/node-tool': `#!/usr/bin/env node\nconst { word } = require('../word.mjs');\nmodule.exports = ${SEES};\n`,
  'kit/scripts/source.sh': '. "$(dirname "$0")/lib.bash"\n[ "$PWD" = "$SKILL_DIR" ] && echo "$WORD $# $1" && cat\n',
  'kit/scripts/lib.bash': 'WORD=sibling\n',
  'kit/scripts/strict': '#!/bin/bash -eo pipefail\nfalse | true\necho went on\n',
  'kit/scripts/posix': '#!/bin/sh\necho "${BASH_VERSION:-no bash} $1"\n',
  'kit/scripts/CAPITALS.PY': 'print("capitals")\n',
  'kit/scripts/crlf.py': '#!/usr/bin/env python3\r\nprint("crlf")\r\n',
  'kit/scripts/bom': '\uFEFF#!/usr/bin/env python3.11\nprint("bom")\n',
  'kit/scripts/by-uv': '#!/usr/bin/env -S uv run --script\nprint("by uv")\n',
  'kit/scripts/empty.py': '',
  'kit/scripts/empty': '',
  'kit/scripts/perl.py': '#!/usr/bin/perl\nprint "perl";\n',
  'kit/scripts/table.json': '{}\n',
  'kit/scripts/fails.py': 'import sibling\nraise KeyError(sibling.WORD)\n',
  'kit/scripts/fails.mjs': '\nthrow new TypeError("broken");\n',
  'kit/scripts/write.py': [
    'import os, skillcell',
    'done = []',
    'for path in ["scripts/sibling.py", "scripts/new.py", "SKILL.md"]:',
    '    try:',
    '        os.chmod(os.path.dirname(path) or ".", 0o755)',
    '        if os.path.exists(path): os.chmod(path, 0o644)',
    '        with open(path, "a") as file: file.write("# changed\\n")',
    '        done.append(path)',
    '    except OSError: pass',
    'skillcell.set_value(done)',
    '',
  ].join('\n'),
  'kit/scripts/floods.sh': 'head -c 1100000 /dev/zero | tr "\\0" x\n',
  'kit/scripts/needs.py': [
    '# /// script',
    '# requires-python = ">=3.8"',
    '# dependencies = [',
    '#   "No_Such.Package[fast]>=1,<2",',
    '#   "skillcell-of-another-system; sys_platform == \'win32\'",',
    '#   "also-not-there==1.0",',
    '# ]',
    '# ///',
    'import os',
    'open(os.path.join(os.environ["OUTPUT_DIR"], "ran"), "w").close()',
    '',
  ].join('\n'),
  'kit/scripts/needs-python.py': '# /// script\n# requires-python = "<3"\n# ///\nprint("ran")\n',
  'kit/scripts/needs-nothing.py':
    '#!/usr/bin/env -S uv run --script\n# /// script\n# requires-python = ">=3.8"\n# dependencies = []\n# ///\nprint("ran")\n',
  'kit/scripts/unreadable.py': '# /// script\n# dependencies = [1, \n# ///\nprint("ran")\n',
  'kit/tools/listed.py': 'print("listed")\n',
  'kit/tools/dotted.sh': 'echo dotted\n',
  'kit/tools/other.py': 'print("other")\n',
  'base/SKILL.md': skillText({ name: 'base', description: 'Imported.' }, 'Base.'),
  'base/scripts/base.sh': 'echo "base in ${SKILL_DIR#"$SKILLS_DIR"}"; ls "$SKILLS_DIR"/custom\n',
  'secret/SKILL.md': skillText({ name: 'secret', description: 'Denied.' }, 'Secret.'),
  'secret/scripts/tell.sh': 'echo secret\n',
};

/** The scripts of skills at one level of one runner: they run in place and within their limits, or are refused before they run. */
export function describeScripts({
  name,
  isolation,
  create,
}: {
  name: string;
  isolation: Isolation;
  create(): Runner;
}): void {
  describe(`scripts of skills: ${name} at level ${isolation}`, () => {
    let report: RunnerReport | undefined;
    let library: SkillLibrary;
    let orchestrator: Orchestrator;

    beforeAll(async () => {
      const runner = create();
      report = (await runner.probe()).find((row) => row.isolation === isolation);
      library = skillLibrary(FILES, { agentsConfig: { 'solver.codegen': { disabled: ['custom.secret'] } } });
      orchestrator = createOrchestrator({ skills: library.subsystem, runners: [runner] });
    });
    afterAll(async () => {
      await orchestrator.close();
      library[Symbol.dispose]();
    });
    beforeEach((context: TestContext) => {
      requireHere(
        context,
        report?.available === true ? undefined : `${name} at level ${isolation}: ${report?.reasons.join('; ')}`,
      );
      if (isolation === 'none' || isolation === 'namespace') requireHere(context, MISSING_PYTHON);
    });

    const run = (script: string, options: Partial<ScriptOptions> = {}): Promise<JobResult> =>
      orchestrator.script({ skill: 'custom.kit', isolation, script, ...options });
    const refusal = async (script: string, options: Partial<ScriptOptions> = {}): Promise<SkillcellError> => {
      const job = orchestrator.stream({ kind: 'script', skill: 'custom.kit', isolation, script, ...options });
      const events: string[] = [];
      const failure = job.result.then(
        () => undefined,
        (error: unknown) => error,
      );
      for await (const { type } of job) events.push(type);
      const error = await failure;
      expect(error, script).toBeInstanceOf(SkillcellError);
      expect(events, script).not.toContain('run');
      return error as SkillcellError;
    };

    it('a Python script runs in place, with its siblings, arguments and variables, and an empty stdin', async () => {
      const args = ['--x', 'a b', '', '*'];
      const result = await run('scripts/all.py', { args, files: { 'in.txt': 'x' }, expect: ['made.txt'] });
      expect(result, JSON.stringify(result)).toMatchObject({ kind: 'script', outcome: 'succeeded', exitCode: 0 });
      const value = result.value as Record<string, unknown>;
      expect(value).toMatchObject({ argv: args, name: '__main__', stdin: '', output: true, data: 'x,y\n' });
      expect(value['workspace']).toEqual(['in.txt', 'out']);
      expect(value['cwd']).toBe(value['skill']);
      expect(value['file']).toBe(`${String(value['skill'])}/scripts/all.py`);
      expect(value['first']).toBe(`${String(value['skill'])}/scripts`);
      expect(result.artifacts.map(({ path }) => path)).toEqual(['made.txt']);
      expect(result.skills.active).toEqual(['custom.base', 'custom.kit']);
    });

    it.each(['plain.mjs', 'common.js', 'typed.ts', 'deep/node-tool'])(
      '%s runs in place as the main program of Node',
      async (script) => {
        const result = await run(`scripts/${script}`, { args: ['one', '--two'] });
        expect(result.value, result.stderr.text).toEqual({ argv: ['one', '--two'], cwd: true, word: 'sibling' });
        expect(result).toMatchObject({ outcome: 'succeeded', exitCode: 0 });
      },
    );

    it('shell scripts run in place by the shell of their first line', async () => {
      expect((await run('scripts/source.sh', { args: ['-n', 'b'] })).stdout.text).toBe('sibling 2 -n\n');
      expect(await run('scripts/strict')).toMatchObject({ outcome: 'failed', exitCode: 1, stdout: { text: '' } });
      expect((await run('scripts/posix', { args: ['a'] })).stdout.text).toMatch(/ a\n$/);
      expect(await run('tools/dotted.sh')).toMatchObject({ stdout: { text: 'dotted\n' } });
    });

    it.each([
      ['scripts/CAPITALS.PY', 'capitals\n'],
      ['scripts/crlf.py', 'crlf\n'],
      ['scripts/bom', 'bom\n'],
      ['scripts/by-uv', 'by uv\n'],
      ['scripts/empty.py', ''],
      ['tools/listed.py', 'listed\n'],
      ['scripts/needs-nothing.py', 'ran\n'],
    ])('%s runs by the interpreter in its first line', async (script, text) => {
      expect(await run(script)).toMatchObject({ outcome: 'succeeded', stdout: { text }, stderr: { text: '' } });
    });

    it('a script that fails gives a result with the line of its own file', async () => {
      const python = await run('scripts/fails.py');
      expect(python).toMatchObject({ outcome: 'failed', exitCode: 1, error: { name: 'KeyError', line: 2 } });
      const node = await run('scripts/fails.mjs');
      expect(node).toMatchObject({
        outcome: 'failed',
        exitCode: 1,
        error: { name: 'TypeError', message: 'broken', line: 2 },
      });
    });

    it('a script cannot change its skill, and no other job sees an attempt', async () => {
      const written = (await run('scripts/write.py')).value;
      if (isolation !== 'none') expect(written).toEqual([]);
      expect((await run('scripts/all.py')).outcome).toBe('succeeded');
      expect(readFileSync(join(library.root, 'kit/scripts/sibling.py'), 'utf8')).toBe('WORD = "sibling"\n');
      expect((await run('scripts/write.py')).value).toEqual(written);
    });

    it('more than 1 MiB of output ends the job', async () => {
      const result = await run('scripts/floods.sh');
      expect(result).toMatchObject({ outcome: 'limit', limit: 'output' });
      expect(Buffer.byteLength(result.stdout.text)).toBe(1024 * 1024);
    });

    it.each([
      'scripts/../tools/other.py',
      'scripts/../../base/scripts/base.sh',
      'scripts/%2e%2e/tools/other.py',
      'scripts\\all.py',
      'scripts//all.py',
      './scripts/all.py',
      'scripts/all.py\0',
      'scripts/all.py ',
      '/skills/custom/kit/scripts/all.py',
      'scripts',
      'scripts/',
      '',
      'SCRIPTS/all.py',
      'tools/other.py',
      'tools/gone.py',
      'SKILL.md',
      '__proto__',
      'x'.repeat(300),
    ])('%j is not a script of the skill', async (script) => {
      const error = await refusal(script);
      expect(error.code).toBe('script.not-listed');
      expect(error.message).toMatch(/^Cannot run a script of custom\.kit: the scripts of the skill are "scripts\//);
      expect(error.message.length).toBeLessThan(1_500);
    });

    it.each(['scripts/perl.py', 'scripts/empty', 'scripts/table.json'])(
      'no interpreter here runs %s',
      async (script) => {
        expect((await refusal(script)).code).toBe('script.interpreter-unknown');
      },
    );

    it('the policy of the consumer applies, and an imported skill has only its own scripts', async () => {
      expect((await refusal('scripts/tell.sh', { skill: 'custom.secret' })).code).toBe('skills.reference-denied');
      expect((await refusal('scripts/tell.sh', { skill: 'custom.none' })).code).toBe('skills.reference-unknown');
      expect((await refusal('scripts/base.sh')).code).toBe('script.not-listed');
      const result = await run('scripts/base.sh', { skill: 'custom.base' });
      expect(result.stdout.text).toBe('base in /custom/base\nbase\n');
      const allowed = { skill: 'custom.secret', skills: { consumer: 'another' } };
      expect((await run('scripts/tell.sh', allowed)).stdout.text).toBe('secret\n');
    });

    it.each<[string, Partial<ScriptOptions>]>([
      ['101 arguments', { args: Array.from({ length: 101 }, () => 'a') }],
      ['4,097 bytes of arguments', { args: ['ä'.repeat(2_048), 'b'] }],
      ['more than 60 s', { limits: { runTimeoutMs: 60_001 } }],
      ['more output', { limits: { totalOutputBytes: 1024 * 1024 + 1 } }],
      ['standard input', { stdin: new Uint8Array(1) } as Partial<ScriptOptions>],
      ['a language', { language: 'bash' } as Partial<ScriptOptions>],
      ['no skill', { skill: 1 } as unknown as Partial<ScriptOptions>],
    ])('a job with %s is refused', async (_what, options) => {
      expect((await refusal('scripts/all.py', options)).code).toBe('job.invalid');
    });

    it('the largest values that scripts may request are accepted', async () => {
      const args = ['ä'.repeat(2_000), ...Array.from({ length: 96 }, () => 'a')];
      const result = await run('scripts/all.py', { args, limits: { runTimeoutMs: 60_000 } });
      expect(result.value).toMatchObject({ argv: args });
    });

    it('unmet requirements are listed, and no script runs', async () => {
      const error = await refusal('scripts/needs.py');
      expect(error.code).toBe('script.requirements-missing');
      expect(error.diagnostics.map(({ code, message }) => [code, message])).toEqual([
        ['script.requirement', 'No_Such.Package[fast]>=1,<2 (not installed)'],
        ['script.requirement', 'also-not-there==1.0 (not installed)'],
      ]);
      for (const { message } of error.diagnostics) expect(error.message).toContain(message);
      const python = await refusal('scripts/needs-python.py');
      expect(python.message).toMatch(/got Python <3 \(3\.\d+\.\d+\S* is here\)\.$/);
      expect((await refusal('scripts/unreadable.py')).message).toContain('its block of requirements cannot be read (');
    });
  });
}
