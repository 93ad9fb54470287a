import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { AxeResults } from 'axe-core';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type ConsoleScene, startConsole } from '../fixtures/console.ts';
import { describeWith, MISSING_CHROMIUM } from '../fixtures/describe-with.ts';
import { enrolWorker } from '../fixtures/fleet/enrol-worker.ts';
import { MISSING_REDIS, type RedisServer, startRedis } from '../fixtures/fleet/redis.ts';
import { skillArchive } from '../fixtures/registry/skill-archive.ts';
import { uploadForm } from '../fixtures/service.ts';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** Findings of axe, one a line. */
async function findings(page: Page): Promise<string[]> {
  // The policy of the page admits no script of a test, so that this one runs beside it.
  const results = await page.evaluate(`${AXE}; axe.run()`);
  return (results as AxeResults).violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, any }) => `${id}: ${html} ${any[0]?.message ?? ''}`),
  );
}

describeWith('the views of the console', MISSING_CHROMIUM ?? MISSING_REDIS, () => {
  let redis: RedisServer;
  let scene: ConsoleScene;
  /** Addresses of all views, each with a text that it shows when it is complete. */
  let views: [path: string, text: string][];
  beforeAll(async () => {
    redis = await startRedis();
    await enrolWorker(redis, 'one');
    scene = await startConsole({ fleet: { url: redis.url } });
    const { call } = scene.service;
    const idOf = async (path: string, body: unknown): Promise<string> => {
      const { json } = await call(path, { body });
      return (json.skill ?? json).metadata.labels.id;
    };
    const skill = await idOf('/skills/upload', uploadForm(skillArchive('units')));
    const form = uploadForm(skillArchive('units', {}, { body: `A line ${'that is long '.repeat(40)}\n` }));
    await call(`/skills/${skill}`, { method: 'PUT', body: form, headers: { 'if-match': '"1"' } });
    const kind = (path: string, name: string, spec: object): Promise<string> =>
      idOf(`/kinds/${path}`, { apiVersion: 'skillcell/v1', kind: name, metadata: { name: 'report' }, spec });
    const ghost = await kind('ghosts', 'Ghost', { systemPrompt: 'Be brief.', skills: ['units'] });
    const bot = await kind('bots', 'Bot', { ghostRef: { name: 'report' } });
    const team = await kind('teams', 'Team', { members: [{ botRef: { name: 'report' } }] });
    await call('/tokens', { body: { name: 'laptop' } });
    await scene.service.user('ada');
    const code = `
      import { writeFileSync } from 'node:fs';
      console.log('\\x1b[31mred\\x1b[0m and \\x1b[34mblue\\x1b[0m', 'wide '.repeat(100));
      for (const name of ['page.html', 'rows.csv', 'a-name-${'x'.repeat(80)}.json'])
        writeFileSync(process.env.SKILLCELL_OUTPUT + '/' + name, '{}');
      throw new TypeError('it failed for a reason');`;
    const { json } = await call('/jobs', {
      body: { kind: 'exec', code, label: 'a job that fails' },
      headers: { prefer: 'wait=60' },
    });
    views = [
      ['/jobs', 'a job that fails'],
      ['/jobs/new', 'Variables'],
      [`/jobs/new?from=${json.jobId}`, 'Variables'],
      [`/jobs/${json.jobId}`, 'rows.csv'],
      ['/skills', 'units'],
      ['/skills/upload', 'Drop the ZIP'],
      [`/skills/${skill}`, 'that is long'],
      [`/skills/${skill}/files`, 'that is long'],
      [`/skills/${skill}/versions`, 'Body of units'],
      [`/skills/${skill}/references`, 'report'],
      ['/agents/ghosts', 'report'],
      ['/agents/ghosts/new', 'System prompt'],
      [`/agents/ghosts/${ghost}`, 'Be brief.'],
      ['/agents/bots', 'report'],
      [`/agents/bots/${bot}`, 'Model'],
      ['/agents/teams', 'report'],
      [`/agents/teams/${team}`, 'custom.units'],
      ['/tokens', 'laptop'],
      ['/users', 'ada'],
      ['/fleet', '1 of 4 slots'],
      ['/no/such/view', 'There is no such view.'],
      ['/jobs/%FF', 'Cannot find the resource'],
    ];
  });
  afterAll(async () => {
    await scene[Symbol.asyncDispose]();
    await redis[Symbol.asyncDispose]();
  });

  /** Goes to each view in one page. */
  async function visit(
    options: { width?: number; scheme?: 'light' | 'dark' },
    look: (page: Page, path: string) => Promise<void>,
  ): Promise<void> {
    const { page, faults } = await scene.open(options);
    for (const [path, text] of views) {
      await page.goto(path);
      await page.getByRole('main').getByText(text).first().waitFor();
      await look(page, path);
    }
    await page.context().close();
    expect(faults).toEqual([]);
  }

  for (const scheme of ['light', 'dark'] as const) {
    it(`have no findings of axe in the ${scheme} scheme`, async () => {
      const found: [string, string[]][] = [];
      await visit({ scheme }, async (page, path) => {
        found.push([path, await findings(page)]);
      });
      const { page: form } = await scene.open({ scheme, path: '/jobs/new' });
      await form.getByRole('textbox', { name: 'Program' }).fill('1');
      await form.getByRole('textbox', { name: 'Network' }).fill('elsewhere.example');
      await form.getByRole('button', { name: 'Run', exact: true }).click();
      await form.getByRole('main').getByText('network.not-allowed').waitFor();
      found.push(['refused form', await findings(form)]);
      const signIn = await scene.open({ token: null, scheme });
      await signIn.page.getByRole('button', { name: 'Sign in' }).waitFor();
      found.push(['sign-in', await findings(signIn.page)]);
      expect(found.filter(([, lines]) => lines.length > 0)).toEqual([]);
      // The control: axe runs in the page, and finds a fault.
      await signIn.page.evaluate(`document.documentElement.removeAttribute('lang')`);
      expect((await findings(signIn.page)).join()).toContain('html-has-lang: ');
    });
  }

  it('need no scrolling to the side in a window of 360 pixels', async () => {
    await visit({ width: 360 }, async (page, path) => {
      const widths = await page.evaluate<number[]>('[document.documentElement.scrollWidth, innerWidth]');
      expect([path, ...widths]).toEqual([path, 360, 360]);
      // Nothing is cut off beside the window either, except in parts that scroll.
      const beside = await page.evaluate(`
        [...document.querySelectorAll('main button, main a, main input, main td')]
          .filter((each) => each.closest('.code, .output') === null && each.getBoundingClientRect().right > 361)
          .map((each) => each.outerHTML)`);
      expect([path, beside]).toEqual([path, []]);
    });
    const { page } = await scene.open({ width: 360 });
    await page.getByRole('button', { name: 'Menu' }).click();
    await page.getByRole('link', { name: 'Skills' }).click();
    await page.getByRole('heading', { name: 'Skills' }).waitFor();
  });

  it('can be used by the keyboard alone', async () => {
    const { page } = await scene.open({ token: null });
    const press = async (...keys: string[]): Promise<void> => {
      for (const key of keys) await page.keyboard.press(key);
    };
    /** Presses Tab until an element of this role and name has the focus. */
    const tabTo = async (role: Parameters<Page['getByRole']>[0], name: string): Promise<void> => {
      const target = page.getByRole(role, { name, exact: true });
      await target.first().waitFor();
      for (let at = 0; at < 60; at += 1) {
        if (await target.first().evaluate((element) => element.matches(':focus'))) return;
        await press('Tab');
      }
      throw new Error(`Tab does not reach ${name}`);
    };
    await tabTo('textbox', 'Token');
    await page.keyboard.insertText(scene.service.admin);
    await press('Enter');
    await tabTo('link', 'New job');
    await press('Enter');
    await tabTo('textbox', 'Program');
    await page.keyboard.insertText('console.log("by keys")');
    await tabTo('button', 'Run');
    await press('Enter');
    await page.getByRole('region', { name: 'Output' }).getByText('by keys').waitFor();
    await page.getByRole('status').getByText('succeeded').waitFor();
    await tabTo('button', 'Delete');
    await press('Enter');
    await page.getByRole('dialog').waitFor();
    // The focus stays in the dialog, begins at Cancel, and returns.
    await press('Tab', 'Tab', 'Tab', 'Tab');
    expect(await page.locator('[role=dialog] :focus').count()).toBe(1);
    await press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await tabTo('link', 'Skills');
    await press('Enter');
    await tabTo('link', 'units');
    await press('Enter');
    await tabTo('tab', 'text');
    await press('ArrowRight', 'ArrowRight');
    await page.getByRole('heading', { name: 'Difference' }).waitFor();
    expect(await page.locator(':focus').textContent()).toBe('versions');
  });
});
