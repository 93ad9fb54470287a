import { Ajv2020 } from 'ajv/dist/2020.js';
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { requireHere } from '../fixtures/describe-with.ts';
import { enrolWorker } from '../fixtures/fleet/enrol-worker.ts';
import { MISSING_REDIS, type RedisServer, startRedis } from '../fixtures/fleet/redis.ts';
import { type Answer, type CallOptions, type ServiceScene, startService, uploadForm } from '../fixtures/service.ts';
import { skillArchive } from '../fixtures/registry/skill-archive.ts';

interface Operation {
  responses: Record<string, { content?: Record<string, { schema: object }> }>;
}
interface OpenApi {
  openapi: string;
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, object> };
}

let redis: RedisServer | undefined;
let scene: ServiceScene;
let api: OpenApi;
let ajv: Ajv2020;
/** Operations with a good answer, such as `GET /api/v1/jobs`. */
const answered = new Set<string>();
beforeAll(async () => {
  if (MISSING_REDIS === undefined) redis = await startRedis();
  scene = await startService({ fleet: redis && { url: redis.url } });
  api = (await scene.call('/openapi.json', { token: null })).json;
  ajv = new Ajv2020({ strict: false, validateFormats: false });
  ajv.addSchema({ $id: 'api', components: api.components });
});
afterAll(async () => {
  await scene[Symbol.asyncDispose]();
  await redis?.[Symbol.asyncDispose]();
});

/** The operation of a request, and its path in the OpenAPI file. */
function operationOf(method: string, path: string): [string, Operation] {
  const plain = path.replace(/\?.*$/s, '');
  const found = Object.keys(api.paths).filter((template) =>
    new RegExp(`^${template.replace('{*}', '.+').replaceAll(/\{[^}]+\}/g, '[^/]+')}$`).test(plain),
  );
  // A path without parameters comes first.
  const [template = ''] = found.toSorted((a, b) => a.split('{').length - b.split('{').length);
  const operation = api.paths[template]?.[method.toLowerCase()];
  if (operation === undefined) throw new Error(`no operation ${method} ${path}`);
  return [`${method} ${template}`, operation];
}

/** Makes a request, and compares its answer with the OpenAPI file. */
async function checked(path: string, options: CallOptions = {}): Promise<Answer> {
  const answer = await scene.call(path, options);
  const whole = path.endsWith('z') ? path : `/api/v1${path}`;
  const method = options.method ?? (options.body === undefined ? 'GET' : 'POST');
  const [name, { responses }] = operationOf(method, whole);
  const response = responses[answer.status] ?? responses[`${String(answer.status)[0]}XX`];
  expect(response, `${name} answers ${answer.status}: ${answer.text}`).toBeDefined();
  const schema = Object.values(response?.content ?? {})[0]?.schema;
  if (schema !== undefined && answer.json !== undefined) {
    const text = JSON.stringify(schema).replaceAll('"#/components', '"api#/components');
    const validate = ajv.compile(JSON.parse(text) as object);
    expect([name, validate(answer.json), validate.errors]).toEqual([name, true, null]);
  }
  if (answer.status < 400) answered.add(name);
  return answer;
}

