import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type ConsoleScene, startConsole } from '../fixtures/console.ts';
import { describeWith, MISSING_CHROMIUM } from '../fixtures/describe-with.ts';
import { skillArchive } from '../fixtures/registry/skill-archive.ts';
import { uploadForm } from '../fixtures/service.ts';
import { until } from '../fixtures/until.ts';

/** Marks the page if it runs. */
const MARK = "(top ?? window).document.documentElement.dataset.ran = 'yes'";
const MARKUP = `<script>${MARK}</script><img src=x onerror="${MARK}"><svg onload="${MARK}"></svg>`;
/** Escapes that set a title, link to a script, move the cursor, and turn the text around. */
const ESCAPES = '\x1b]0;title\x07\x1b]8;;javascript:alert(1)\x1b\\link\x1b]8;;\x1b\\\x1b[2J\x1b[10;10H\u202Eturned';

/** Whether a script ran in the page. */
async function hasRun(page: Page): Promise<boolean> {
  return await page.evaluate(`document.documentElement.dataset.ran === 'yes'`);
}

describeWith('hostile content in the console', MISSING_CHROMIUM, () => {
  let scene: ConsoleScene;
  let job: string;
  beforeAll(async () => {
    scene = await startConsole();
    const code = `
      import { writeFileSync } from 'node:fs';
      const out = process.env.SKILLCELL_OUTPUT + '/';
      console.log(${JSON.stringify(MARKUP)});
      console.error(${JSON.stringify(ESCAPES)});
      const svg = '<svg xmlns="http://www.w3.org/2000/svg"><script>' + ${JSON.stringify(MARK)} + '</script></svg>';
      writeFileSync(out + 'page.html', '<style>p { color: rgb(1, 2, 3) }</style><p>shown</p>' + ${JSON.stringify(MARKUP)});
      writeFileSync(out + 'picture.svg', svg);
      writeFileSync(out + '<img src=x onerror=1>.txt', ${JSON.stringify(MARKUP)});
      throw new Error(${JSON.stringify(MARKUP)});`;
    const { json } = await scene.service.call('/jobs', {
      body: { kind: 'exec', code, label: MARKUP.slice(0, 200) },
      headers: { prefer: 'wait=60' },
    });
    job = json.jobId;
  });
  afterAll(() => scene[Symbol.asyncDispose]());

  it('is text in output, errors, names and programs', async () => {
    const { page, faults } = await scene.open({ path: `/jobs/${job}` });
    const output = page.getByRole('region', { name: 'Output' });
    await output.getByText('<script>').first().waitFor();
    await output.getByText('turned').waitFor();
    expect(await output.locator('a, img, script, svg').count()).toBe(0);
    for (const part of ['title', '\x1b', 'javascript']) expect(await output.textContent()).not.toContain(part);
    await page.getByRole('button', { name: 'Show <img' }).click();
    await page.getByRole('region', { name: /txt$/ }).getByText('onerror').waitFor();
    await page.goto('/jobs');
    await page.getByRole('link', { name: '<script>' }).waitFor();
    expect(await hasRun(page)).toBe(false);
    expect(faults).toEqual([]);
  });

  it('is shown in frames without an origin, where no script runs', async () => {
    const { page, faults } = await scene.open({ path: `/jobs/${job}` });
    await page.getByRole('button', { name: 'Show page.html' }).click();
    const frame = page.frameLocator('iframe');
    await frame.getByText('shown').waitFor();
    const inFrame = page.frames().at(-1);
    expect(await inFrame?.evaluate(`getComputedStyle(document.querySelector('p')).color`)).toBe('rgb(1, 2, 3)');
    expect(await inFrame?.evaluate('origin')).toBe('null');
    expect(await page.locator('iframe').getAttribute('sandbox')).toBe('');
    await page.getByRole('button', { name: 'Show picture.svg' }).click();
    // The browser names the scripts that it blocks.
    for (const name of ['page.html', 'picture.svg']) {
      const blocked = new RegExp(`^Blocked script execution in '[^']*/${name}'`);
      await until(() => faults.some((line) => blocked.test(line)), `the scripts of ${name}`);
    }
    expect(await hasRun(page)).toBe(false);
  });

  it('cannot run from the address of an artifact either', async () => {
    const { page } = await scene.open();
    const download = page.waitForEvent('download');
    await page.evaluate(`location.assign('/api/v1/jobs/${job}/artifacts/page.html')`);
    expect((await download).suggestedFilename()).toBe('page.html');
  });

  it('is text in skills and their names', async () => {
    const name = '<img src=x onerror=1>';
    const others = [{ name: 'bad/a.html', content: MARKUP }];
    const form = uploadForm(skillArchive('bad', { description: MARKUP, tags: [MARKUP] }, { body: MARKUP, others }), {
      name,
    });
    const { json, status } = await scene.service.call('/skills/upload', { body: form });
    expect(status).toBe(201);
    const { page, faults } = await scene.open({ path: `/skills/${json.skill.metadata.labels.id}` });
    await page.getByRole('heading', { name }).waitFor();
    await page.getByRole('region', { name: 'SKILL.md' }).getByText('onerror').first().waitFor();
    await page.getByRole('tab', { name: 'files' }).click();
    await page.getByRole('combobox', { name: 'File' }).selectOption('a.html');
    await page.getByRole('region', { name: 'a.html' }).getByText('onerror').first().waitFor();
    await page.goto('/skills');
    await page.getByRole('link', { name }).waitFor();
    expect(await hasRun(page)).toBe(false);
    expect(faults).toEqual([]);
  });

  it('would run without the defences: the same text as markup runs in a page without the policy, and not in the console', async () => {
    const { page } = await scene.open({ path: '/jobs' });
    const insert = `(() => {
      const place = document.createElement('div');
      place.innerHTML = ${JSON.stringify(MARKUP)};
      document.body.append(place);
    })()`;
    await page.getByRole('heading', { name: 'Jobs' }).waitFor();
    await page.evaluate(insert);
    await page.waitForLoadState('networkidle');
    expect(await hasRun(page)).toBe(false);
    const free = await scene.browser.newPage();
    await free.goto('data:text/html,<p>free</p>');
    await free.evaluate(insert);
    await free.waitForFunction(`document.documentElement.dataset.ran === 'yes'`);
    expect(await hasRun(free)).toBe(true);
    await free.close();
  });
});
