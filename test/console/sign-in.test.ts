import { afterAll, beforeAll, expect, it } from 'vitest';
import { type ConsoleScene, signInAndRun, startConsole } from '../fixtures/console.ts';
import { describeWith, MISSING_CHROMIUM } from '../fixtures/describe-with.ts';

describeWith('the console', MISSING_CHROMIUM, () => {
  let scene: ConsoleScene;
  beforeAll(async () => {
    scene = await startConsole();
  });
  afterAll(() => scene[Symbol.asyncDispose]());

  it('signs in with a token, runs a job, and shows its output', async () => {
    const { page, faults } = await scene.open({ token: null });
    await page.getByRole('textbox', { name: 'Token' }).fill(`skc_${'x'.repeat(43)}`);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('alert').getByText('no valid token').waitFor();
    await signInAndRun(page, scene.service.admin);
    expect(await page.title()).toBe('answer · skillcell');
    const [cookie] = await page.context().cookies();
    expect(cookie).toMatchObject({ name: 'skillcell_session', httpOnly: true, sameSite: 'Strict' });
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('button', { name: 'Sign in' }).waitFor();
    expect(await page.context().cookies()).toEqual([]);
    expect(faults).toEqual([]);
  });
});
