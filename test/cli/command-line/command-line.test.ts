import { describe, expect, it } from 'vitest';
import { COMMANDS } from '../../../src/cli/command-line/command-table.ts';
import { helpText } from '../../../src/cli/command-line/help-text.ts';
import { readCommandLine } from '../../../src/cli/command-line/read-command-line.ts';
import { DEFAULT_LIMITS, MINIMUM_PIDS } from '../../../src/contracts/jobs/limits.ts';
import { runMain } from '../../fixtures/run-main.ts';

function parsed(...argv: string[]): {
  path: string;
  operands: readonly string[];
  flags: Record<string, readonly string[]>;
} {
  const line = readCommandLine(argv);
  if (line.kind !== 'run') throw new Error(`It is ${line.kind}.`);
  const { operands, flags } = line.arguments;
  return { path: line.command.path.join(' '), operands, flags: Object.fromEntries(flags) };
}

describe('readCommandLine()', () => {
  it('takes flags before, after and with an equals sign, and repeats repeatable flags', () => {
    expect(parsed('exec', '--arg', 'a', 'x.py', '--arg=--b', '--arg', '-c', '--json', '--timeout=2')).toEqual({
      path: 'exec',
      operands: ['x.py'],
      flags: { arg: ['a', '--b', '-c'], json: [''], timeout: ['2'] },
    });
  });

  it('takes a lone hyphen and all words after -- as operands', () => {
    expect(parsed('exec', '-').operands).toEqual(['-']);
    expect(parsed('exec', '--', '--odd.py').operands).toEqual(['--odd.py']);
    expect(parsed('skills', 'render', 'a', '--', '--json')).toMatchObject({ operands: ['a', '--json'], flags: {} });
    expect(parsed('skills', 'run', 'a', 'b', '--', '--json')).toMatchObject({ operands: ['a', 'b'], flags: {} });
  });

  it.each([
    [
      [],
      'a command is one of exec, codegen, repl, mcp, serve, worker, fleet, skills, image, doctor, sweep, got nothing',
    ],
    [['nope'], 'got "nope"'],
    [['skills'], 'a command is one of list, show, render, match, '],
    [['skills', 'nope'], 'got "nope"'],
    [['--json'], 'got "--json"'],
    [['exec', '--nope'], 'there is no flag --nope'],
    [['exec', '--__proto__', 'x'], 'there is no flag --__proto__'],
    [['exec', '--constructor'], 'there is no flag --constructor'],
    [['exec', '-j'], 'there is no flag -j'],
    [['exec', '--json=yes'], '--json takes no value, got "yes"'],
    [['exec', '--timeout'], '--timeout needs a value'],
    [
      ['exec', '--timeout', '--json'],
      '--timeout needs a value; one that begins with -- is written --timeout=VALUE, got "--json"',
    ],
    [['exec', '--timeout', '1', '--timeout', '2'], '--timeout is allowed once, got "2"'],
    [['exec', '--language', 'ruby'], '--language must be one of bash, javascript, python, typescript, got "ruby"'],
    [['exec', '--runner', 'remote'], '--runner must be one of auto, local, docker, fleet, got "remote"'],
    [
      ['exec', '--isolation', 'Namespace'],
      '--isolation must be one of none, namespace, container, kernel, got "Namespace"',
    ],
    [['exec', 'a', 'b'], 'it takes [FILE|-], got "b"'],
    [['codegen'], 'it needs TASK|-, got nothing'],
    [['skills', 'list', 'x'], 'it takes no operands, got "x"'],
    [['skills', 'show'], 'it needs REF'],
    [['skills', 'render'], 'it needs REF...'],
    [['skills', 'validate'], 'it needs PATH...'],
    [['skills', 'render', 'a', '--variant', 'tiny'], '--variant must be one of full, compact, got "tiny"'],
    [['skills', 'list', '--format', 'html'], '--format must be one of text, xml, markdown, json, got "html"'],
  ])('refuses %j', async (argv, message) => {
    expect(() => readCommandLine(argv)).toThrow(message);
    const { code, stdout, stderr } = await runMain(argv);
    if (argv.includes('--json')) {
      expect({ code, stderr }).toEqual({ code: 2, stderr: '' });
      expect(JSON.parse(stdout)).toEqual({
        error: { code: 'usage.invalid', message: expect.stringContaining(message), hint: expect.any(String) },
      });
    } else {
      expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
      expect(stderr).toContain(message);
    }
  });
});

