import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { type ServiceScene, startService } from '../fixtures/service.ts';

let scene: ServiceScene;
beforeAll(async () => {
  scene = await startService({ allowHosts: ['skills.example.com'] });
});
afterAll(() => scene[Symbol.asyncDispose]());

describe('users of the service', () => {
  it('begin with an admin whose token only the owner of the machine can read', () => {
    expect(statSync(join(scene.folder, 'admin-token')).mode & 0o777).toBe(0o600);
    expect(statSync(join(scene.folder, 'skillcell.db')).mode & 0o777).toBe(0o600);
    expect(scene.admin).toMatch(/^skc_[\w-]{43}$/);
  });

  it('lose access at once when they are disabled, or when their token is deleted or over', async () => {
    const { id, token } = await scene.user('ada');
    expect((await scene.call('/me', { token })).json.name).toBe('ada');
    const { json: other } = await scene.call('/tokens', { token, body: { name: 'second' } });
    expect((await scene.call(`/tokens/${other.id}`, { token: other.token, method: 'DELETE' })).status).toBe(204);
    expect((await scene.call('/me', { token: other.token })).json.code).toBe('auth.required');
    const { json: over } = await scene.call('/tokens', { token, body: { name: 'over', expiresAt: Date.now() - 1 } });
    expect((await scene.call('/me', { token: over.token })).status).toBe(401);
    await scene.call(`/users/${id}`, { method: 'PATCH', body: { disabled: true } });
    expect((await scene.call('/me', { token })).status).toBe(401);
    await scene.call(`/users/${id}`, { method: 'PATCH', body: { disabled: false } });
    expect((await scene.call('/me', { token })).status).toBe(200);
  });

  it('trade a token for a cookie, which ends with its token', async () => {
    const { token } = await scene.user('bob');
    const { json: own } = await scene.call('/tokens', { token, body: { name: 'browser', readOnly: true } });
    const { headers } = await scene.call('/session', { token: own.token, method: 'POST' });
    const [cookie = ''] = headers.getSetCookie();
    expect(cookie).toMatch(/^skillcell_session=skc_[\w-]{43}; Max-Age=43200; Path=\/; HttpOnly; SameSite=Strict$/);
    const as = { token: null, headers: { cookie: cookie.split(';')[0] ?? '' } };
    expect((await scene.call('/me', as)).json).toMatchObject({ name: 'bob', readOnly: true });
    expect((await scene.call('/jobs', { ...as, body: { kind: 'exec', code: '1' } })).json.code).toBe('auth.forbidden');
    expect((await scene.call('/tokens', as)).json.map(({ name }: { name: string }) => name)).toEqual([
      'first',
      'browser',
    ]);
    await scene.call(`/tokens/${own.id}`, { token, method: 'DELETE' });
    expect((await scene.call('/me', as)).status).toBe(401);
  });

  it('end a session at its sign-out, and a wrong token in the header is not helped by a cookie', async () => {
    const { headers } = await scene.call('/session', { method: 'POST' });
    const cookie = headers.getSetCookie()[0]?.split(';')[0] ?? '';
    expect((await scene.call('/me', { token: 'skc_wrong', headers: { cookie } })).status).toBe(401);
    expect((await scene.call('/session', { token: null, method: 'DELETE', headers: { cookie } })).status).toBe(204);
    expect((await scene.call('/me', { token: null, headers: { cookie } })).status).toBe(401);
    expect((await scene.call('/me')).status).toBe(200);
  });

  it('always have an admin, even if two remove each other', async () => {
    const { id, token } = await scene.user('second-admin', 'admin');
    const both = await Promise.all([
      scene.call('/users/1', { token, method: 'PATCH', body: { role: 'member' } }),
      scene.call(`/users/${id}`, { method: 'PATCH', body: { disabled: true } }),
    ]);
    // The other one has no rights any more, or is the last admin.
    expect(both.filter(({ status }) => status === 200)).toHaveLength(1);
    // The admin of the other tests is one again.
    if (both[0].status === 200) await scene.call('/users/1', { token, method: 'PATCH', body: { role: 'admin' } });
    else await scene.call(`/users/${id}`, { method: 'PATCH', body: { role: 'member' } });
  });
});

describe('the guard of the service', () => {
  it('refuses foreign hosts and origins before it looks at the token', async () => {
    const refused = async (headers: Record<string, string>): Promise<string> =>
      (await rawGet(scene.url, '/api/v1/me', headers)).replace(/^[\s\S]*?"code":"([^"]*)"[\s\S]*$/, '$1');
    expect(await refused({ host: 'evil.example.com' })).toBe('auth.host-refused');
    expect(await refused({ host: 'localhost.evil.example.com' })).toBe('auth.host-refused');
    expect(await refused({ origin: 'https://evil.example.com' })).toBe('auth.origin-refused');
    expect(await refused({ origin: 'null' })).toBe('auth.origin-refused');
    expect(await refused({ 'sec-fetch-site': 'cross-site' })).toBe('auth.origin-refused');
    expect(await refused({ 'sec-fetch-site': 'same-site' })).toBe('auth.origin-refused');
    expect(await refused({})).toBe('auth.required');
    expect(await refused({ host: 'skills.example.com:443', origin: 'http://skills.example.com:443' })).toBe(
      'auth.required',
    );
    expect(await refused({ host: 'localhost', 'sec-fetch-site': 'same-origin' })).toBe('auth.required');
  });

  it('allows no origin by CORS', async () => {
    const { headers, status } = await scene.call('/me', {
      method: 'OPTIONS',
      headers: { 'access-control-request-method': 'GET' },
    });
    expect(status).toBe(405);
    expect([...headers.keys()].filter((name) => name.startsWith('access-control'))).toEqual([]);
  });
});

/** A request with any Host, which fetch does not send. */
async function rawGet(url: string, path: string, headers: Record<string, string>): Promise<string> {
  const { request } = await import('node:http');
  return await new Promise((resolve, reject) => {
    request(`${url}${path}`, { headers }, (answer) => {
      let text = '';
      answer.on('data', (piece: Buffer) => (text += piece.toString()));
      answer.on('end', () => resolve(text));
    })
      .on('error', reject)
      .end();
  });
}
