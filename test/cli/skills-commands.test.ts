import { createHash } from 'node:crypto';
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { loadSkillsSubsystem } from '../../src/skills/skills-subsystem.ts';
import { runMain } from '../fixtures/run-main.ts';
import { runCli } from '../fixtures/spawn-cli.ts';

const builtinRoot = fileURLToPath(new URL('../../skills', import.meta.url));
let cwd: string;

beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), 'cli-skills-'));
});
afterEach(() => rmSync(cwd, { recursive: true }));

function addSkill(path: string, lines: readonly string[], body = 'Do it.'): void {
  mkdirSync(join(cwd, path), { recursive: true });
  writeFileSync(join(cwd, path, 'SKILL.md'), `---\n${lines.join('\n')}\n---\n${body}\n`);
}

function asJson(text: string): Record<string, unknown> {
  return JSON.parse(text) as Record<string, unknown>;
}

describe('skillcell skills list', () => {
  it('prints exactly the catalog of the library, in each format', async () => {
    const subsystem = loadSkillsSubsystem({ builtinRoot });
    for (const format of ['text', 'xml', 'markdown'] as const) {
      const run = await runMain(['skills', 'list', '--format', format]);
      expect(run).toEqual({ code: 0, stdout: subsystem.skillsGalleryText({ format }).text, stderr: '' });
    }
    const json = asJson((await runMain(['skills', 'list', '--format', 'json'])).stdout);
    expect(json['ids']).toEqual(subsystem.visible().map(({ id }) => id));
    expect(json['skills']).toMatchObject(
      subsystem.visible().map(({ id }, index) => ({ shortId: `SK${index + 1}`, id })),
    );
    expect((await runMain(['skills', 'list', '--json'])).stdout).toBe(`${JSON.stringify(json, null, 2)}\n`);
  });

  it('cuts to the budget and says so', async () => {
    const { stdout, stderr } = await runMain(['skills', 'list', '--budget', '60']);
    expect(Buffer.byteLength(stdout)).toBeLessThanOrEqual(240);
    expect(stderr).toMatch(/^The catalog is cut to its budget: (ids|omitted)/);
    const json = asJson((await runMain(['skills', 'list', '--json', '--budget', '60'])).stdout);
    expect(json).toMatchObject({ text: stdout, cut: { level: expect.stringMatching(/ids|omitted/) } });
  });

  it("applies the policy of the bundle's descriptor to the consumer", async () => {
    addSkill('bundle/skills/house-style', ['name: house-style', 'description: Our style.']);
    const policy = { 'solver.codegen': { disabled: ['public.*'] }, writer: { enabled: ['public.chart'] } };
    writeFileSync(
      join(cwd, 'bundle/skills.json'),
      JSON.stringify({ agents_config: policy, custom_skills_root: 'skills' }),
    );
    const list = async (...flags: string[]): Promise<unknown> => {
      const run = await runMain(['skills', 'list', '--json', '--descriptor', 'bundle/skills.json', ...flags], { cwd });
      return asJson(run.stdout)['ids'];
    };
    expect(await list('--consumer', 'solver.codegen')).toEqual(['custom.house-style']);
    expect(await list('--consumer', 'writer')).toEqual(['public.chart']);
    expect(await list('--consumer', 'other')).toContain('public.pdf-press');
    expect(await list('--root', 'bundle/skills', '--consumer', 'other')).toEqual([
      'custom.house-style',
      'public.house-style',
    ]);
  });

  it('tells people about skills that are not loaded, and leaves stdout clean', async () => {
    addSkill('skills/public/broken', ['name: broken']);
    addSkill('skills/public/good', ['name: good', 'description: Good.']);
    const { code, stdout, stderr } = await runMain(['skills', 'list', '--root', 'skills', '--format', 'markdown'], {
      cwd,
    });
    expect({ code, stdout }).toEqual({ code: 0, stdout: '- **public.good**: Good.\n' });
    expect(stderr).toContain('error skill.description-missing public/broken/SKILL.md');
  });
});

describe('skillcell skills show', () => {
  it('takes every form of a reference, internal skills too when no consumer is named', async () => {
    for (const ref of ['chart', 'sk:chart', 'skills.public.chart', 'SK1']) {
      const run = await runMain(['skills', 'show', ref, '--json']);
      expect(asJson(run.stdout)).toMatchObject({
        id: 'public.chart',
        files: expect.any(Array),
        tokens: expect.any(Number),
      });
    }
    expect((await runMain(['skills', 'show', 'internal.link-evidence'])).stdout).toContain('internal.link-evidence v');
    expect((await runMain(['skills', 'show', 'internal.link-evidence', '--consumer', 'writer'])).code).toBe(2);
  });
});

