import { createHash } from 'node:crypto';
import { accessSync, constants, cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { loadSkillsSubsystem } from '../../../src/skills/index.ts';
import { type MainRun, runMain } from '../../fixtures/run-main.ts';
import { runCli } from '../../fixtures/spawn-cli.ts';
import { until } from '../../fixtures/until.ts';

const builtinRoot = fileURLToPath(new URL('../../../skills', import.meta.url));
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

describe('skillcell skills list of missing skills', () => {
  it('ends with 1 and names skills that lie too deep', async () => {
    addSkill('deep/1/2/3/4/5/6/far', ['name: far', 'description: Far.']);
    const run = await runMain(['skills', 'list', '--root', 'deep'], { cwd });
    expect(run).toMatchObject({ code: 1, stdout: '[SKILL CATALOG]\n(no skills)\n' });
    expect(run.stderr).toBe(
      'warning root.depth 1/2/3/4/5/6/far: Folders below depth 6 are not searched; 1 SKILL.md lies there: 1/2/3/4/5/6/far/SKILL.md.\n',
    );
    mkdirSync(join(cwd, 'empty'));
    expect(await runMain(['skills', 'list', '--root', 'empty', '--json'], { cwd })).toMatchObject({
      code: 0,
      stderr: '',
    });
  });

  it('says which skills stay out of catalog and match, and why', async () => {
    addSkill('lib/public/hand', ['description: H.', 'triggers: pdf', 'disable-model-invocation: true']);
    addSkill('lib/public/no', ['description: N.', 'triggers: pdf']);
    addSkill('lib/internal/in', ['description: I.']);
    writeFileSync(join(cwd, 'd.json'), '{ "agents_config": { "w": { "disabled": ["no"] } } }');
    const flags = ['--root', 'lib', '--descriptor', 'd.json', '--consumer', 'w'];
    const list = await runMain(['skills', 'list', '--format', 'markdown', ...flags], { cwd });
    expect(list).toMatchObject({ code: 0, stdout: '' });
    expect(list.stderr.split('\n')).toEqual([
      'Left out, models may not invoke it (disable-model-invocation): public.hand.',
      'Left out, disabled for this consumer: public.no.',
      '',
    ]);
    const match = await runMain(['skills', 'match', 'a pdf', ...flags], { cwd });
    expect(match.stdout).toBe('tier 0\n');
    expect(match.stderr.split('\n')).toEqual([
      'public.hand would match and is left out: models may not invoke it (disable-model-invocation).',
      'public.no would match and is left out: disabled for this consumer.',
      '',
    ]);
  });

  it('says which skills require a tool that --tool does not name', async () => {
    addSkill('bundle/skills/needs', ['name: needs', 'description: Needs a tool.', 'triggers: needle']);
    writeFileSync(join(cwd, 'bundle/skills/needs/tools.yaml'), 'tools: [{ id: crm.find, required: true }, crm.add]');
    writeFileSync(join(cwd, 'bundle/skills.json'), JSON.stringify({ custom_skills_root: 'skills' }));
    const reason = 'needs the tool crm.find, which is not offered';
    const ask = async (...words: string[]): Promise<Record<string, unknown>> =>
      asJson((await runMain(['skills', ...words, '--json', '--descriptor', 'bundle/skills.json'], { cwd })).stdout);
    expect(await ask('list', '--tool', 'crm.add')).toMatchObject({
      ids: expect.not.arrayContaining(['custom.needs']),
      leftOut: expect.arrayContaining([{ id: 'custom.needs', reason }]),
    });
    for (const flags of [[], ['--tool', 'crm.add', '--tool', 'crm.find']])
      expect((await ask('list', ...flags))['ids']).toContain('custom.needs');
    expect(await ask('match', 'a needle', '--tool', 'crm.add')).toMatchObject({
      matches: [],
      leftOut: [{ id: 'custom.needs', reason }],
    });
    expect(await runMain(['skills', 'list', '--tool', ' '], { cwd })).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('Cannot use --tool: it must be the id of a tool'),
    });
  });

  it('names the wrong key of a descriptor', async () => {
    writeFileSync(join(cwd, 'd.json'), '{ "custom_skill_root": "skills" }');
    const { code, stderr } = await runMain(['skills', 'list', '--descriptor', 'd.json'], { cwd });
    expect(code).toBe(2);
    expect(stderr).toContain('there is no field custom_skill_root, got "skills". Did you mean custom_skills_root?');
  });
});

