import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { JobResult } from '../../src/contracts/jobs/result.ts';
import { type CheckoutCopy, copyCheckout } from '../fixtures/checkout-copy.ts';
import { dockerImage, dockerTest } from '../fixtures/docker-image.ts';
import { requireHere } from '../fixtures/describe-with.ts';
import { LEVELS, requireLevel } from '../fixtures/levels.ts';

/** The folder that makes Ruby a language of skillcell. */
const RUBY = fileURLToPath(new URL('../fixtures/languages/ruby', import.meta.url));
const MISSING_RUBY = existsSync('/usr/bin/ruby') ? undefined : '/usr/bin/ruby';
const PROGRAM = `#!/usr/bin/env ruby
require 'json'
require 'skillcell'
at_exit { puts 'last' }
puts "#{ARGV.join(' ')} #{ENV['K']} #{$stdin.read} #{File.read('in.txt')}"
warn 'bad'
File.write("#{ENV['SKILLCELL_OUTPUT']}/made.txt", 'made')
Skillcell.set_value({ n: [1, nil] })
`;

let copy: CheckoutCopy;
let cwd: string;
beforeAll(() => {
  copy = copyCheckout({ 'runtime/languages/ruby': RUBY });
  cwd = mkdtempSync(join(tmpdir(), 'added-language-'));
  writeFileSync(join(cwd, 'in.txt'), 'file');
});
afterAll(() => {
  copy[Symbol.dispose]();
  rmSync(cwd, { recursive: true });
});

