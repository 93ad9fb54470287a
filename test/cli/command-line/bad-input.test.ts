import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runMain, startMain } from '../../fixtures/run-main.ts';
import { until } from '../../fixtures/until.ts';

let cwd: string;
let before: string[];

beforeAll(() => {
  cwd = mkdtempSync(join(tmpdir(), 'cli-input-'));
  writeFileSync(join(cwd, 'ok.mjs'), 'console.log(1)');
  writeFileSync(join(cwd, 'empty.mjs'), ' \n');
  writeFileSync(join(cwd, 'latin.py'), Buffer.from([0x23, 0xe9, 0x0a]));
  writeFileSync(join(cwd, 'data.csv'), 'a\n');
  writeFileSync(join(cwd, 'broken.json'), '{ nope');
  writeFileSync(join(cwd, 'list.json'), '[]');
  writeFileSync(join(cwd, 'schema.json'), '{ "unevaluatedItems": false, "$dynamicRef": "#a" }');
  writeFileSync(join(cwd, 'deep.json'), '['.repeat(10_000));
  writeFileSync(join(cwd, 'other-schema.json'), '{ "schema": "skillcell/skills-descriptor@9" }');
  writeFileSync(join(cwd, 'no-root.json'), '{ "custom_skills_root": "not-there" }');
  writeFileSync(
    join(cwd, 'policy.json'),
    '{ "agents_config": { "solver.codegen": { "disabled": ["chart"] }, "writer": {} } }',
  );
  writeFileSync(join(cwd, 'large.bin'), '');
  truncateSync(join(cwd, 'large.bin'), 3 * 1024 * 1024);
  writeFileSync(join(cwd, 'large.mjs'), '');
  truncateSync(join(cwd, 'large.mjs'), 4 * 1024 * 1024 + 1);
  mkdirSync(join(cwd, 'folder'));
  mkdirSync(join(cwd, 'skills/public/broken'), { recursive: true });
  writeFileSync(join(cwd, 'skills/public/broken/SKILL.md'), '---\nname: [\n---\nbody\n');
  symlinkSync('loop', join(cwd, 'loop'));
  execFileSync('mkfifo', [join(cwd, 'pipe')]);
  before = readdirSync(cwd);
});

afterAll(() => rmSync(cwd, { recursive: true }));

const exec = (...flags: string[]): string[] => ['exec', 'ok.mjs', ...flags];
const numbers = [
  '0',
  '-1',
  'NaN',
  '1e999',
  'Infinity',
  '0x10',
  'ten',
  '',
  ' 1',
  '1 ',
  '1,5',
  '+5',
  '.5',
  '99999999999999',
];