describe('skillcell skills show', () => {
  it('prints every field, also those that no dialect knows, on lines of their own', async () => {
    addSkill('skills/public/a', [
      ...['description: A.', 'category: w\u001b[31m', 'tags: [x, y]', 'triggers: {keywords: [k], patterns: [b.*]}'],
      ...['bindShells: bash, zsh', 'provider: {module: m, class: C}', 'argument-hint: {a: 1}', 'user-invocable: false'],
      ...['allowed-tools: Read Write', 'when_to_use: [now]', 'metadata: {k: v}', 'default_enabled: false'],
    ]);
    const { code, stdout } = await runMain(['skills', 'show', 'a', '--root', 'skills'], { cwd });
    expect(code).toBe(0);
    expect(stdout.split('\n').slice(3, 14)).toEqual([
      'for models only: not meant to be asked for by people',
      'category: w\\x1b[31m',
      'tags: x, y',
      'triggers: {"keywords":["k"],"patterns":["b.*"]}',
      'bindShells: bash, zsh',
      'provider: {"module":"m","class":"C"}',
      'allowedTools: Read, Write',
      'whenToUse: now',
      'metadata: {"k":"v"}',
      'defaultEnabled: false',
      'argument-hint (other field): {"a":1}',
    ]);
  });

  it('prints the findings of the shown skills, as render does, each once, and none of others', async () => {
    addSkill('skills/public/odd', [
      'name: other',
      'description: O.',
      'triggers: {patterns: ["(?=a)"]}',
      'import: base',
    ]);
    addSkill('skills/public/base', ['name: base', 'description: B.', 'version: [1]']);
    for (const name of ['bad', 'worse']) addSkill(`skills/public/${name}`, ['name: [']);
    const codes = async (...argv: string[]): Promise<(string | undefined)[]> => {
      const { stderr } = await runMain(['skills', ...argv, '--root', 'skills'], { cwd });
      return stderr.match(/^ *\w+ [\w-]+\.[\w-]+ \S+(?=: )/gm)?.map((line) => line.trim()) ?? [];
    };
    const ofOdd = [
      'warning skill.name-mismatch public/odd/SKILL.md:2:1',
      'warning trigger.pattern public/odd/SKILL.md:4:23',
    ];
    expect(await codes('show', 'odd')).toEqual(ofOdd);
    expect(await codes('render', 'odd')).toEqual(['warning skill.field-type public/base/SKILL.md:4:1', ...ofOdd]);
    // A failed reference is explained by the faults of the skill of that name.
    expect(await codes('show', 'bad')).toEqual([
      expect.stringMatching(/^error frontmatter\.yaml public\/bad\/SKILL\.md:\d/),
    ]);
    expect(await codes('show', 'nothing')).toEqual([]);
    expect(await codes('list')).toHaveLength(5);
  });

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

  it('escapes control characters, and only for a terminal', async () => {
    addSkill('skills/public/sly', ['name: sly', 'description: Sly.'], 'a\u001b[31mb');
    const argv = ['skills', 'render', 'sly', '--root', 'skills'];
    expect((await runMain(argv, { cwd })).stdout).toContain('a\u001b[31mb');
    expect((await runMain(argv, { cwd, terminal: true })).stdout).toContain('a\\x1b[31mb');
  });
});