describe('a language that is one more folder in runtime/languages', () => {
  it('is unknown without its folder', async () => {
    using plain = copyCheckout({});
    const { code, stderr } = await plain.run(['exec', '-', '--language', 'ruby'], { stdin: 'puts 1' });
    expect(code).toBe(2);
    expect(stderr).toContain('bash, javascript, python, typescript');
    expect(stderr).not.toContain('bash, javascript, python, ruby');
  });

  describe.each(LEVELS)('at level %s', (level) => {
    beforeEach((context) => {
      requireHere(context, MISSING_RUBY);
      requireLevel(context, level);
    });
    const execute = async (
      name: string,
      code: string,
      ...more: string[]
    ): Promise<{ code: number | null; result: JobResult }> => {
      writeFileSync(join(cwd, name), code);
      const words = ['exec', name, '--runner', 'local', '--isolation', level, '--json', ...more];
      const { code: status, stdout } = await copy.run(words, { cwd });
      return { code: status, result: JSON.parse(stdout) as JobResult };
    };

    it.each(['main.rb', 'by-its-first-line'])('runs %s with input, output, value and artifacts', async (name) => {
      writeFileSync(join(cwd, 'stdin.txt'), 'typed');
      const words = ['--arg', 'a b', '--env', 'K=v', '--stdin', 'stdin.txt', '--file', 'in.txt', '--output', level];
      const { code, result } = await execute(name, PROGRAM, ...words);
      expect(result, result.stderr?.text).toMatchObject({
        outcome: 'succeeded',
        isolation: level,
        stdout: { text: 'a b v typed file\nlast\n' },
        stderr: { text: 'bad\n' },
        value: { n: [1, null] },
        artifacts: [{ path: 'made.txt' }],
      });
      expect(code).toBe(0);
      expect(readFileSync(join(cwd, level, 'made.txt'), 'utf8')).toBe('made');
    });

    it('reports exit codes, errors with their line, and signals', async () => {
      expect(await execute('exits.rb', 'exit 7')).toMatchObject({
        code: 1,
        result: { outcome: 'failed', exitCode: 7 },
      });
      expect(await execute('hard.rb', 'exit! 5')).toMatchObject({ result: { outcome: 'failed', exitCode: 5 } });
      const raised = await execute('raises.rb', 'def f\n  {}.fetch(:k)\nend\nf\n');
      expect(raised.result).toMatchObject({ outcome: 'failed', exitCode: 1, error: { name: 'KeyError', line: 2 } });
      expect(raised.result.stderr.text).toContain('key not found: :k');
      const broken = await execute('broken.rb', 'x = 1\nif (\n');
      expect(broken.result).toMatchObject({ outcome: 'failed', error: { name: 'SyntaxError' } });
      const killed = await execute('killed.rb', 'Process.kill(:KILL, Process.pid)');
      expect(killed.result).toMatchObject({ outcome: 'failed', signal: 'SIGKILL' });
    });
  });

  dockerTest('runs in a container of an image that was built with it', { timeout: 10 * 60_000 }, async () => {
    const { engine } = await dockerImage();
    // The base stays the image without Ruby, so that the language must install Ruby itself.
    const bases = await engine.listImages({ filters: { reference: ['skillcell-base', 'node:24-bookworm-slim'] } });
    const base = bases[0]?.RepoTags?.[0] ?? '';
    const newest = engine.getImage('skillcell-sandbox:slim');
    const before = await newest.inspect();
    const built = await copy.run(['image', 'build', '--base', base]);
    expect(built, built.stderr).toMatchObject({ code: 0 });
    const after = await newest.inspect();
    try {
      writeFileSync(join(cwd, 'box.rb'), PROGRAM);
      const words = ['--runner', 'docker', '--arg', 'a', '--env', 'K=v', '--file', 'in.txt', '--json'];
      const { code, stdout } = await copy.run(['exec', 'box.rb', ...words], { cwd });
      expect(JSON.parse(stdout)).toMatchObject({
        outcome: 'succeeded',
        isolation: 'container',
        stdout: { text: 'a v  file\nlast\n' },
        stderr: { text: 'bad\n' },
        value: { n: [1, null] },
      });
      expect(code).toBe(0);
    } finally {
      await engine.getImage(before.Id).tag({ repo: 'skillcell-sandbox', tag: 'slim' });
      for (const name of after.RepoTags.filter((tag) => !before.RepoTags.includes(tag)))
        await engine.getImage(name).remove();
    }
  });

  it('has its own prompt, and the doctor looks for its interpreter', async (context) => {
    requireHere(context, MISSING_RUBY);
    requireLevel(context, 'none');
    const words = [
      'codegen',
      'Say hello.',
      '--language',
      'ruby',
      '--dry-run',
      '--runner',
      'local',
      '--isolation',
      'none',
    ];
    const { code, stdout } = await copy.run(words);
    expect(code).toBe(0);
    expect(stdout).toContain('one fenced code block, marked ruby,');
    expect(stdout).toContain('No gem is there.');
    const definition = join(copy.folder, 'runtime/languages/ruby/language.json');
    const asking = { command: ['./nothing.rb'], version: '3.1', some: 'Gems: {packages}.', none: 'No gem is known.' };
    writeFileSync(
      definition,
      JSON.stringify({ ...(JSON.parse(readFileSync(definition, 'utf8')) as object), installed: asking }),
    );
    const unknown = await copy.run(words);
    expect(unknown.stdout).toContain('- No gem is known.\n');
    expect(unknown.stderr).toMatch(/warning packages\.unknown: The prompt names no package: Ruby /);
    const doctor = await copy.run(['doctor', '--json'], { env: { DOCKER_HOST: 'unix:///nowhere/engine.sock' } });
    expect(JSON.parse(doctor.stdout)).toMatchObject({
      checks: expect.arrayContaining([
        { id: 'ruby', ok: true, needed: false, found: expect.stringMatching(/^ruby 3/) },
      ]),
    });
  });

  it('makes the doctor look for its interpreter only where jobs look', async () => {
    using own = copyCheckout({ 'runtime/languages/ruby': RUBY });
    const interpreter = join(cwd, 'own-ruby');
    const file = join(own.folder, 'runtime/languages/ruby/language.json');
    const definition = JSON.parse(readFileSync(file, 'utf8')) as object;
    writeFileSync(file, JSON.stringify({ ...definition, interpreters: ['/nowhere/bash', interpreter] }));
    const check = async (): Promise<unknown> => {
      const env = { DOCKER_HOST: 'unix:///nowhere/engine.sock' };
      const { stdout } = await own.run(['doctor', '--json'], { env });
      return (JSON.parse(stdout) as { checks: { id: string }[] }).checks.find(({ id }) => id === 'ruby');
    };
    expect(await check()).toMatchObject({ ok: false, found: `no /nowhere/bash or ${interpreter}` });
    writeFileSync(interpreter, '#!/bin/sh\necho "own $1"\n', { mode: 0o755 });
    expect(await check()).toMatchObject({ ok: true, found: 'own --version' });
  });
});