describe('help', () => {
  it('is printed at every level, with exit code 0', async () => {
    const levels = [[], ['skills'], ['image'], ...COMMANDS.map(({ path }) => [...path])];
    for (const level of levels) {
      for (const flag of ['--help', '-h']) {
        const { code, stdout, stderr } = await runMain([...level, flag]);
        expect({ code, stderr, stdout }).toEqual({ code: 0, stderr: '', stdout: helpText(level) });
        expect(stdout).toMatch(/^Usage: skillcell/);
      }
    }
  });

  it('names every command, and every flag of the fixed command line', () => {
    const program = helpText([]);
    for (const { path } of COMMANDS) expect(program).toContain(`\n  ${path.join(' ')}`);
    const job =
      'language runner isolation file stdin arg env output expect timeout memory cpus pids workspace descriptor ' +
      'skills-root consumer skill json';
    const fixed: Record<string, string> = {
      exec: job,
      codegen: `${job} model replay record max-attempts dry-run`,
      'skills list': 'root consumer format budget descriptor',
      'skills show': 'root json descriptor',
      'skills render': 'root consumer variant json descriptor',
      'skills match': 'root max json descriptor',
      'skills validate': 'strict json',
      'skills run': job.replace('language ', '').replace('stdin ', ''),
      'skills eval': 'runs aa triggers model record replay out json root descriptor consumer budget-model-calls',
      'skills descriptor': 'root portable verify descriptor',
      doctor: 'json',
      sweep: 'json',
    };
    for (const [command, flags] of Object.entries(fixed)) {
      const text = helpText(command.split(' '));
      for (const flag of flags.split(' ')) expect(text).toMatch(new RegExp(`\\n  --${flag}[ .]`));
    }
  });

  it('shows flags before the words after --', () => {
    expect(helpText(['skills', 'run'])).toMatch(
      /^Usage: skillcell skills run REF SCRIPT \[FLAGS\] \[-- ARGS\.\.\.\]\n/,
    );
  });

  it.each(['doctor', 'skills list', 'skills validate', 'skills eval'])('explains exit code 1 of %s', (command) => {
    expect(helpText(command.split(' '))).toMatch(/\nExit code 1 when /);
  });

  it('shows the current defaults', () => {
    const text = helpText(['exec']);
    const shown = (flag: string): number => Number(new RegExp(`--${flag} .*default: (\\d+)`).exec(text)?.[1]);
    expect(shown('timeout') * 1000).toBe(DEFAULT_LIMITS.runTimeoutMs);
    expect(shown('memory')).toBe(DEFAULT_LIMITS.memoryMib);
    expect(shown('cpus')).toBe(DEFAULT_LIMITS.cpus);
    expect(shown('pids')).toBe(DEFAULT_LIMITS.pids);
    expect(shown('workspace')).toBe(DEFAULT_LIMITS.workspaceMib);
    expect(shown('artifact-file') * 1024 ** 2).toBe(DEFAULT_LIMITS.artifactFileBytes);
    expect(shown('kept-output') * 1024).toBe(DEFAULT_LIMITS.keptOutputBytes);
    expect(text).toContain(`at least ${MINIMUM_PIDS}`);
  });

  it('gives the version of the package', async () => {
    const { default: manifest } = await import('../../../package.json', { with: { type: 'json' } });
    expect(await runMain(['--version'])).toEqual({ code: 0, stdout: `${manifest.version}\n`, stderr: '' });
  });
});
