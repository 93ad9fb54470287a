import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type ConsoleScene, startConsole } from '../fixtures/console.ts';
import { describeWith, MISSING_CHROMIUM } from '../fixtures/describe-with.ts';
import { skillArchive } from '../fixtures/registry/skill-archive.ts';
import { uploadForm } from '../fixtures/service.ts';

describeWith('agents in the console', MISSING_CHROMIUM, () => {
  let scene: ConsoleScene;
  let page: Page;
  let faults: string[];
  beforeAll(async () => {
    scene = await startConsole();
    for (const name of ['units', 'plots']) {
      const body = uploadForm(skillArchive(name));
      expect((await scene.service.call('/skills/upload', { body })).status).toBe(201);
    }
    ({ page, faults } = await scene.open({ path: '/agents/ghosts' }));
  });
  afterAll(() => scene[Symbol.asyncDispose]());

  /** Opens the form of a new agent from its list. */
  async function create(kind: string, name: string): Promise<void> {
    await page.getByRole('link', { name: `${kind}s` }).click();
    await page.getByRole('link', { name: `New ${kind.toLowerCase()}` }).click();
    await page.getByRole('textbox', { name: 'Name', exact: true }).fill(name);
  }

  /** Presses the button of the form, and waits for the view of the stored agent. */
  async function submit(button: string, name: string): Promise<void> {
    await page.getByRole('button', { name: button, exact: true }).click();
    await page.getByRole('heading', { name, exact: true }).waitFor();
  }

  /** The only agent of a kind, as the service has it. */
  async function stored(path: string): Promise<unknown> {
    const { json } = await scene.service.call(`/kinds/${path}`);
    expect(json.total).toBe(1);
    return json.items[0].spec;
  }

  it('are made by forms: a ghost with skills, a bot with the ghost, and a team of bots', async () => {
    await create('Ghost', 'writer');
    await page.getByRole('textbox', { name: 'System prompt' }).fill('Be brief.');
    for (const skill of ['units', 'plots']) {
      await page.getByRole('combobox', { name: 'Add a skill' }).selectOption(skill);
      await page.getByRole('button', { name: `Remove ${skill}` }).waitFor();
    }
    await submit('Create', 'writer');
    expect(await stored('ghosts')).toEqual({ systemPrompt: 'Be brief.', skills: ['units', 'plots'] });

    await create('Bot', 'scribe');
    await page.getByRole('combobox', { name: 'Ghost' }).selectOption('default/writer');
    await page.getByRole('textbox', { name: 'Model' }).fill('a/model');
    await submit('Create', 'scribe');
    expect(await stored('bots')).toEqual({ ghostRef: { name: 'writer', namespace: 'default' }, model: 'a/model' });

    await create('Team', 'desk');
    await page.getByRole('button', { name: 'Add a bot' }).click();
    await page.getByRole('combobox', { name: 'Bot 1', exact: true }).selectOption('default/scribe');
    await page.getByRole('textbox', { name: 'Role of bot 1' }).fill('first');
    await submit('Create', 'desk');
    expect(await stored('teams')).toEqual({
      members: [{ botRef: { name: 'scribe', namespace: 'default' }, role: 'first' }],
    });
    const skills = page.getByRole('listitem');
    await skills.filter({ hasText: 'custom.units for scribe' }).waitFor();
    await skills.filter({ hasText: 'custom.plots for scribe' }).waitFor();
  });

  it('are changed, and of two changes in two tabs the second is refused and keeps its text', async () => {
    await page.getByRole('link', { name: 'Ghosts' }).click();
    await page.getByRole('link', { name: 'writer' }).click();
    const prompt = page.getByRole('textbox', { name: 'System prompt' });
    await prompt.waitFor();
    const other = await scene.open({ path: new URL(page.url()).pathname });
    await other.page.getByRole('textbox', { name: 'Description' }).fill('From the other tab.');

    await prompt.fill('Be exact.');
    await page.getByRole('button', { name: 'Remove plots' }).click();
    await page.getByRole('button', { name: 'Store' }).click();
    await expect.poll(() => stored('ghosts')).toEqual({ systemPrompt: 'Be exact.', skills: ['units'] });

    await other.page.getByRole('button', { name: 'Store' }).click();
    await other.page.getByRole('alert').getByText('resource.changed').waitFor();
    expect(await other.page.getByRole('textbox', { name: 'Description' }).inputValue()).toBe('From the other tab.');
    expect(other.faults).toEqual([]);
  });

  it('are not deleted while others refer to them, and the dialog names these', async () => {
    const remove = async (kind: string, name: string): Promise<void> => {
      await page.getByRole('link', { name: `${kind}s` }).click();
      await page.getByRole('link', { name, exact: true }).click();
      await page.getByRole('button', { name: 'Delete' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    };
    await remove('Ghost', 'writer');
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('alert').getByText('Bot "scribe"').waitFor();
    await dialog.getByText('resource.referenced').waitFor();
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    await dialog.waitFor({ state: 'detached' });
    for (const [kind, name] of [
      ['Team', 'desk'],
      ['Bot', 'scribe'],
      ['Ghost', 'writer'],
    ] as const) {
      await remove(kind, name);
      await page.getByText(`No ${kind.toLowerCase()}s yet.`).waitFor();
    }
    expect(faults).toEqual([]);
  });
});