describe('bad input', () => {
  it.each([
    ...numbers.map((value) => [
      exec(`--timeout=${value}`),
      'usage.invalid',
      `--timeout: it must be a number of seconds from 0.001 to 86400, got ${JSON.stringify(value)}`,
    ]),
    ...numbers.map((value) => [
      exec(`--cpus=${value}`),
      'usage.invalid',
      `--cpus: it must be a number of processors from 0.01 to 1024, got ${JSON.stringify(value)}`,
    ]),
    ...[...numbers, '1.5'].flatMap((value) => [
      [
        exec(`--memory=${value}`),
        'usage.invalid',
        `--memory: it must be a whole number of MiB from 1 to 1048576, got ${JSON.stringify(value)}`,
      ],
      [
        exec(`--pids=${value}`),
        'usage.invalid',
        `--pids: it must be a whole number of processes from 40 to 32768, got ${JSON.stringify(value)}`,
      ],
      [
        exec(`--workspace=${value}`),
        'usage.invalid',
        `--workspace: it must be a whole number of MiB from 1 to 65536, got ${JSON.stringify(value)}`,
      ],
    ]),
    [
      exec('--timeout', '-5'),
      'usage.invalid',
      '--timeout: it must be a number of seconds from 0.001 to 86400, got "-5"',
    ],
    [exec('--pids', '39'), 'usage.invalid', '--pids'],
    [
      exec('--file', 'data.csv:../x'),
      'usage.invalid',
      '--file: DEST must be a relative path below the working folder, without . and .. (a . or .. component), got "data.csv:../x"',
    ],
    [exec('--file', 'data.csv:/etc/x'), 'usage.invalid', '(absolute path)'],
    [exec('--file', 'data.csv:'), 'usage.invalid', '(empty path)'],
    [exec('--file', 'data.csv:a//b'), 'usage.invalid', '(empty component)'],
    [exec('--file', 'data.csv:a\nb'), 'usage.invalid', 'control character'],
    [exec('--file', ''), 'usage.invalid', '--file'],
    [
      exec('--file', 'data.csv', '--file', 'ok.mjs:data.csv'),
      'usage.invalid',
      'two files need two destinations, and "data.csv" is taken',
    ],
    [
      exec('--file', 'data.csv:a', '--file', 'ok.mjs:a/b'),
      'usage.invalid',
      'two files need two destinations, and "a" is taken',
    ],
    [exec('--file', 'data.csv:a/b', '--file', 'ok.mjs:a'), 'usage.invalid', 'and "a" is taken'],
    [exec('--file', 'gone.csv'), 'file.unreadable', '--file: there is no such file, got "gone.csv"'],
    [exec('--file', 'folder:../x'), 'usage.invalid', 'a . or .. component'],
    [exec('--file', 'pipe'), 'file.unreadable', '--file: it must be a regular file and is a fifo'],
    [exec('--file', '/dev/zero'), 'file.unreadable', '--file: it must be a regular file and is a device'],
    [exec('--file', 'loop'), 'file.unreadable', '--file: it is a chain of links without an end'],
    [
      exec('--file', 'large.bin', '--workspace', '2'),
      'file.unreadable',
      'all files must fit into the workspace of 2 MiB',
    ],
    [exec('--stdin', 'gone.txt'), 'file.unreadable', '--stdin: there is no such file'],
    [exec('--stdin', 'pipe'), 'file.unreadable', '--stdin: it must be a regular file and is a fifo'],
    [exec('--stdin', '/dev/zero'), 'file.unreadable', '--stdin: it must be a regular file and is a device'],
    [exec('--stdin', 'folder'), 'file.unreadable', '--stdin: it must be a regular file and is a folder'],
    [
      exec('--stdin', 'large.bin', '--workspace', '2'),
      'file.unreadable',
      '--stdin: it may have 2097152 bytes, it has 3145728',
    ],
    [['exec', '-', '--stdin', '-'], 'usage.invalid', '--stdin: standard input is taken already'],
    [['exec', 'pipe'], 'file.unreadable', 'FILE: it must be a regular file and is a fifo'],
    [['exec', '/dev/zero'], 'file.unreadable', 'FILE: it must be a regular file and is a device'],
    [['exec', 'folder'], 'file.unreadable', 'FILE: it must be a regular file and is a folder'],
    [['exec', 'gone.mjs'], 'file.unreadable', 'FILE: there is no such file'],
    [['exec', 'large.mjs'], 'file.unreadable', 'FILE: it may have 4194304 bytes, it has 4194305'],
    [['exec', 'latin.py'], 'file.unreadable', 'FILE: it is not UTF-8'],
    [['exec', ''], 'file.unreadable', 'FILE: it needs the path of a file'],
    [['exec', 'empty.mjs'], 'usage.invalid', 'FILE: the code must not be empty, got "empty.mjs"'],
    [['exec'], 'usage.invalid', 'the code must not be empty'],
    [
      exec('--env', 'NOVALUE'),
      'usage.invalid',
      '--env: it must be NAME=VALUE with a name of letters, digits and _, got "NOVALUE"',
    ],
    [exec('--env', '=x'), 'usage.invalid', '--env'],
    [exec('--env', '1A=x'), 'usage.invalid', '--env'],
    [exec('--env', 'A B=x'), 'usage.invalid', '--env'],
    [exec('--env', 'A=1', '--env', 'A=2'), 'usage.invalid', '--env: each name is allowed once, "A" is set already'],
    [exec('--expect', '../x'), 'usage.invalid', '--expect: it must be a relative path below the output folder'],
    [exec('--expect', '/x'), 'usage.invalid', '(absolute path)'],
    [exec('--expect', ''), 'usage.invalid', '(empty path)'],
    [exec('--output', 'data.csv'), 'usage.invalid', '--output: it must be a folder that this user can write to'],
    [exec('--output', 'data.csv/x'), 'usage.invalid', '--output'],
    [exec('--output', ''), 'usage.invalid', '--output'],
    [
      exec('--consumer', 'a b'),
      'usage.invalid',
      '--consumer: it must be an id of 1 to 128 letters, digits and . _ : -, got "a b"',
    ],
    [exec('--consumer', ''), 'usage.invalid', '--consumer'],
    [
      exec('--consumer', 'stranger', '--descriptor', 'policy.json'),
      'usage.invalid',
      '--consumer: the descriptor\'s agents_config knows solver.codegen, writer, got "stranger"',
    ],
    [exec('--skill', 'nope'), 'skills.reference-unknown', '"nope"'],
    [exec('--skill', 'internal.link-evidence'), 'skills.reference-denied', '"internal.link-evidence"'],
    [exec('--skill', 'chart', '--descriptor', 'policy.json'), 'skills.reference-denied', '"chart"'],
    [exec('--skill', 'broken', '--skills-root', 'skills'), 'skills.reference-unknown', '"broken"'],
    [exec('--skills-root', 'gone'), 'skills.root-missing', '--skills-root must be a folder, got "gone"'],
    [exec('--skills-root', 'data.csv'), 'skills.root-missing', '--skills-root must be a folder'],
    [exec('--descriptor', 'gone.json'), 'file.unreadable', '--descriptor: there is no such file'],
    [exec('--descriptor', 'pipe'), 'file.unreadable', '--descriptor: it must be a regular file and is a fifo'],
    [exec('--descriptor', 'broken.json'), 'skills.descriptor-invalid', '--descriptor: it must hold JSON'],
    [
      exec('--descriptor', 'deep.json'),
      'skills.descriptor-invalid',
      '--descriptor: it must hold JSON (nested over 64 levels)',
    ],
    [exec('--descriptor', 'other-schema.json'), 'skills.descriptor-invalid', 'skillcell/skills-descriptor@9'],
    [exec('--descriptor', 'no-root.json'), 'skills.root-missing', 'the custom root is no folder'],
    [['codegen', ' ', '--dry-run'], 'usage.invalid', 'TASK: it must not be empty, got " "'],
    [
      ['codegen', 'x', '--max-attempts', '0'],
      'usage.invalid',
      '--max-attempts: it must be a whole number of runs from 1 to 20, got "0"',
    ],
    [['codegen', 'x', '--max-attempts', '21'], 'usage.invalid', '--max-attempts'],
    [
      ['codegen', 'x', '--tool-budget-tokens', '0'],
      'usage.invalid',
      '--tool-budget-tokens: it must be a whole number of tokens from 1 to 1000000, got "0"',
    ],
    [['codegen', 'x', '--tool-budget-tokens', '1000001'], 'usage.invalid', '--tool-budget-tokens'],
    [['codegen', 'x', '--tool-budget-tokens', 'NaN'], 'usage.invalid', '--tool-budget-tokens'],
    [
      ['codegen', 'x', '--budget-tool-calls', '0'],
      'usage.invalid',
      '--budget-tool-calls: it must be a whole number of calls of tools',
    ],
    [['codegen', 'x', '--value-schema', 'gone.json'], 'file.unreadable', '--value-schema: there is no such file'],
    [['codegen', 'x', '--value-schema', 'data.csv'], 'usage.invalid', '--value-schema: it must hold JSON'],
    [
      ['codegen', 'x', '--value-schema', 'list.json'],
      'usage.invalid',
      '--value-schema: it must hold an object with a JSON schema, got "list.json"',
    ],
    [
      ['codegen', 'x', '--dry-run', '--value-schema', 'schema.json'],
      'tool.schema-unsupported',
      'Cannot offer the value of outputs',
    ],
    [['codegen', 'x', '--model', 'nope'], 'usage.invalid', '--model: it must be PROVIDER/MODEL'],
    [
      ['codegen', 'x', '--model', 'openai/x', '--replay', 'data.csv'],
      'usage.invalid',
      '--replay: a recording and --model exclude each other',
    ],
    [
      ['codegen', 'x', '--record', 'r.json', '--replay', 'data.csv'],
      'usage.invalid',
      '--record: there is nothing new to record',
    ],
    [['codegen', 'x', '--replay', 'gone.json'], 'file.unreadable', '--replay: there is no such file'],
    [['codegen', 'x', '--replay', 'data.csv'], 'usage.invalid', 'data.csv'],
    [
      ['codegen', 'x', '--record', 'gone/r.json'],
      'usage.invalid',
      '--record: it must be a file, or a new one in an existing folder',
    ],
    [['codegen', 'x', '--record', 'folder'], 'usage.invalid', '--record'],
    [['skills', 'list', '--root', 'gone'], 'skills.root-missing', '--root must be a folder, got "gone"'],
    [['skills', 'list', '--budget', '-1'], 'usage.invalid', '--budget: it must be a whole number of tokens'],
    [['skills', 'list', '--consumer', '*'], 'usage.invalid', '--consumer'],
    [['skills', 'list', '--descriptor', 'no-root.json'], 'skills.root-missing', 'the custom root is no folder'],
    [
      ['skills', 'match', 'x', '--max', '0'],
      'usage.invalid',
      '--max: it must be a whole number of skills from 1 to 1000, got "0"',
    ],
    [['skills', 'show', 'nope'], 'skills.reference-unknown', '"nope" is unknown'],
    [
      ['skills', 'render', 'chart', 'nope', 'internal.link-evidence'],
      'skills.reference-unknown',
      '"internal.link-evidence" is denied',
    ],
    [['skills', 'render', 'internal.link-evidence'], 'skills.reference-denied', '"internal.link-evidence" is denied'],
    [['skills', 'validate', 'gone'], 'file.unreadable', 'PATH: there is no such file or folder'],
    [['skills', 'validate', 'data.csv'], 'file.unreadable', 'PATH: it must be a folder or a SKILL.md'],
    [['skills', 'descriptor', '--verify', 'broken.json'], 'skills.descriptor-invalid', '--verify: it must hold JSON'],
    [['skills', 'descriptor', '--verify', 'policy.json'], 'skills.descriptor-invalid', 'not the portable form'],
  ] as [string[], string, string][])('%j ends with exit code 2', async (argv, code, message) => {
    const plain = await runMain(argv, { cwd });
    expect({ code: plain.code, stdout: plain.stdout }).toEqual({ code: 2, stdout: '' });
    expect(plain.stderr).toContain(message);
    const json = await runMain([...argv, '--json'], { cwd });
    expect({ code: json.code, stderr: json.stderr }).toEqual({ code: 2, stderr: '' });
    const { diagnostics = [], ...error } = (JSON.parse(json.stdout) as { error: { diagnostics?: unknown[] } }).error;
    expect(error).toEqual({ code, message: expect.stringContaining(message), hint: expect.stringMatching(/./) });
    expect(plain.stderr.split('\n')).toHaveLength(diagnostics.length + 3);
    expect(readdirSync(cwd)).toEqual(before);
  });

  it('is reported before standard input is read', async () => {
    const stdin = new PassThrough();
    const { code, stderr } = await runMain(['exec', '-', '--timeout', '0'], { cwd, stdin });
    expect(code).toBe(2);
    expect(stderr).toContain('--timeout');
    stdin.destroy();
  });

  it('ends with exit code 3 when it needs a missing engine, level or model', async () => {
    const nowhere = { DOCKER_HOST: 'unix:///nowhere/engine.sock' };
    const docker = await runMain(exec('--runner', 'docker', '--json'), { cwd, env: nowhere });
    expect(docker).toMatchObject({ code: 3, stderr: '' });
    expect(JSON.parse(docker.stdout)).toMatchObject({ error: { code: 'engine.unavailable' } });
    const kernel = await runMain(exec('--isolation', 'kernel', '--json'), { cwd });
    expect(kernel.code).toBe(3);
    expect(JSON.parse(kernel.stdout)).toMatchObject({ error: { code: 'runner.isolation-unmet' } });
    const model = await runMain(['codegen', 'x', '--json'], { cwd });
    expect(model).toMatchObject({ code: 3, stderr: '' });
    expect(JSON.parse(model.stdout)).toMatchObject({ error: { code: 'model.not-configured' } });
  });

  it('names the fault when a skill is unknown because it could not be loaded', async () => {
    const { stderr } = await runMain(['skills', 'render', 'broken', '--root', 'skills'], { cwd });
    expect(stderr).toContain('frontmatter.yaml');
    expect(stderr).toContain('public/broken/SKILL.md');
  });

  it('shows the stack of an internal fault only on request', async () => {
    const stdin = new PassThrough().destroy(new Error('the disk is on fire'));
    const { code, stdout, stderr } = await runMain(['exec', '-'], { cwd, stdin });
    expect({ code, stdout }).toEqual({ code: 4, stdout: '' });
    expect(stderr).toContain('Cannot go on: the disk is on fire');
    expect(stderr).not.toContain(' at ');
    const again = new PassThrough().destroy(new Error('the disk is on fire'));
    const debug = await runMain(['exec', '-', '--json'], { cwd, stdin: again, env: { SKILLCELL_DEBUG: '1' } });
    expect(JSON.parse(debug.stdout)).toMatchObject({ error: { code: 'internal.fault' } });
    expect(debug.stderr).toContain('    at ');
  });

  it.each(['before', 'while'])('gives way to a signal %s standard input is read', async (when) => {
    const stdin = new PassThrough();
    const run = startMain(['exec', '-'], { cwd, stdin });
    if (when === 'while') await until(() => stdin.listenerCount('readable') > 0, 'the reading');
    run.signal('SIGINT');
    expect(await run.done).toMatchObject({ code: 130, stdout: '' });
  });
});
