import { existsSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { connectService } from '../../src/client/connect-service.ts';
import { requireHere } from '../fixtures/describe-with.ts';
import { type Registries, startRegistries } from '../fixtures/egress/registries.ts';
import { startUpstream, type Upstream } from '../fixtures/egress/upstream.ts';
import { requireLevel } from '../fixtures/levels.ts';
import { runMain } from '../fixtures/run-main.ts';
import { type Answer, type ServiceScene, startService } from '../fixtures/service.ts';

const SECRET = 'sk-live-0123456789abcdef';

describe('the network of a job over HTTP', () => {
  let upstream: Upstream;
  let scene: ServiceScene;
  let host: string;
  beforeAll(async () => {
    upstream = await startUpstream({
      answer: (request, response) => response.end(`authorization ${request.headers.authorization}`),
    });
    host = `api.test:${upstream.port}`;
    scene = await startService({
      network: {
        ...upstream.network([`${host}/open/**`]),
        secrets: { TOKEN: { value: SECRET, hosts: [host] } },
      },
    });
  }, 300_000);
  afterAll(async () => {
    await scene?.[Symbol.asyncDispose]();
    await upstream?.[Symbol.asyncDispose]();
  });

  const run = (fields: object): Promise<Answer> =>
    scene.call('/jobs', { body: { kind: 'exec', isolation: 'namespace', ...fields }, headers: { prefer: 'wait=60' } });
  const asks = (path: string): string => `const headers = { authorization: 'Bearer ' + process.env.TOKEN };
try {
  const answer = await fetch('https://${host}${path}', { headers });
  console.log(answer.status, process.env.TOKEN, await answer.text());
} catch (error) {
  console.log('unreachable');
}`;

  test('a job without the field has none, and one with it has its rules within those of the service', async (context) => {
    requireLevel(context, 'namespace');
    const before = upstream.requests.length;
    expect((await run({ code: asks('/open/a') })).json.stdout.text).toBe('unreachable\n');
    expect(upstream.requests).toHaveLength(before);
    const { json } = await run({ code: asks('/open/a'), network: [host] });
    expect(json.stdout.text).toMatch(/^200 undefined authorization /);
    // Methods and paths of the service hold for each request.
    expect(
      (await run({ code: asks('/closed'), network: [{ host: 'api.test', port: upstream.port }] })).json,
    ).toMatchObject({ stdout: { text: expect.stringMatching(/^403 /) } });
    expect(upstream.requests.map(({ url }) => url).slice(before)).toEqual(['/open/a']);
  });

  test('a secret goes by its name: the program sees a placeholder, and no answer of the service the value', async (context) => {
    requireLevel(context, 'namespace');
    const before = upstream.requests.length;
    const { json } = await run({ code: asks('/open/b'), network: [host], secrets: ['TOKEN'] });
    expect(json.outcome).toBe('succeeded');
    expect(upstream.requests.at(before)?.headers.authorization).toBe(`Bearer ${SECRET}`);
    const { text, json: job } = await scene.call(`/jobs/${json.jobId}`);
    const { text: events } = await scene.call(`/jobs/${json.jobId}/events`);
    expect(JSON.stringify(json) + text + events + scene.log.join('')).not.toContain(SECRET);
    expect(job.request).toMatchObject({ network: [host], secrets: ['TOKEN'] });
    const again = { method: 'POST', headers: { prefer: 'wait=60' } };
    expect((await scene.call(`/jobs/${json.jobId}/rerun`, again)).json.outcome).toBe('succeeded');
  });

  test('more than the service gives is refused at the place in the job, and no job is accepted', async () => {
    const before = (await scene.call('/jobs')).json.items.length;
    for (const [fields, status, code, pointer] of [
      [{ network: [host, 'elsewhere.example'] }, 403, 'network.not-allowed', '/network/1'],
      [{ network: [`http://${host}`] }, 403, 'network.not-allowed', '/network/0'],
      [{ network: ['a b'] }, 400, 'network.rule-invalid', '/network/0'],
      [{ network: ['registry:npm'] }, 403, 'network.not-allowed', '/network/0'],
      [{ network: [{ host: 'api.test', more: 1 }] }, 400, 'request.invalid', '/network/0'],
      [{ packages: { npm: ['tiny-odd'] } }, 403, 'network.not-allowed', '/packages/npm/0'],
      [{ packages: { gem: ['a'] } }, 400, 'request.invalid', '/packages'],
      [{ network: [host], secrets: ['TOKEN', 'OTHER'] }, 400, 'secret.unknown', '/secrets/1'],
      [{ network: [host], secrets: { TOKEN: SECRET } }, 400, 'request.invalid', '/secrets'],
    ] as const) {
      const { status: got, json, text } = await run({ code: '1', ...fields });
      expect([fields, got, json.code, json.errors[0]?.pointer]).toEqual([fields, status, code, pointer]);
      expect(text).not.toContain(SECRET);
    }
    expect((await scene.call('/jobs')).json.items).toHaveLength(before);
  });

  test('the client and the command line send what a job asks for', async (context) => {
    requireLevel(context, 'namespace');
    await using client = connectService({ url: scene.url, token: scene.admin });
    const { stdout } = await client.exec({ code: asks('/open/c'), network: [host], secrets: ['TOKEN'] });
    expect(stdout.text).toMatch(/^200 /);
    const of = async (...flags: string[]): Promise<{ code: number; stdout: string; stderr: string }> =>
      await runMain(['exec', '--server', scene.url, ...flags], {
        stdin: asks('/open/d'),
        env: { SKILLCELL_TOKEN: scene.admin },
      });
    expect(await of('--allow-host', host)).toMatchObject({ code: 0, stdout: expect.stringMatching(/^200 /) });
    const refused = await of('--allow-host', 'elsewhere.example');
    expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining('is not in network.allow')]);
  });
});

describe('the packages of a job over HTTP', () => {
  let registries: Registries;
  let scene: ServiceScene;
  beforeAll(async () => {
    registries = await startRegistries();
    const network = { ...registries.upstream.network([]), packages: { npm: ['tiny-*'], index: registries.index } };
    scene = await startService({ network });
  }, 300_000);
  afterAll(async () => {
    await scene?.[Symbol.asyncDispose]();
    await registries?.[Symbol.asyncDispose]();
  });

  test('are installed before its program, from the registries of the service', async (context) => {
    requireLevel(context, 'namespace');
    requireHere(context, existsSync('/usr/bin/npm') ? undefined : '/usr/bin/npm');
    const code = "import odd from 'tiny-odd'; console.log(odd(3));";
    const body = { kind: 'exec', code, isolation: 'namespace', packages: { npm: ['tiny-odd@3'] } };
    const { json } = await scene.call('/jobs', { body, headers: { prefer: 'wait=60' } });
    expect([json.outcome, json.stdout.text]).toEqual(['succeeded', 'true\n']);
  });
});
