import { execa } from 'execa';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it, type TestContext } from 'vitest';
import { buildPackage } from '../../scripts/build.ts';
import type { JobResult } from '../../src/contracts/result.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const OFFLINE = /ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ENETUNREACH|EHOSTUNREACH|ETIMEDOUT|ERR_SOCKET_TIMEOUT/;

describe('the packed package', () => {
  let folder: string;
  let install: { exitCode: number | undefined; stderr: string };

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'skillcell-packed-'));
    expect(await buildPackage()).toBe(true);
    await npm(['pack', '--ignore-scripts', '--pack-destination', folder], root);
    const tarball = readdirSync(folder).find((name) => name.endsWith('.tgz'));
    writeFileSync(join(folder, 'package.json'), '{ "private": true, "type": "module" }');
    install = await npm(['install', '--omit=dev', '--prefer-offline', '--fetch-retries=1', `./${tarball}`], folder);
  }, 300_000);

  afterAll(() => rmSync(folder, { recursive: true }));

  /** Without a registry there is nothing to install from; CI has to have one. */
  function requireInstalled(context: TestContext): void {
    const offline = install.exitCode !== 0 && OFFLINE.test(install.stderr);
    context.skip(offline && !process.env['CI'], 'the npm registry does not answer');
    expect(install.exitCode, install.stderr).toBe(0);
  }

  it('runs a job from the command line', async (context) => {
    requireInstalled(context);
    writeFileSync(join(folder, 'program.mjs'), "console.log('six times seven');\nexport default 6 * 7;\n");
    const command = ['exec', 'program.mjs', '--isolation', 'none', '--json'];
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

async function npm(args: string[], cwd: string): Promise<{ exitCode: number | undefined; stderr: string }> {
  const { exitCode, stderr } = await execa('npm', [...args, '--no-audit', '--no-fund', '--loglevel=error'], {
    cwd,
    env: plainEnvironment(),
    extendEnv: false,
    reject: false,
    stdin: 'ignore',
  });
  return { exitCode, stderr };
}

/** The environment of a user's terminal: without what npm and vitest set for this run. */
function plainEnvironment(): Record<string, string | undefined> {
  const kept = Object.entries(process.env).filter(
    ([name]) => !/^(npm_(?!config_registry)|vitest|node_env)/i.test(name),
  );
  return { ...Object.fromEntries(kept), PATH: `${dirname(process.execPath)}:${process.env['PATH']}` };
}