describe('skillcell skills render', () => {
  it('prints exactly the block, and its digest as JSON', async () => {
    const subsystem = loadSkillsSubsystem({ builtinRoot });
    for (const variant of ['full', 'compact'] as const) {
      const block = subsystem.buildSkillsInstructionBlock({ refs: ['pdf-press', 'chart'], variant });
      const argv = ['skills', 'render', 'pdf-press', 'chart', '--variant', variant];
      expect(await runMain(argv)).toEqual({ code: 0, stdout: block.text, stderr: '' });
      const json = asJson((await runMain([...argv, '--json'])).stdout);
      const { text, sha256, rows, pool, active, diagnostics } = block;
      expect(json).toEqual({ text, sha256, rows, pool, active, diagnostics });
      expect(json['sha256']).toBe(createHash('sha256').update(text).digest('hex'));
    }
  });

  it('renders nothing when one reference is denied', async () => {
    const descriptor = { agents_config: { writer: { disabled: ['chart'] } } };
    writeFileSync(join(cwd, 'd.json'), JSON.stringify(descriptor));
    const argv = ['skills', 'render', 'pdf-press', 'chart', '--consumer', 'writer', '--descriptor', 'd.json'];
    const run = await runMain(argv, { cwd });
    expect(run).toMatchObject({ code: 2, stdout: '' });
    expect(run.stderr).toContain('"chart" is denied');
    expect(run.stderr).not.toContain('pdf-press');
  });

  it('escapes what a terminal would act on, and only for a terminal', async () => {
    addSkill('skills/public/sly', ['name: sly', 'description: Sly.'], 'a\u001b[31mb');
    const argv = ['skills', 'render', 'sly', '--root', 'skills'];
    expect((await runMain(argv, { cwd })).stdout).toContain('a\u001b[31mb');
    expect((await runMain(argv, { cwd, terminal: true })).stdout).toContain('a\\x1b[31mb');
  });
});

describe('skillcell skills match', () => {
  it('names skills with their hits, at most --max', async () => {
    const json = asJson(
      (await runMain(['skills', 'match', 'draw a chart for the pdf', '--max', '1', '--json'])).stdout,
    );
    expect(json).toMatchObject({
      tier: 3,
      matches: [{ id: 'public.chart', hits: expect.arrayContaining(['keyword:chart']) }],
    });
    expect(json['matches']).toHaveLength(1);
    const plain = await runMain(['skills', 'match', 'draw a chart for the pdf']);
    expect(plain.stdout).toMatch(/^tier 3\npublic\.chart {2}/);
  });
});

describe('skillcell skills validate', () => {
  it('takes a folder of skills, a skill and a SKILL.md, and fails when one is not valid', async () => {
    addSkill('skills/public/good', ['name: good', 'description: Good.']);
    expect(await runMain(['skills', 'validate', 'skills/public/good', '--json'], { cwd })).toMatchObject({ code: 0 });
    addSkill('skills/public/bad', ['name: bad']);
    const all = await runMain(['skills', 'validate', 'skills', 'skills/public/good/SKILL.md', '--json'], { cwd });
    expect(all.code).toBe(1);
    expect(JSON.parse(all.stdout)).toEqual([
      {
        path: 'skills/public/bad',
        valid: false,
        id: null,
        diagnostics: [expect.objectContaining({ code: 'skill.description-missing', severity: 'error' })],
      },
      { path: 'skills/public/good', valid: true, id: 'public.good', diagnostics: [] },
      { path: 'skills/public/good', valid: true, id: 'public.good', diagnostics: [] },
    ]);
    const plain = await runMain(['skills', 'validate', 'skills'], { cwd });
    expect(plain).toMatchObject({ code: 1, stderr: '' });
    expect(plain.stdout).toContain('INVALID skills/public/bad\n  error skill.description-missing');
  });

  it('goes by the specification with --strict', async () => {
    addSkill('good', ['name: good', 'description: Good.', 'version: 1.0']);
    expect((await runMain(['skills', 'validate', 'good'], { cwd })).code).toBe(0);
    const strict = await runMain(['skills', 'validate', 'good', '--strict', '--json'], { cwd });
    expect(strict.code).toBe(1);
    expect(JSON.parse(strict.stdout)).toMatchObject([
      { valid: false, diagnostics: [{ code: 'strict.field-unknown' }] },
    ]);
  });

  it('reports a folder without a skill', async () => {
    mkdirSync(join(cwd, 'none'));
    const run = await runMain(['skills', 'validate', 'none', '--json'], { cwd });
    expect(run.code).toBe(1);
    expect(JSON.parse(run.stdout)).toMatchObject([
      { path: 'none', valid: false, diagnostics: [{ code: 'skill.missing' }] },
    ]);
  });
});

