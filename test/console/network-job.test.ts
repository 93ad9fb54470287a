import { afterAll, beforeAll, expect, it } from 'vitest';
import { type ConsoleScene, startConsole } from '../fixtures/console.ts';
import { describeWith, MISSING_CHROMIUM } from '../fixtures/describe-with.ts';
import { startUpstream, type Upstream } from '../fixtures/egress/upstream.ts';
import { requireLevel } from '../fixtures/levels.ts';

describeWith('the network of a job in the console', MISSING_CHROMIUM, () => {
  let upstream: Upstream;
  let scene: ConsoleScene;
  let host: string;
  beforeAll(async () => {
    upstream = await startUpstream();
    host = `api.test:${upstream.port}`;
    const secrets = { TOKEN: { value: 'sk-live-0123456789', hosts: [host] } };
    scene = await startConsole({ network: { ...upstream.network([host]), secrets } });
  });
  afterAll(async () => {
    await scene?.[Symbol.asyncDispose]();
    await upstream?.[Symbol.asyncDispose]();
  });

  it('is asked for in the form, also of a job that is changed', async (context) => {
    requireLevel(context, 'namespace');
    const { page, faults } = await scene.open({ path: '/jobs/new' });
    const field = (name: string) => page.getByRole('textbox', { name });
    const code = `
      const headers = { authorization: process.env.TOKEN };
      console.log(await (await fetch('https://${host}/open', { headers })).text());`;
    await field('Program').fill(code);
    await field('Network').fill(
      `${host}/open\n\n{ "host": "api.test", "port": ${upstream.port}, "methods": ["HEAD"] }`,
    );
    await field('Secrets').fill('TOKEN');
    for (const label of ['first', 'second']) {
      await field('Label').fill(label);
      await page.getByRole('button', { name: 'Run', exact: true }).click();
      await page.getByRole('heading', { name: label }).waitFor();
      await page.getByRole('region', { name: 'Output' }).getByText('GET /open').waitFor();
      await page.getByRole('status').getByText('succeeded').waitFor();
      const { json } = await scene.service.call(new URL(page.url()).pathname);
      expect(json.request).toMatchObject({
        network: [`${host}/open`, { host: 'api.test', port: upstream.port, methods: ['HEAD'] }],
        secrets: ['TOKEN'],
      });
      await page.getByRole('link', { name: 'Change' }).click();
    }
    expect(upstream.requests.map(({ headers }) => headers.authorization)).toEqual(Array(2).fill('sk-live-0123456789'));
    expect(faults).toEqual([]);
  });

  it('is refused beside its field, as each field, if the service does not give it, and the form keeps its text', async () => {
    const { page } = await scene.open({ path: '/jobs/new' });
    const field = (name: string) => page.getByRole('textbox', { name });
    await field('Program').fill('1');
    for (const [name, text, reason] of [
      ['Network', 'elsewhere.example', 'elsewhere.example is not in network.allow'],
      ['Secrets', 'OTHER', 'no such secret'],
      ['Packages of npm', 'is-odd@3', 'packages.npm of the orchestrator has no name'],
      ['Packages of Python', 'tinypkg', 'packages.pypi of the orchestrator has no name'],
      ['Memory limit in MiB', '999999999', 'Too big'],
    ] as const) {
      const place = name === 'Memory limit in MiB' ? page.getByRole('spinbutton', { name }) : field(name);
      await place.fill(text);
      await page.getByRole('button', { name: 'Run', exact: true }).click();
      await page.locator('[aria-invalid=true]').waitFor();
      expect(await page.locator('[aria-invalid=true]').inputValue()).toBe(text);
      await expect.poll(async () => await page.getByRole('main').textContent()).toContain(reason);
      await place.fill('');
    }
    expect((await scene.service.call('/jobs?state=waiting')).json.items).toEqual([]);
  });
});
