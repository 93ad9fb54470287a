import { readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { execa } from 'execa';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JobResult } from '../../src/contracts/result.ts';
import { installPackedPackage, plainEnvironment, type PackedPackage } from '../fixtures/packed-package.ts';

describe('the packed package', () => {
  let folder: string;
  let requireInstalled: PackedPackage['requireInstalled'];

  beforeAll(async () => {
    ({ folder, requireInstalled } = await installPackedPackage());
  }, 300_000);

  afterAll(() => rmSync(folder, { recursive: true }));

  it('runs a job from the command line', async (context) => {
    requireInstalled(context);
    writeFileSync(join(folder, 'program.mjs'), "console.log('six times seven');\nexport default 6 * 7;\n");
    const command = ['exec', 'program.mjs', '--runner', 'local', '--isolation', 'none', '--json'];
    const { stdout, stderr, exitCode } = await execa(join(folder, 'node_modules/.bin/skillcell'), command, {
      cwd: folder,
      env: plainEnvironment(),
      extendEnv: false,
      reject: false,
      stdin: 'ignore',
    });
    expect(exitCode, stderr + stdout).toBe(0);
    const result = JSON.parse(stdout) as JobResult;
    expect(result).toMatchObject({ outcome: 'succeeded', runner: 'local', isolation: 'none', exitCode: 0, value: 42 });
    expect(result.stdout.text).toBe('six times seven\n');
  });

  it('offers the library by its names', async (context) => {
    requireInstalled(context);
    const code = `
      import { createOrchestrator } from 'skillcell';
      import { SkillsSubsystem } from 'skillcell/skills';
      import manifest from 'skillcell/package.json' with { type: 'json' };
      process.stdout.write([typeof createOrchestrator, typeof SkillsSubsystem, manifest.name].join(' '));`;
    const { stdout } = await execa(process.execPath, ['--input-type=module', '-e', code], { cwd: folder });
    expect(stdout).toBe('function function skillcell');
  });

  it('holds what it runs and no sources or tests', async (context) => {
    requireInstalled(context);
    const files = readdirSync(join(folder, 'node_modules/skillcell'), { recursive: true }).map(String);
    expect(files).toEqual(
      expect.arrayContaining(['LICENSE', 'README.md', 'dist/runtime/manifest.json', 'dist/index.d.ts']),
    );
    expect(files.filter((name) => /^(src|test|scripts|runtime|examples)(\/|$)/.test(name))).toEqual([]);
  });
});