describe('skillcell skills descriptor', () => {
  it('prints a portable descriptor that names no folder, and verifies it', async () => {
    cpSync(join(builtinRoot, 'public/chart'), join(cwd, 'skills/public/chart'), { recursive: true });
    const printed = await runMain(['skills', 'descriptor', '--root', 'skills', '--portable'], { cwd });
    expect(printed).toMatchObject({ code: 0, stderr: '' });
    expect(printed.stdout).not.toContain(cwd);
    expect(asJson(printed.stdout)).toMatchObject({ skills: { 'public.chart': { files: expect.any(Array) } } });
    writeFileSync(join(cwd, 'd.json'), printed.stdout);
    const verify = ['skills', 'descriptor', '--root', 'skills', '--verify', 'd.json'];
    expect(await runMain([...verify, '--json'], { cwd })).toEqual({
      code: 0,
      stdout: `${JSON.stringify({ ok: true, skills: 1, diagnostics: [] }, null, 2)}\n`,
      stderr: '',
    });

    writeFileSync(join(cwd, 'skills/public/chart/compact.md'), 'changed');
    const changed = await runMain([...verify, '--json'], { cwd });
    expect(changed).toMatchObject({ code: 4, stderr: '' });
    expect(asJson(changed.stdout)).toMatchObject({ error: { code: 'skills.digest-mismatch' } });
    const listed = await runMain(['skills', 'list', '--root', 'skills', '--descriptor', 'd.json'], { cwd });
    expect(listed).toMatchObject({ code: 4, stdout: '' });
    expect(listed.stderr).toContain('public.chart has other bytes than those listed');

    rmSync(join(cwd, 'skills/public/chart/compact.md'));
    expect((await runMain(verify, { cwd })).stderr).toContain('descriptor.file-missing');
  });
});

describe('skillcell doctor and sweep', () => {
  it('says what the machine isolates, with advice for all that is missing', async () => {
    // An engine is another test's: docker-host.test.ts.
    const env = { DOCKER_HOST: 'unix:///nowhere/engine.sock' };
    const { code, stdout } = await runMain(['doctor', '--json'], { env });
    expect(code).toBe(0);
    const report = JSON.parse(stdout) as {
      ready: boolean;
      best: string | null;
      checks: { id: string; ok: boolean; advice?: string }[];
      runners: { isolation: string; available: boolean }[];
    };
    expect(report.checks.map(({ id }) => id)).toEqual([
      'node',
      'bubblewrap',
      'util-linux',
      'user-namespaces',
      'control-groups',
      'python',
      'bash',
      'docker',
      'model',
    ]);
    for (const { ok, advice } of report.checks) expect(ok || advice !== undefined).toBe(true);
    expect(report.runners.map(({ isolation }) => isolation)).toEqual(['container', 'namespace', 'none']);
    const namespace = report.runners[1]!.available;
    expect(report).toMatchObject({ ready: namespace, best: namespace ? 'namespace' : null });
    const plain = await runMain(['doctor'], { env });
    expect(plain.stdout).toContain(namespace ? 'Ready: jobs run at level namespace.' : 'No isolation here');
  });

  it('reports what a sweep removed', async () => {
    const { code, stdout } = await runMain(['sweep', '--json']);
    expect(code).toBe(0);
    expect(asJson(stdout)).toEqual({ removed: expect.any(Array), failed: [], skipped: expect.any(Array) });
  });

  it('sweeps without an engine as well, and says so', async () => {
    const { code, stdout, stderr } = await runCli(['sweep', '--json'], {
      env: { DOCKER_HOST: 'unix:///nowhere/engine.sock' },
    });
    const reason = 'Cannot reach the Docker engine: there is no socket, got /nowhere/engine.sock.';
    expect(code).toBe(0);
    expect(asJson(stdout)).toEqual({ removed: expect.any(Array), failed: [], skipped: [{ runner: 'docker', reason }] });
    expect(stderr).toBe(`runner docker was not swept: ${reason}\n`);
  });
});
