import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeWith } from '../fixtures/describe-with.ts';
import { MISSING_POSTGRES, type PostgresServer, startPostgres } from '../fixtures/postgres.ts';
import { type Answer, type ServiceScene, startService } from '../fixtures/service.ts';
import { until } from '../fixtures/until.ts';

describeWith('a service whose PostgreSQL is restarted', MISSING_POSTGRES, () => {
  let server: PostgresServer;
  let scene: ServiceScene;
  beforeAll(async () => {
    server = await startPostgres();
    scene = await startService({ databaseUrl: server.create('service') });
  });
  afterAll(async () => {
    await scene[Symbol.asyncDispose]();
    await server[Symbol.asyncDispose]();
  });

  const submit = (code: string): Promise<Answer> => scene.call('/jobs', { body: { kind: 'exec', code } });
  const isReady = async (): Promise<boolean> => (await scene.call('/readyz', { token: null })).status === 200;

  it('answers with 503 meanwhile, records the jobs that ended, and is well again', async () => {
    const { json: ending } = await submit("setTimeout(() => console.log('ended'), 2_000)");
    await until(async () => (await scene.call(`/jobs/${ending.id}`)).json.state === 'running', 'the job');
    const { json: waiting } = await submit("console.log('after all')");
    await server.stop();
    for (const path of ['/me', '/jobs', `/jobs/${ending.id}`]) {
      const { status, json, headers } = await scene.call(path);
      expect([path, status, json.code, headers.get('retry-after')]).toEqual([path, 503, 'database.unavailable', '1']);
    }
    expect((await submit('1')).status).toBe(503);
    expect((await scene.call('/readyz', { token: null })).status).toBe(503);
    expect((await scene.call('/healthz', { token: null })).status).toBe(200);
    await new Promise((resolve) => setTimeout(resolve, 3_000));
    await server.start();
    await until(isReady, 'the service');
    for (const [id, text] of [
      [ending.id, 'ended\n'],
      [waiting.id, 'after all\n'],
    ]) {
      await until(async () => (await scene.call(`/jobs/${id}`)).json.state === 'finished', 'the end');
      expect((await scene.call(`/jobs/${id}/result`)).json.stdout.text).toBe(text);
    }
  });
});
