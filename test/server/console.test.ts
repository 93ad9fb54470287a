import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { tmpdir } from 'node:os';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ServiceScene, startService } from '../fixtures/service.ts';

let scene: ServiceScene;
let folder: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'skillcell-console-'));
  mkdirSync(join(folder, 'assets'));
  writeFileSync(join(folder, 'index.html'), '<meta property="csp-nonce" nonce="CSP_NONCE"><p>page</p>');
  writeFileSync(join(folder, 'assets/a-1.js'), 'code');
  writeFileSync(join(folder, 'secret.txt'), 'secret');
  scene = await startService({ consoleFolder: folder });
});
afterAll(async () => {
  await scene[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true });
});

/** Sends a request as it is: `fetch` changes paths, and sets headers of its own. */
async function get(
  path: string,
  headers: Record<string, string> = {},
  method = 'GET',
): Promise<[status: number, text: string, headers: NodeJS.Dict<string | string[]>]> {
  return await new Promise((resolve, reject) => {
    const sent = request(scene.url, { path, method, headers: { accept: 'text/html', ...headers } }, (answer) => {
      let text = '';
      answer.on('data', (piece: Buffer) => (text += piece.toString()));
      answer.on('end', () => resolve([answer.statusCode ?? 0, text, answer.headers]));
    });
    sent.on('error', reject).end();
  });
}

describe('the pages of the console', () => {
  it('answer each address outside the API, for browsers', async () => {
    for (const path of [
      '/',
      '/jobs',
      '/jobs/some-id?x=1',
      '/apify',
      '/skills/1/files',
      '/%00',
      '/..%2f..%2fsecret.txt',
      '/jobs/%FF',
      '/jobs/%?q=%FF',
    ]) {
      const [status, text] = await get(path);
      expect([path, status, text.includes('<p>page</p>')]).toEqual([path, 200, true]);
    }
    expect((await get('/jobs', {}, 'HEAD'))[0]).toBe(200);
  });

  it('never stand in for the API, for assets, for other clients or for changes', async () => {
    expect((await get('/jobs', { accept: 'application/json' }))[0]).toBe(401);
    expect((await get('/jobs', {}, 'POST'))[0]).toBe(401);
    expect((await get('/healthz'))[1]).toBe('{"status":"ok"}');
    expect((await get('/assets/none.js'))[0]).toBe(404);
    expect(JSON.parse((await get('/api/v1/jobs/%FF'))[1]).code).toBe('request.invalid');
    const token = { authorization: `Bearer ${scene.admin}` };
    for (const path of ['/api', '/api/', '/api/v1/none', '/api/v1/jobs/none', '/api?x']) {
      expect([path, (await get(path))[0]]).toEqual([path, 401]);
      const [status, text] = await get(path, token);
      expect([path, status, JSON.parse(text).code]).toEqual([path, 404, 'resource.not-found']);
    }
  });

  it('have a policy without inline scripts, and a new nonce for styles in each answer', async () => {
    const nonces = new Set<string>();
    for (let at = 0; at < 2; at += 1) {
      const [, text, headers] = await get('/');
      const [, nonce = ''] = /nonce="([\w-]{22})"/.exec(text) ?? [];
      const policy = String(headers['content-security-policy']);
      expect(policy).toContain(`style-src 'self' 'nonce-${nonce}';`);
      expect(policy).toContain("default-src 'none'; script-src 'self';");
      expect(policy).toContain("frame-ancestors 'none'");
      expect(policy).not.toContain('unsafe');
      expect(headers['cache-control']).toBe('no-store');
      nonces.add(nonce);
    }
    expect(nonces.size).toBe(2);
  });

  it('give assets to keep, and no other file', async () => {
    const [status, text, headers] = await get('/assets/a-1.js');
    expect([status, text]).toEqual([200, 'code']);
    expect(headers['cache-control']).toBe('public, max-age=31536000, immutable');
    expect(headers['x-content-type-options']).toBe('nosniff');
    for (const path of ['/assets/../secret.txt', '/assets/..%2fsecret.txt', '/assets/%2e%2e/secret.txt', '/assets/']) {
      expect([path, (await get(path))[1].includes('secret')]).toEqual([path, false]);
    }
  });

  it('are reached by links of other sites, and the API is not', async () => {
    const link = { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate' };
    expect((await get('/jobs', link))[0]).toBe(200);
    expect((await get('/jobs', { ...link, 'sec-fetch-mode': 'no-cors' }))[0]).toBe(403);
    expect((await get('/api/v1/me', link))[0]).toBe(403);
    for (const path of ['/jobs', '/jobs/%FF']) expect((await get(path, { host: 'evil.example' }))[0]).toBe(421);
  });
});
