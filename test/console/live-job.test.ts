import { renameSync } from 'node:fs';
import { join } from 'node:path';
import { execa } from 'execa';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type ConsoleScene, startConsole } from '../fixtures/console.ts';
import { describeWith, MISSING_CHROMIUM } from '../fixtures/describe-with.ts';
import { programAnswer, scriptedModel } from '../fixtures/scripted-model.ts';
import { startTcpProxy } from '../fixtures/tcp-proxy.ts';

/** All lines of the output, which the page shows in parts. Code of pages is text: its types are not those of Node. */
async function shownLines(page: Page): Promise<string[]> {
  return await page.evaluate(`(async () => {
    const place = document.querySelector('.output');
    const found = new Map();
    for (let top = 0; top <= place.scrollHeight; top += 100) {
      place.scrollTop = top;
      await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
      for (const line of place.querySelectorAll('.line'))
        found.set(new DOMMatrix(line.style.transform).m42, line.textContent);
    }
    return [...found].toSorted(([one], [other]) => one - other).map(([, text]) => text);
  })()`);
}

describeWith('a job in the console', MISSING_CHROMIUM, () => {
  let scene: ConsoleScene;
  beforeAll(async () => {
    const model = scriptedModel([
      programAnswer('javascript', 'console.log("first");\nthrow new Error("not yet");'),
      programAnswer('javascript', 'console.log("second");\nconsole.log("done");'),
    ]);
    scene = await startConsole({ model });
  });
  afterAll(() => scene[Symbol.asyncDispose]());

  async function submit(body: object, prefer = ''): Promise<string> {
    const { json } = await scene.service.call('/jobs', { body, headers: { prefer } });
    return json.id ?? json.jobId;
  }

  it('shows each line once and in order, although its connection is cut again and again', async () => {
    const proxy = await startTcpProxy(Number(new URL(scene.service.url).port));
    const code = `
      for (let at = 0; at < 600; at += 1) {
        console.log('line ' + at);
        await new Promise((resolve) => setTimeout(resolve, 25));
      }`;
    const id = await submit({ kind: 'exec', code });
    const { page, faults } = await scene.open({ path: `/jobs/${id}`, origin: `http://127.0.0.1:${proxy.port}` });
    const output = page.getByRole('region', { name: 'Output' });
    for (const line of [/^line \d+$/, /^line [2-5]\d\d$/, /^line [45]\d\d$/]) {
      await output.getByText(line).first().waitFor();
      proxy.cut();
      await page.getByText('The connection is lost').waitFor();
    }
    await page.getByRole('status').getByText('succeeded').waitFor({ timeout: 60_000 });
    await page.getByText('600 lines').waitFor();
    expect(await shownLines(page)).toEqual(Array.from({ length: 600 }, (_, at) => `line ${at}`));
    await proxy.close();
    expect(faults).toEqual([]);
  });

  it('shows hundreds of thousands of lines, of which the page holds those in sight', async () => {
    const code = `process.stdout.write('first' + '\\n'.repeat(900_000) + 'last')`;
    const { page, faults } = await scene.open({ path: `/jobs/${await submit({ kind: 'exec', code })}` });
    await page.getByText('900001 lines').waitFor();
    const output = page.getByRole('region', { name: 'Output' });
    const isInSight = async (text: string): Promise<void> => {
      await output.getByText(text, { exact: true }).waitFor();
      const [line, box] = [await output.getByText(text, { exact: true }).boundingBox(), await output.boundingBox()];
      expect(line?.y).toBeGreaterThanOrEqual(box?.y ?? Infinity);
      expect(line?.y).toBeLessThan((box?.y ?? 0) + (box?.height ?? 0));
      expect(await output.locator('.line').count()).toBeLessThan(100);
    };
    await isInSight('last');
    await output.evaluate((place) => place.scrollTo({ top: 0 }));
    await isInSight('first');
    await output.focus();
    await page.keyboard.press('End');
    await isInSight('last');
    expect(faults).toEqual([]);
  });

  it('names ten of the files that a job left out, and counts the others', async () => {
    const code = `
      import { writeFileSync } from 'node:fs';
      for (let at = 10; at < 25; at += 1) writeFileSync(process.env.SKILLCELL_OUTPUT + '/' + at + '.txt', 'text');`;
    const id = await submit({ kind: 'exec', code, limits: { artifactFiles: 2 } }, 'wait=60');
    const { page, faults } = await scene.open({ path: `/jobs/${id}` });
    await page.getByText('3 more files are left out.').waitFor();
    expect(await page.getByText(/^\d+\.txt is left out: /).count()).toBe(10);
    expect(await page.getByRole('link', { name: '.txt' }).count()).toBe(2);
    expect(faults).toEqual([]);
  });

  it('waits for the output of a service that cannot read it', async () => {
    const id = await submit({ kind: 'exec', code: 'console.log("kept")' }, 'wait=60');
    const folder = join(scene.service.folder, 'jobs');
    renameSync(folder, `${folder}-lost`);
    expect((await scene.service.call(`/jobs/${id}/events`)).status).toBeGreaterThanOrEqual(500);
    const { page, faults } = await scene.open({ path: `/jobs/${id}` });
    await page.getByText('The connection is lost').waitFor();
    renameSync(`${folder}-lost`, folder);
    await page.getByText('kept', { exact: true }).waitFor();
    await page.getByText('The connection is lost').waitFor({ state: 'detached' });
    expect(faults).toEqual([]);
  });

  it('runs a job again, links both, and copies it as a command that submits it', async () => {
    const id = await submit({
      kind: 'exec',
      code: 'console.log("it\'s", process.argv[2])',
      args: ['here'],
      label: 'again',
    });
    const { page } = await scene.open({ path: `/jobs/${id}` });
    await page.getByText("it's here").waitFor();
    await page.getByRole('button', { name: 'Copy as curl' }).click();
    await page.getByRole('button', { name: 'Copied' }).waitFor();
    const command: string = await page.evaluate('navigator.clipboard.readText()');
    const env = { ...process.env, SKILLCELL_TOKEN: scene.service.admin };
    // The service runs in this process, so that the command must not hold it.
    const { stdout } = await execa('bash', ['-c', command], { env });
    const copied = JSON.parse(stdout);
    expect(copied).toMatchObject({ kind: 'exec', label: 'again', request: { args: ['here'] } });
    await page.getByRole('button', { name: 'Run again' }).click();
    await page.getByRole('link', { name: id }).waitFor();
    await page.getByRole('status').getByText('succeeded').waitFor();
    expect(page.url()).not.toContain(id);
  });

  it('cancels a job that runs', async () => {
    const id = await submit({ kind: 'exec', code: 'console.log("waits"); setInterval(() => {}, 1_000)' });
    const { page } = await scene.open({ path: `/jobs/${id}` });
    await page.getByText('waits', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.getByRole('status').getByText('canceled').waitFor();
    await page.getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('heading', { name: 'Jobs' }).waitFor();
    expect((await scene.service.call(`/jobs/${id}`)).status).toBe(404);
  });

  it('shows each program of a codegen job with its difference to the one before', async () => {
    const id = await submit({ kind: 'codegen', task: 'Print done.' }, 'wait=60');
    const { page } = await scene.open({ path: `/jobs/${id}` });
    await page.getByRole('region', { name: 'Program of attempt 1' }).getByText('not yet').waitFor();
    const difference = page.getByRole('region', { name: 'Program of attempt 2, difference' });
    await difference.getByText('+console.log("second");').waitFor();
    expect(await difference.textContent()).toContain('-throw new Error("not yet");');
    await page
      .getByText(/^prompt [0-9a-f]{12}$/)
      .first()
      .waitFor();
  });

  it('finds jobs by words and filters, whose address can be shared', async () => {
    await submit({ kind: 'exec', code: 'process.exit(3)', label: 'needle in the haystack' }, 'wait=60');
    const { page } = await scene.open({ path: '/jobs' });
    await page.getByRole('textbox', { name: 'Search' }).fill('needle');
    await page.getByRole('combobox', { name: 'outcome' }).selectOption('failed');
    await page.waitForURL(/q=needle/);
    await page.reload();
    await page.getByRole('link', { name: 'needle in the haystack' }).click();
    await page.getByRole('alert').getByText('failed: exit code 3').waitFor();
    await page.goBack();
    expect(await page.getByRole('row').count()).toBe(2);
  });
});
