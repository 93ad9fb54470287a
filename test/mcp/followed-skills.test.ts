import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { writeTree } from '../conformance/write-tree.ts';
import { BEST_LEVEL } from '../fixtures/levels.ts';
import { type McpClient, startMcpClient } from '../fixtures/mcp-clients/mcp-client.ts';
import { levelFlags, startMcpServer, stdioConnection, TOKEN } from '../fixtures/mcp-server.ts';
import { runMain } from '../fixtures/run-main.ts';
import { skillText } from '../fixtures/skill-library.ts';
import { until } from '../fixtures/until.ts';

let home: string;
let client: McpClient;
beforeEach(() => {
  home = realpathSync(mkdtempSync(join(tmpdir(), 'mcp-followed-')));
  client = startMcpClient('v2');
});
afterEach(async () => {
  await client[Symbol.asyncDispose]();
  rmSync(home, { recursive: true });
});

const env = (): Record<string, string> => ({
  HOME: home,
  XDG_CACHE_HOME: join(home, 'cache'),
  XDG_CONFIG_HOME: join(home, 'config'),
});

const units = (unit: string) => ({
  'units/SKILL.md': skillText({ name: 'units', description: 'Units in reports.' }, `Give ${unit} units.\n`),
  'units/scripts/unit.mjs': `console.log(${JSON.stringify(unit)});\n`,
});

async function listed(): Promise<string[]> {
  const { structuredContent } = await client.run('list_skills', {});
  return ((structuredContent['skills'] ?? []) as { id: string }[])
    .map(({ id }) => id)
    .filter((id) => id.startsWith('custom.'));
}

async function instructions(): Promise<string> {
  return String((await client.run('load_skill', { skill: 'custom.units' })).structuredContent['instructions']);
}

/** None if a skill vanishes between the list and the read. */
const served = async (): Promise<string[]> =>
  (await client.skills().catch(() => [])).map(({ uri }) => uri).filter((uri) => uri.startsWith('skill://custom/'));

describe('skills of a server', () => {
  it.each(['stdio', 'http'])('are the current ones, and a session keeps those of its opening (%s)', async (edge) => {
    writeTree(join(home, 'bundle/skills'), units('SI'));
    writeFileSync(join(home, 'bundle/skills.json'), '{}');
    const flags = ['--descriptor', join(home, 'bundle/skills.json'), ...(await levelFlags(BEST_LEVEL))];
    await using server = edge === 'http' ? await startMcpServer(flags, env()) : undefined;
    await client.connect(server === undefined ? stdioConnection(flags, env()) : { url: server.url, token: TOKEN });
    expect([await listed(), await served()]).toEqual([['custom.units'], ['skill://custom/units/SKILL.md']]);
    expect(await instructions()).toContain('Give SI units.');
    const { structuredContent } = await client.run('open_session', { skills: ['custom.units'] });
    const { session } = structuredContent;

    writeTree(join(home, 'bundle/skills'), {
      ...units('US'),
      'dates/SKILL.md': skillText({ name: 'dates', description: 'Dates.' }, 'ISO.\n'),
    });
    await until(async () => (await listed()).length === 2, 'the new skill');
    await until(async () => (await instructions()).includes('Give US units.'), 'the new instructions');
    const { structuredContent: run } = await client.run('run_skill_script', {
      skill: 'custom.units',
      script: 'scripts/unit.mjs',
    });
    expect(run).toMatchObject({ outcome: 'succeeded', stdout: { text: 'US\n' } });
    await until(async () => (await served()).length === 2, 'the list of the extension');
    const files = (await client.skills()).flatMap((skill) => skill.files);
    expect(files.filter(({ verified }) => !verified)).toEqual([]);

    const code = "require('node:fs').readFileSync(process.env.SKILLS_DIR + '/custom/units/SKILL.md', 'utf8')";
    const kept = await client.run('run_code', { code, session });
    expect(JSON.stringify(kept.structuredContent)).toContain('Give SI units.');
    await client.run('close_session', { session });

    rmSync(join(home, 'bundle/skills/dates'), { recursive: true });
    await until(async () => (await served()).length === 1, 'the end of a skill');
    expect(await listed()).toEqual(['custom.units']);
  });

  it('are only those that are approved, with --frozen', async () => {
    const project = join(home, 'project');
    writeTree(join(home, 'source'), units('SI'));
    mkdirSync(project);
    const cli = async (...argv: string[]) => await runMain(['skills', ...argv], { cwd: project, env: env() });
    expect(await cli('add', '../source')).toMatchObject({ code: 0 });
    const flags = ['--sources', 'user', '--frozen', '--lock', join(project, 'skillcell.lock.json')];
    writeTree(join(home, '.agents/skills'), units('SI'));
    await client.connect(stdioConnection([...flags, ...(await levelFlags(BEST_LEVEL))], env()));
    expect([await listed(), await served()]).toEqual([[], []]);
    expect(await cli('approve', 'units', '--as', 'Ana')).toMatchObject({ code: 0 });
    // A changed lock file is not noticed by itself, but at the next look.
    writeTree(join(home, '.agents/skills'), {
      'other/SKILL.md': skillText({ name: 'other', description: 'O.' }, 'O.'),
    });
    await until(async () => (await listed()).join() === 'custom.units', 'the approved skill');
    writeTree(join(home, '.agents/skills'), units('US'));
    await until(async () => (await listed()).length === 0, 'the end of the approved skill');
  });

  it('of a project disappear with a changed byte, with --sources', async () => {
    writeTree(join(home, 'project/.agents/skills'), units('SI'));
    const cwd = join(home, 'project');
    expect(await runMain(['skills', 'trust'], { cwd, env: env() })).toMatchObject({ code: 0 });
    const flags = ['--sources', 'project', ...(await levelFlags(BEST_LEVEL))];
    const { argv } = stdioConnection(flags, env()) as { argv: string[] };
    await client.connect({ argv, env: env(), cwd });
    expect(await listed()).toEqual(['custom.units']);
    const { structuredContent } = await client.run('open_session', { skills: ['custom.units'] });
    expect(structuredContent).not.toHaveProperty('error');
    writeTree(join(cwd, '.agents/skills'), units('US'));
    await until(async () => (await listed()).length === 0, 'the end of the trust');
    expect((await client.run('load_skill', { skill: 'custom.units' })).isError).toBe(true);
  });
});