describe('the HTTP contract', () => {
  it('is OpenAPI 3.1, and the committed file is that of the service', () => {
    expect(api.openapi).toBe('3.1.0');
    expect(JSON.parse(readFileSync('docs/openapi.json', 'utf8'))).toEqual(api);
  });

  it('holds for users, tokens and sessions', async () => {
    await checked('/healthz', { token: null });
    await checked('/readyz', { token: null });
    await checked('/me');
    expect((await checked('/me', { token: null })).status).toBe(401);
    const { json: created } = await checked('/users', { body: { name: 'ada', role: 'member' } });
    expect((await checked('/users', { body: { name: 'ada', role: 'member' } })).status).toBe(409);
    expect((await checked('/users', { body: { name: 'ada', role: 'king' } })).status).toBe(400);
    await checked('/users');
    await checked(`/users/${created.user.id}`, { method: 'PATCH', body: { role: 'viewer' } });
    expect((await checked('/users/1', { method: 'PATCH', body: { disabled: true } })).status).toBe(409);
    const { json: token } = await checked('/tokens', { body: { name: 'ci', readOnly: true } });
    await checked('/tokens');
    await checked(`/tokens/${token.id}`, { method: 'DELETE' });
    expect((await checked(`/tokens/${token.id}`, { method: 'DELETE' })).status).toBe(404);
    await checked('/session', { method: 'POST' });
    await checked('/session', { method: 'DELETE' });
  });

  it('holds for jobs', async () => {
    const body = {
      kind: 'exec',
      code: "await (await import('node:fs')).promises.writeFile(process.env.SKILLCELL_OUTPUT + '/a.txt', 'text');",
    };
    const { json: result } = await checked('/jobs', { body, headers: { prefer: 'wait=60' } });
    expect(result.outcome).toBe('succeeded');
    const { json: job } = await checked('/jobs', { body });
    for (const path of ['', '/result', '/artifacts', '/artifacts/a.txt', '/output/stdout']) {
      await checked(`/jobs/${result.jobId}${path}`);
    }
    await checked('/jobs?state=finished&limit=1');
    await checked(`/jobs/${job.id}/events`);
    await checked(`/jobs/${job.id}/rerun`, { method: 'POST' });
    const { json: endless } = await checked('/jobs', { body: { kind: 'exec', code: 'setInterval(() => {}, 1000)' } });
    expect((await checked(`/jobs/${endless.id}/result`)).status).toBe(409);
    expect((await checked(`/jobs/${endless.id}`, { method: 'DELETE' })).status).toBe(409);
    await checked(`/jobs/${endless.id}/cancel`, { method: 'POST' });
    await checked(`/jobs/${result.jobId}`, { method: 'DELETE' });
    expect((await checked('/jobs', { body: { kind: 'exec', code: '', other: 1 } })).json.errors.length).toBeGreaterThan(
      1,
    );
  });

  it('holds for skills and kinds', async () => {
    const archive = skillArchive('units', {}, { body: 'Give SI units.' });
    for (const base of ['/skills', '/kinds/skills']) {
      const name = base === '/skills' ? 'units' : 'other-units';
      await checked(`${base}/upload?dryRun=1`, { body: uploadForm(archive, { name }) });
      const { json, headers } = await checked(`${base}/upload`, { body: uploadForm(archive, { name }) });
      const id = json.skill.metadata.labels.id;
      expect((await checked(`${base}/upload`, { body: uploadForm(archive, { name }) })).status).toBe(409);
      await checked(base);
      await checked(`${base}/unified`);
      await checked(`${base}/public/list`);
      await checked(`${base}/invoke`, { body: { skill_name: name } });
      await checked(`${base}/public`, { body: { name: `${name}-of-all`, description: 'All.', prompt: 'Text.' } });
      await checked(`${base}/${id}`);
      const tag = headers.get('etag') ?? '';
      expect((await checked(`${base}/${id}`, { headers: { 'if-none-match': tag } })).status).toBe(304);
      await checked(`${base}/${id}/download`);
      const next = uploadForm(skillArchive(name, {}, { body: 'Give other units.' }));
      expect((await checked(`${base}/${id}`, { method: 'PUT', body: next })).status).toBe(428);
      await checked(`${base}/${id}`, { method: 'PUT', body: next, headers: { 'if-match': tag } });
      expect((await checked(`${base}/${id}`, { method: 'PUT', body: next, headers: { 'if-match': tag } })).status).toBe(
        412,
      );
      await checked(`${base}/${id}/versions`);
      await checked(`${base}/${id}/rollback`, { body: { version: 1 } });
      const ghost = {
        apiVersion: 'agent.wecode.io/v1',
        kind: 'Ghost',
        metadata: { name: `${name}-ghost` },
        spec: { skills: [name] },
      };
      const { json: created } = await checked('/kinds/ghosts', { body: ghost });
      await checked(`${base}/${id}/references`);
      const { json: refused, status } = await checked(`${base}/${id}`, { method: 'DELETE' });
      expect([status, refused.referenced_ghosts[0].name]).toEqual([409, `${name}-ghost`]);
      await checked(`${base}/${id}/remove-references/${created.metadata.labels.id}`, { method: 'POST' });
      await checked(`${base}/${id}/remove-references`, { method: 'POST' });
      await checked(`${base}/${id}`, { method: 'DELETE' });
    }
    const make = async (path: string, kind: string, spec: object): Promise<string> => {
      const body = { apiVersion: 'skillcell/v1', kind, metadata: { name: 'one' }, spec };
      const { json, headers } = await checked(`/kinds/${path}`, { body });
      const { id } = json.metadata.labels;
      await checked(`/kinds/${path}`);
      await checked(`/kinds/${path}/${id}`);
      await checked(`/kinds/${path}/${id}`, {
        method: 'PUT',
        body,
        headers: { 'if-match': headers.get('etag') ?? '' },
      });
      return `/kinds/${path}/${id}`;
    };
    const made = [
      await make('ghosts', 'Ghost', { systemPrompt: 'Be brief.' }),
      await make('bots', 'Bot', { ghostRef: { name: 'one' } }),
      await make('teams', 'Team', { members: [{ botRef: { name: 'one' } }] }),
    ];
    await checked(`${made[2]}/skills`);
    expect((await checked(made[0] ?? '', { method: 'DELETE' })).status).toBe(409);
    for (const path of made.toReversed()) await checked(path, { method: 'DELETE' });
  });

  it('holds for the fleet', async (context) => {
    requireHere(context, MISSING_REDIS);
    if (redis === undefined) return;
    expect((await checked('/fleet')).json).toEqual({ workers: [], queues: [] });
    await enrolWorker(redis, 'one', { draining: true });
    expect((await checked('/fleet')).json.workers).toHaveLength(1);
    await checked('/fleet/workers/one/drain', { method: 'POST' });
    expect((await checked('/fleet/workers/two/drain', { method: 'POST' })).status).toBe(404);
    expect((await checked('/fleet', { token: null })).status).toBe(401);
  });

  it('was tried with a good answer of each operation', () => {
    const all = Object.entries(api.paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
    );
    const isMissing = (name: string): boolean => MISSING_REDIS !== undefined && name.includes('/fleet');
    expect(all.filter((name) => !answered.has(name) && !isMissing(name))).toEqual([]);
  });
});