describe('skillcell skills match', () => {
  it('works in a process that has loaded nothing else', async () => {
    const { code, stdout, stderr } = await runCli(['skills', 'match', 'draw a chart']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(/^tier 3\npublic\.chart /);
  });

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

  it('prints texts of authors so that they forge no line and act on no terminal', async () => {
    const pattern = String.raw`"pie|\npublic.fake  mention:public.fake\e"`;
    addSkill('skills/public/a', ['description: A.', 'triggers:', `  patterns: [${pattern}]`]);
    const { stdout } = await runMain(['skills', 'match', 'a pie', '--root', 'skills'], { cwd });
    const hit = String.raw`public.a  pattern:pie|\npublic.fake  mention:public.fake\x1b`;
    expect(stdout).toMatch(/^tier 3\n/);
    expect(stdout.split('\n')[1]).toBe(hit);
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

  it('prints the id that the other commands take', async () => {
    addSkill('mine/our-style', ['name: our-style', 'description: Ours.']);
    addSkill('mine/chart', ['name: chart', 'description: Ours.', 'namespace: public']);
    const run = await runMain(['skills', 'validate', 'mine/our-style', 'mine'], { cwd });
    expect(run.stdout.match(/\(\S+\)$/gm)).toEqual(['(custom.our-style)', '(public.chart)', '(custom.our-style)']);
    writeFileSync(join(cwd, 'b.json'), '{ "custom_skills_root": "mine" }');
    const rendered = await runMain(['skills', 'render', 'custom.our-style', '--descriptor', 'b.json'], { cwd });
    expect(rendered.code).toBe(0);
  });

  it('calls a duplicate invalid, by the id that the other commands take', async () => {
    for (const folder of ['a', 'b']) addSkill(`mine/${folder}/dup`, ['name: dup', `description: ${folder}.`]);
    const { code, stdout } = await runMain(['skills', 'validate', 'mine'], { cwd });
    expect(code).toBe(1);
    expect(stdout.split('\n')).toEqual([
      'valid mine/a/dup (custom.dup)',
      'INVALID mine/b/dup (custom.dup)',
      '  error skill.duplicate b/dup/SKILL.md: custom.dup is already the skill in a/dup; this one is not loaded.',
      '',
    ]);
  });

  it('prints names of folders so that they forge no line and act on no terminal', async () => {
    const name = 'x\nvalid skills/fake\u001b[2J\u202e';
    addSkill(`skills/${name}/a`, ['name: b', 'description: A.']);
    const { stdout } = await runMain(['skills', 'validate', 'skills'], { cwd });
    expect(stdout.split('\n')).toEqual([
      'valid skills/x\\nvalid skills/fake\\x1b[2J\\u{202e}/a (custom.a)',
      '  warning skill.name-mismatch x\\nvalid skills/fake\\x1b[2J\\u{202e}/a/SKILL.md:2:1: The name "b" is not that of the folder, "a".',
      '',
    ]);
    const { stderr } = await runMain(['skills', 'list', '--root', 'skills'], { cwd });
    expect(stderr).toContain('x\\nvalid skills/fake\\x1b[2J\\u{202e}/a/SKILL.md:2:1: ');
  });

  it('applies the specification with --strict', async () => {
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
  it('reports the isolation levels of the machine, with advice for missing ones', async () => {
    // Engines are tested in docker-host.test.ts.
    const env = { DOCKER_HOST: 'unix:///nowhere/engine.sock' };
    const { code, stdout } = await runMain(['doctor', '--json'], { env });
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
      'bash',
      'python',
      'docker',
      'model',
    ]);
    for (const { ok, advice } of report.checks) expect(ok || advice !== undefined).toBe(true);
    expect(report.runners.map(({ isolation }) => isolation)).toEqual(['container', 'namespace', 'none']);
    const namespace = report.runners[1]!.available;
    expect(report).toMatchObject({ ready: namespace, best: namespace ? 'namespace' : null });
    expect(code).toBe(namespace ? 0 : 1);
    const plain = await runMain(['doctor'], { env });
    expect(plain.code).toBe(code);
    expect(plain.stdout).toContain(namespace ? 'Ready: jobs run at level namespace.' : 'No isolation here');
  });

  it('reports the leftovers that a sweep removed', async ({ skip }) => {
    let swept: MainRun;
    if (isClosed('/var/run/docker.sock'))
      skip('this user may not reach the Docker engine, so that a sweep ends with 3');
    // The sweep also removes leftovers of other tests, whose hosts may still be ending.
    await until(async () => {
      swept = await runMain(['sweep', '--json']);
      return swept.code === 0;
    }, 'a sweep without failures');
    expect(asJson(swept!.stdout)).toEqual({ removed: expect.any(Array), failed: [], skipped: expect.any(Array) });
  });

  it('ends a sweep with 3 when the engine is dead, after it has swept the rest', async () => {
    const { code, stdout, stderr } = await runCli(['sweep', '--json'], {
      env: { DOCKER_HOST: 'unix:///nowhere/engine.sock' },
    });
    const reason = 'Cannot reach the Docker engine: the socket does not exist, got /nowhere/engine.sock';
    expect({ code, stderr }).toEqual({ code: 3, stderr: '' });
    expect(asJson(stdout)).toEqual({
      error: {
        code: 'runner.unavailable',
        message: `Cannot remove all leftovers of dead processes: runner docker: ${reason}.`,
        hint: expect.stringMatching(/^\d+ removed, the rest is unknown\. /),
      },
    });
  });
});

function isClosed(socket: string): boolean {
  if (!existsSync(socket)) return false;
  try {
    accessSync(socket, constants.W_OK);
    return false;
  } catch {
    return true;
  }
}
