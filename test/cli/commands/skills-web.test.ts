import { mkdirSync, mkdtempSync, readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { removeTree } from '../../../src/durable/remove-tree.ts';
import { rawZip } from '../../fixtures/archives/raw-zip.ts';
import { type LocalServer, serveLocally } from '../../fixtures/outgoing/local-server.ts';
import { skillSite, type SkillSite, skillText } from '../../fixtures/outgoing/skill-site.ts';
import { type MainRun, runMain } from '../../fixtures/run-main.ts';

let scene: string;
let project: string;
let site: SkillSite;
let server: LocalServer;
beforeEach(async () => {
  scene = mkdtempSync(join(tmpdir(), 'skills-web-'));
  project = join(scene, 'project');
  mkdirSync(project);
  site = skillSite();
  server = await serveLocally((request, response) => site.listener(request, response));
});
afterEach(async () => {
  await server[Symbol.asyncDispose]();
  removeTree(scene);
});

const skillcell = (...argv: string[]): Promise<MainRun> =>
  runMain(['skills', ...argv], {
    cwd: project,
    env: { HOME: scene, SKILLCELL_ALLOW_PRIVATE: `127.0.0.1:${server.port}` },
  });
const add = (...argv: string[]): Promise<MainRun> => skillcell('add', `http://127.0.0.1:${server.port}`, ...argv);
const taken = (): string[] => readdirSync(join(project, '.agents/skills'));

/** Lists a skill with the digest of another text. */
function lie(name: string): void {
  site.publish(name, skillText(name, 'Listed.'));
  site.files.set(`/.well-known/agent-skills/${name}/SKILL.md`, skillText(name, 'Other.'));
}

const SAID =
  'error source.skill bad/SKILL.md: The skill "bad" is not taken (store.changed): Cannot read the skill "bad": its bytes have another digest than is listed.\n';

describe('skillcell skills add from a web site that lists a wrong digest of one skill', () => {
  it('reports and leaves out that skill, and takes the others', async () => {
    site.publish('units', skillText('units'));
    lie('bad');
    site.publish('dates', skillText('dates'));
    expect(await add()).toMatchObject({ code: 0, stderr: SAID });
    expect(taken()).toEqual(['dates', 'units']);
  });

  it('takes another skill that is chosen', async () => {
    lie('bad');
    site.publish('units', skillText('units'));
    expect(await add('--skill', 'units')).toMatchObject({ code: 0, stderr: SAID });
    expect(taken()).toEqual(['units']);
    const { code, stdout } = await add('--list', '--json');
    const listed = JSON.parse(stdout) as { skills: { id: string }[]; diagnostics: { code: string; path: string }[] };
    expect([code, listed.skills.map(({ id }) => id)]).toEqual([0, ['custom.units']]);
    expect(listed.diagnostics).toEqual([expect.objectContaining({ code: 'source.skill', path: 'bad/SKILL.md' })]);
  });

  it.each([['bad'], ['custom.bad']])('fails if %s is chosen, and writes nothing', async (name) => {
    lie('bad');
    site.publish('units', skillText('units'));
    const { code, stderr } = await add('--skill', 'units', '--skill', name);
    expect([code, stderr]).toEqual([
      2,
      expect.stringContaining('\nCannot read the skill "bad": its bytes have another'),
    ]);
    expect(readdirSync(project)).toEqual([]);
  });

  it('fails if there is no other skill', async () => {
    lie('bad');
    expect(await add()).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('\nCannot read the skill "bad": its'),
    });
    expect(readdirSync(project)).toEqual([]);
  });

  it('leaves out a hostile archive the same way', async () => {
    site.publish('bad', rawZip([{ name: '../evil', content: 'x' }]));
    site.publish('units', skillText('units'));
    expect(await add()).toMatchObject({ code: 0, stderr: expect.stringContaining('(archive.refused): Cannot read') });
    expect(taken()).toEqual(['units']);
  });

  it('fails as a whole if the site does not answer', async () => {
    site.publish('units', skillText('units'));
    site.publish('gone', skillText('gone'));
    site.files.delete('/.well-known/agent-skills/gone/SKILL.md');
    expect((await add()).code).toBe(3);
    expect(readdirSync(project)).toEqual([]);
  });

  it('updates the others, says why that skill is gone, and no longer installs it', async () => {
    for (const name of ['bad', 'units']) site.publish(name, skillText(name));
    expect((await add()).code).toBe(0);
    lie('bad');
    site.publish('units', skillText('units', 'New.'));
    const { code, stdout } = await skillcell('update');
    expect([code, stdout]).toEqual([1, expect.stringContaining(`custom.bad: gone from its source\n  ${SAID}`)]);
    expect(readFileSync(join(project, '.agents/skills/units/SKILL.md'), 'utf8')).toContain('New.');
    removeTree(join(project, '.agents'));
    removeTree(join(scene, '.cache'));
    expect(await skillcell('install')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('Cannot read the skill "bad": its bytes have another digest'),
    });
  });
});
