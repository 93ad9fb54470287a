import { afterAll, beforeAll, expect, it } from 'vitest';
import { type ConsolePage, type ConsoleScene, startConsole } from '../fixtures/console.ts';
import { describeWith, MISSING_CHROMIUM } from '../fixtures/describe-with.ts';
import { skillArchive } from '../fixtures/registry/skill-archive.ts';
import { uploadForm } from '../fixtures/service.ts';
import { startTcpProxy } from '../fixtures/tcp-proxy.ts';

/** Texts of buttons and links that change something. */
const CHANGES = /^(?:New|Upload|Create|Store|Delete|Disable|Enable|Remove|Roll back|Run|Cancel|Change|Check)\b/;

describeWith('roles in the console', MISSING_CHROMIUM, () => {
  let scene: ConsoleScene;
  let ada: { id: number; token: string };
  /** Addresses of what ada has, each with a text of it. */
  let owned: [path: string, text: string][];
  beforeAll(async () => {
    scene = await startConsole();
    const { call } = scene.service;
    ada = await scene.service.user('ada');
    const { token } = ada;
    const run = { body: { kind: 'exec', code: 'console.log("of ada")', label: 'the job of ada' } };
    const { json: job } = await call('/jobs', { token, ...run, headers: { prefer: 'wait=60' } });
    const { json: upload } = await call('/skills/upload', { token, body: uploadForm(skillArchive('units')) });
    const skill = upload.skill.metadata.labels.id;
    const ghost = { apiVersion: 'skillcell/v1', kind: 'Ghost', metadata: { name: 'writer' }, spec: {} };
    const { json: made } = await call('/kinds/ghosts', { token, body: ghost });
    owned = [
      ['/jobs', 'the job of ada'],
      [`/jobs/${job.jobId}`, 'of ada'],
      ['/skills', 'units'],
      [`/skills/${skill}/versions`, 'Version'],
      ['/agents/ghosts', 'writer'],
      [`/agents/ghosts/${made.metadata.labels.id}`, 'System prompt'],
    ];
  });
  afterAll(() => scene[Symbol.asyncDispose]());

  /** Opens addresses, and gives the names of their buttons and links for changes. */
  async function changesIn({ page }: ConsolePage, views: typeof owned): Promise<string[]> {
    const found: string[] = [];
    for (const [path, text] of views) {
      await page.goto(path);
      await page.getByRole('main').getByText(text).first().waitFor();
      const names: string[] = await page.evaluate(
        `[...document.querySelectorAll('main button, main a')].map((each) => each.ariaLabel ?? each.textContent)`,
      );
      found.push(...names.filter((name) => CHANGES.test(name)).map((name) => `${path}: ${name}`));
    }
    return found;
  }

  it('show a viewer all that others have, with their names, and offer no change', async () => {
    const { token } = await scene.service.user('watcher', 'viewer');
    const opened = await scene.open({ token });
    const { page, faults } = opened;
    const views: typeof owned = [...owned, ['/users', 'watcher'], ['/tokens', 'first']];
    expect(await changesIn(opened, views)).toEqual([]);
    await page.goto('/jobs');
    await page.getByRole('cell', { name: 'ada', exact: true }).waitFor();
    await page.goto('/skills');
    await page.getByRole('row', { name: 'units' }).getByText('ada: default').waitFor();
    expect(await page.getByRole('navigation').getByRole('link').allTextContents()).not.toContain('Fleet');
    await page.goto('/fleet');
    await page.getByText('There is no such view.').waitFor();
    for (const path of ['/jobs/new', '/skills/upload', '/agents/teams/new']) {
      await page.goto(path);
      await page.getByText('You may only read.').waitFor();
    }
    expect(faults).toEqual([]);
    // The control: the owner has changes in these views.
    const own = await changesIn(await scene.open({ token: ada.token }), owned);
    for (const name of ['New job', 'Run again', 'Upload', 'New version', 'New ghost', 'Store'])
      expect(own.join('\n')).toContain(`: ${name}`);
  });

  it('show a member only own things, and no users', async () => {
    const { token } = await scene.service.user('other');
    const { page, faults } = await scene.open({ token, path: '/jobs' });
    await page.getByText('No jobs.').waitFor();
    expect(await page.getByRole('navigation').getByRole('link').allTextContents()).not.toContain('Users');
    await page.goto('/users');
    await page.getByText('There is no such view.').waitFor();
    await page.goto('/skills?scope=everyone');
    await page.getByRole('table').waitFor();
    expect(await page.getByRole('link', { name: 'units' }).count()).toBe(0);
    for (const [path] of owned.filter(([each]) => /\d/.test(each))) {
      await page.goto(path);
      await page.getByRole('alert').getByText('resource.not-found').waitFor();
    }
    expect(faults).toEqual([]);
  });

  it('tell an admin that the service has no fleet', async () => {
    const { page, faults } = await scene.open();
    await page.getByRole('link', { name: 'Fleet' }).click();
    await page.getByText('The service has no fleet').waitFor();
    expect(await page.getByRole('alert').count()).toBe(0);
    expect(faults).toEqual([]);
  });

  it('offer no change of a skill of the package, even to an admin', async () => {
    const { page } = await scene.open({ path: '/skills?scope=public' });
    await page.getByRole('row').filter({ hasText: 'public, of the package' }).first().getByRole('link').click();
    await page.getByRole('link', { name: 'Download' }).waitFor();
    expect(await page.getByRole('button', { name: 'Delete' }).count()).toBe(0);
    expect(await page.getByRole('link', { name: 'New version' }).count()).toBe(0);
  });

  it('let an admin disable a user, whose open pages return to the sign-in', async () => {
    const theirs = await scene.open({ token: ada.token, path: '/tokens' });
    await theirs.page.getByRole('cell', { name: 'first', exact: true }).waitFor();
    const proxy = await startTcpProxy(Number(new URL(scene.service.url).port));
    const code = 'console.log("waits"); setInterval(() => {}, 1_000)';
    const { json: job } = await scene.service.call('/jobs', { token: ada.token, body: { kind: 'exec', code } });
    const origin = `http://127.0.0.1:${proxy.port}`;
    const live = await scene.open({ token: ada.token, path: `/jobs/${job.id}`, origin });
    await live.page.getByRole('region', { name: 'Output' }).getByText('waits').waitFor();
    const { page, faults } = await scene.open({ path: '/users' });
    await page.getByRole('button', { name: 'Disable ada' }).click();
    await page.getByText('ada (disabled)').waitFor();
    await theirs.page.getByRole('link', { name: 'Jobs' }).click();
    await theirs.page.getByRole('button', { name: 'Sign in' }).waitFor();
    // A page that follows a job asks for nothing but its events.
    proxy.cut();
    await live.page.getByRole('button', { name: 'Sign in' }).waitFor();
    expect((await scene.service.call(`/jobs/${job.id}/cancel`, { method: 'POST' })).status).toBe(202);
    await proxy.close();
    await page.getByRole('button', { name: 'Enable ada' }).click();
    await page.getByRole('button', { name: 'Disable ada' }).waitFor();
    // The last admin stays one, and the page says why.
    await page.getByRole('button', { name: 'Disable admin' }).click();
    await page.getByRole('alert').getByText('last admin').waitFor();
    expect(faults).toEqual([]);
  });
});
