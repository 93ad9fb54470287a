import { request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type CallOptions, type ServiceScene, startService } from '../fixtures/service.ts';

let scene: ServiceScene;
beforeAll(async () => {
  scene = await startService();
});
afterAll(() => scene[Symbol.asyncDispose]());

const json = { 'content-type': 'application/json' };
const deep = `{"kind":"exec","code":"1","skills":{"pool":[${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}]}}`;

describe('a hostile request', () => {
  it.for<[name: string, status: number, code: string, path: string, options: CallOptions]>([
    ['no JSON', 400, 'request.invalid', '/jobs', { body: '{', headers: json }],
    ['an empty body', 400, 'request.invalid', '/jobs', { body: '', headers: json }],
    ['a deep value', 400, 'request.invalid', '/jobs', { body: deep, headers: json }],
    [
      '__proto__',
      400,
      'request.invalid',
      '/jobs',
      { body: '{"kind":"exec","code":"1","__proto__":{"a":1}}', headers: json },
    ],
    [
      'a hidden __proto__',
      400,
      'request.invalid',
      '/jobs',
      { body: '{"kind":"exec","code":"1","env":{"\\u005f_proto__":"1"}}', headers: json },
    ],
    ['NUL', 400, 'request.invalid', '/jobs', { body: { kind: 'exec', code: '1', args: ['a\0b'] } }],
    [
      'a path out of the folder',
      400,
      'request.invalid',
      '/jobs',
      { body: { kind: 'exec', code: '1', files: { '../a': '' } } },
    ],
    ['an unknown field', 400, 'request.invalid', '/jobs', { body: { kind: 'exec', code: '1', output: '/etc' } }],
    [
      'a file of the host',
      400,
      'request.invalid',
      '/jobs',
      { body: { kind: 'exec', code: '1', files: { a: { source: '/etc/passwd' } } } },
    ],
    [
      'a limit over the highest',
      400,
      'request.invalid',
      '/jobs',
      { body: { kind: 'exec', code: '1', limits: { memoryMib: 1e9 } } },
    ],
    ['an unknown query', 400, 'request.invalid', '/jobs?colour=red', {}],
    ['a query twice', 400, 'request.invalid', '/jobs?limit=1&limit=2', {}],
    [
      'another media type',
      415,
      'request.media-type',
      '/jobs',
      { body: 'a=1', headers: { 'content-type': 'text/plain' } },
    ],
    [
      'an encoded body',
      415,
      'request.media-type',
      '/jobs',
      { body: '{}', headers: { ...json, 'content-encoding': 'gzip' } },
    ],
    ['a form where JSON is taken', 415, 'request.media-type', '/tokens', { body: new FormData() }],
    ['another method', 405, 'request.method', '/jobs', { method: 'PUT', body: {} }],
    ['an unknown path', 404, 'resource.not-found', '/nothing', {}],
    ['a text as an id', 404, 'resource.not-found', '/skills/1e3', {}],
    ['an id with a NUL', 404, 'resource.not-found', '/jobs/%00', {}],
    ['a broken escape in the path', 400, 'request.invalid', '/jobs/%zz', {}],
  ])('with %s is refused with a code', async ([, status, code, path, options]) => {
    const answer = await scene.call(path, options);
    expect([answer.status, answer.json?.code]).toEqual([status, code]);
    expect(answer.headers.get('content-type')).toBe('application/problem+json');
    expect(answer.json).toMatchObject({
      type: expect.stringContaining('errors#'),
      status,
      hint: expect.any(String),
      requestId: expect.any(String),
    });
    expect(answer.text).not.toMatch(/node_modules|\.ts:|    at /);
  });

  it('points at each field of JSON that is wrong', async () => {
    const { json: problem } = await scene.call('/jobs', {
      body: { kind: 'exec', code: 1, args: ['a', 2], limits: { pids: 0 } },
    });
    const pointers = problem.errors.map(({ pointer }: { pointer: string }) => pointer);
    expect(pointers).toEqual(expect.arrayContaining(['/code', '/args/1', '/limits/pids']));
    const { json: escaped } = await scene.call('/jobs', {
      body: { kind: 'exec', code: '1', files: { 'a/b~c/d.txt': 1 }, tools: 'x' },
    });
    expect(escaped.errors.map(({ pointer }: { pointer: string }) => pointer).toSorted()).toEqual([
      '/files/a~1b~0c~1d.txt',
      '/tools',
    ]);
    const { json: whole } = await scene.call('/jobs', { body: 1, headers: json });
    expect(whole.errors[0].pointer).toBe('');
    const form = new FormData();
    form.set('a/~', 'x');
    expect((await scene.call('/jobs', { body: form })).json.errors[0].pointer).toBe('/a~1~0');
  });

  it('with more files than a job may have is refused', async () => {
    const files = Object.fromEntries(Array.from({ length: 60_000 }, (_, at) => [`f${at}`, '']));
    const { status, json: problem } = await scene.call('/jobs', { body: { kind: 'exec', code: '1', files } });
    expect([status, problem.code, problem.errors[0].pointer]).toEqual([400, 'request.invalid', '/files']);
  });

  it('with too large a body is refused before it is read', async () => {
    const large = 'x'.repeat(9 * 1024 * 1024);
    const { status, json: problem } = await scene.call('/jobs', {
      body: JSON.stringify({ kind: 'exec', code: large }),
      headers: json,
    });
    expect([status, problem.code]).toEqual([413, 'request.too-large']);
  });

  it('with too many parts in a form is refused', async () => {
    const part = '--b\r\ncontent-disposition: form-data; name="files/a"; filename="a"\r\n\r\nx\r\n';
    // The service answers before it has read all, and closes the connection.
    const answer = await new Promise<string>((resolve, reject) => {
      const headers = { authorization: `Bearer ${scene.admin}`, 'content-type': 'multipart/form-data; boundary=b' };
      const sent = request(`${scene.url}/api/v1/jobs`, { method: 'POST', headers }, (got) => {
        got.once('data', (piece: Buffer) => resolve(piece.toString()));
      });
      sent.on('error', reject);
      sent.end(`${part.repeat(10_001)}--b--\r\n`);
    });
    expect(JSON.parse(answer)).toMatchObject({ status: 413, code: 'request.too-large' });
  });

  it('with a form that is cut off is refused, wherever it ends', async () => {
    const whole = '--b\r\ncontent-disposition: form-data; name="files/a"; filename="a"\r\n\r\nxxxx\r\n--b--\r\n';
    for (let length = 1; length < whole.length - 4; length += 7) {
      for (const path of ['/jobs', '/skills/upload']) {
        const headers = { 'content-type': 'multipart/form-data; boundary=b' };
        const answer = await scene.call(path, { body: whole.slice(0, length), headers });
        expect([path, length, answer.status, answer.json.code]).toEqual([path, length, 400, 'request.invalid']);
      }
    }
  });

  it('with another part in a form is refused', async () => {
    const form = new FormData();
    form.set('job', JSON.stringify({ kind: 'exec', code: '1' }));
    form.set('other', 'x');
    expect((await scene.call('/jobs', { body: form })).json.code).toBe('request.invalid');
    const twice = new FormData();
    twice.set('job', JSON.stringify({ kind: 'exec', code: '1', files: { a: '1' } }));
    twice.set('files/a', new Blob(['2']), 'a');
    expect((await scene.call('/jobs', { body: twice })).json.code).toBe('job.invalid');
  });

  /** Sends bytes, and returns the answer up to the end of the connection. */
  const raw = (bytes: string): Promise<string> =>
    new Promise((resolve) => {
      let text = '';
      const socket = silent(() => socket.write(bytes));
      socket.on('data', (piece: Buffer) => (text += piece.toString('latin1')));
      socket.on('close', () => resolve(text));
      socket.on('error', () => resolve(text));
    });
  const silent = (whenOpen: () => void): Socket => connect(Number(new URL(scene.url).port), '127.0.0.1', whenOpen);

  it.for([
    ['that is no HTTP', 'nonsense\r\n\r\n', 400, 'request.invalid'],
    [
      'of two lengths',
      'POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n',
      400,
      'request.invalid',
    ],
    ['with too long a head', `GET / HTTP/1.1\r\nhost: a\r\nx: ${'a'.repeat(20_000)}`, 431, 'request.too-large'],
    ['with a head that does not end', 'GET / HTTP/1.1\r\nhost: a\r\nx: y', 408, 'request.timeout'],
  ] as const)('%s ends its connection with a problem', { timeout: 60_000 }, async ([, bytes, status, code]) => {
    const [head = '', body = ''] = (await raw(bytes)).split('\r\n\r\n');
    expect(head).toMatch(new RegExp(`^HTTP/1.1 ${status} .*\r\ncontent-type: application/problem\\+json\r\n`));
    expect(JSON.parse(body)).toMatchObject({ status, code, hint: expect.any(String), requestId: expect.any(String) });
  });

  it('with a head of a MiB, or without a host, ends its connection', async () => {
    expect(await raw(`GET / HTTP/1.1\r\nhost: localhost\r\nx: ${'a'.repeat(1024 * 1024)}\r\n\r\n`)).toMatch(
      /^HTTP\/1.1 431|^$/,
    );
    expect(await raw('GET /api/v1/me HTTP/1.1\r\n\r\n')).toMatch(/^HTTP\/1.1 400 /);
  });
});
