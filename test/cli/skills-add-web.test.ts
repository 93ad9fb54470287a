import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { removeTree } from '../../src/durable/remove-tree.ts';
import { type LocalServer, serveLocally } from '../fixtures/outgoing/local-server.ts';
import { officialServer, type OfficialServer } from '../fixtures/outgoing/skill-server.ts';
import { skillSite, type SkillSite, skillText } from '../fixtures/outgoing/skill-site.ts';
import { type MainRun, runMain } from '../fixtures/run-main.ts';

let home: string;
let site: SkillSite;
let official: OfficialServer;
let web: LocalServer;
let mcp: LocalServer;
beforeEach(async () => {
  home = mkdtempSync(join(tmpdir(), 'skillcell-add-web-'));
  mkdirSync(join(home, 'project'));
  site = skillSite();
  site.publish('units', skillText('units'));
  official = await officialServer({
    'acme/dates/SKILL.md': skillText('dates'),
    'acme/dates/table.md': '# Table\n',
  });
  web = await serveLocally((request, response) => site.listener(request, response));
  mcp = await serveLocally((request, response) => official.listener(request, response));
});
afterEach(async () => {
  await web[Symbol.asyncDispose]();
  await mcp[Symbol.asyncDispose]();
  removeTree(home);
});

async function skills(...argv: string[]): Promise<MainRun> {
  const allowed = `127.0.0.1:${web.port}, 127.0.0.1:${mcp.port}`;
  return await runMain(['skills', ...argv], {
    cwd: join(home, 'project'),
    env: { HOME: home, SKILLCELL_ALLOW_PRIVATE: allowed },
  });
}

const inProject = (path: string): string => join(home, 'project', path);

describe('skills add', () => {
  it('takes, restores and compares the skills of a web site and of an MCP server', async () => {
    const sources = [`http://127.0.0.1:${web.port}`, `mcp:http://127.0.0.1:${mcp.port}/mcp`];
    for (const source of sources) expect((await skills('add', source)).code).toBe(0);
    expect(readFileSync(inProject('.agents/skills/dates/table.md'), 'utf8')).toBe('# Table\n');
    const lock = JSON.parse(readFileSync(inProject('skillcell.lock.json'), 'utf8')) as {
      skills: Record<string, { origin: object }>;
    };
    expect(Object.values(lock.skills).map(({ origin }) => origin)).toEqual([
      { type: 'mcp', source: `http://127.0.0.1:${mcp.port}/mcp`, folder: 'skill://acme/dates/SKILL.md' },
      { type: 'web', source: sources[0], folder: 'units' },
    ]);
    removeTree(join(home, '.cache'));
    rmSync(inProject('.agents'), { recursive: true });
    expect(await skills('install')).toMatchObject({
      code: 0,
      stdout: 'installed custom.dates in .agents/skills/dates\ninstalled custom.units in .agents/skills/units\n',
    });
    expect((await skills('verify')).code).toBe(0);
    site.publish('units', skillText('units', 'New.'));
    official.files['acme/dates/table.md'] = '# Other\n';
    await official.reload();
    const { stdout } = await skills('update', '--dry-run');
    expect(stdout).toContain('-# Table');
    expect(stdout).toContain('+New.');
  });

  it('ends with 3 if a source does not answer, and with 2 if it may not be asked', async () => {
    const sources = [`http://127.0.0.1:${web.port}`, `mcp:http://127.0.0.1:${mcp.port}/mcp`];
    await web[Symbol.asyncDispose]();
    await mcp[Symbol.asyncDispose]();
    for (const source of sources) expect((await skills('add', source)).code).toBe(3);
    for (const source of ['https://127.0.0.2', 'mcp:https://169.254.169.254/mcp']) {
      const { code, stderr } = await skills('add', source);
      expect([code, stderr]).toEqual([2, expect.stringMatching(/not public[^]*SKILLCELL_ALLOW_PRIVATE/)]);
    }
    expect(existsSync(inProject('.agents'))).toBe(false);
  });
});
