import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Answer, type ServiceScene, startService, uploadForm } from '../fixtures/service.ts';
import { skillArchive } from '../fixtures/registry/skill-archive.ts';
import { until } from '../fixtures/until.ts';

let scene: ServiceScene;
beforeAll(async () => {
  scene = await startService();
});
afterAll(() => scene[Symbol.asyncDispose]());

/** Runs a job, and waits for its result. */
async function run(body: object, headers: Record<string, string> = {}): Promise<Answer> {
  return await scene.call('/jobs', { body, headers: { prefer: 'wait=60', ...headers } });
}

describe('a job over HTTP', () => {
  it('gets its files, input, arguments and variables, whose values are not shown again', async () => {
    const code = `
      import { readFileSync, statSync, writeFileSync } from 'node:fs';
      const mode = statSync('tool.bin').mode & 0o100;
      const read = [readFileSync('a.txt', 'utf8'), readFileSync('tool.bin').length, mode > 0, readFileSync(0, 'utf8')];
      console.log(JSON.stringify([...read, process.argv.slice(2), process.env.KEY]));`;
    const { json } = await run({
      ...{ kind: 'exec', code, args: ['one'], env: { KEY: 'secret-value' }, stdin: 'in' },
      files: { 'a.txt': 'text', 'tool.bin': { base64: '/wABAg==', executable: true } },
    });
    expect(JSON.parse(json.stdout.text)).toEqual(['text', 4, true, 'in', ['one'], 'secret-value']);
    const { text, json: job } = await scene.call(`/jobs/${json.jobId}`);
    expect(text).not.toContain('secret-value');
    expect(job.request).toMatchObject({
      env: ['KEY'],
      files: [{ destination: 'a.txt', bytes: 4 }, { destination: 'tool.bin' }],
    });
  });

  it('is taken from a form, with its files beside it', async () => {
    const form = new FormData();
    form.set('files/data/big.bin', new Blob([new Uint8Array(3_000_000).fill(7)]), 'big.bin');
    form.set(
      'job',
      JSON.stringify({
        kind: 'exec',
        code: "console.log((await import('node:fs')).readFileSync('data/big.bin').length)",
      }),
    );
    const { json } = await scene.call('/jobs', { body: form, headers: { prefer: 'wait=60' } });
    expect(json.stdout.text).toBe('3000000\n');
  });

  it('gives its exact output and artifacts, whole or in parts, as attachments that run nowhere', async () => {
    const code = `
      import { writeFileSync } from 'node:fs';
      process.stdout.write(Buffer.from([0xff, 0x41, 0x42, 0x43, 0x00]));
      writeFileSync(process.env.SKILLCELL_OUTPUT + '/página "1".html', '<script>alert(1)</script>');`;
    const { json } = await run({ kind: 'exec', code });
    const path = `${scene.url}/api/v1/jobs/${json.jobId}`;
    const get = (rest: string, headers: Record<string, string> = {}): Promise<Response> =>
      fetch(`${path}${rest}`, { headers: { authorization: `Bearer ${scene.admin}`, ...headers } });
    expect(Buffer.from(await (await get('/output/stdout')).arrayBuffer())).toEqual(
      Buffer.from([0xff, 0x41, 0x42, 0x43, 0]),
    );
    const part = await get('/output/stdout', { range: 'bytes=1-3' });
    expect([part.status, part.headers.get('content-range'), await part.text()]).toEqual([206, 'bytes 1-3/5', 'ABC']);
    const beyond = await get('/output/stdout', { range: 'bytes=9-' });
    expect([beyond.status, beyond.headers.get('content-range')]).toEqual([416, 'bytes */5']);
    expect((await get('/output/stderr')).headers.get('content-length')).toBe('0');
    const artifact = await get(`/artifacts/${encodeURIComponent('página "1".html')}`);
    expect(await artifact.text()).toBe('<script>alert(1)</script>');
    expect(Object.fromEntries(artifact.headers)).toMatchObject({
      'content-disposition': "attachment; filename*=UTF-8''p%C3%A1gina%20%221%22.html",
      'content-security-policy': "sandbox; default-src 'none'",
      'x-content-type-options': 'nosniff',
    });
    for (const other of [
      '/artifacts/../stdout',
      '/artifacts/..%2fstdout',
      '/artifacts/%2e%2e/stdout',
      '/artifacts/in/0',
    ]) {
      expect((await get(other)).status).toBe(404);
    }
  });

  it('has the skills of its user by bare names, own before public', async () => {
    const { token } = await scene.user('skilled');
    const code =
      "console.log((await import('node:fs')).readFileSync(process.env.SKILLS_DIR + '/' + process.argv[2] + '/SKILL.md', 'utf8').includes('own text'))";
    await scene.call('/skills/public', { body: { name: 'house-style', description: 'All.', prompt: 'public text' } });
    const body = { kind: 'exec', code, skills: { refs: ['house-style'] }, args: ['public/house-style'] };
    const before = await scene.call('/jobs', { token, body, headers: { prefer: 'wait=60' } });
    expect(before.json.skills.active).toEqual(['public.house-style']);
    await scene.call('/skills/upload', {
      token,
      body: uploadForm(skillArchive('house-style', {}, { body: 'own text' })),
    });
    const after = await scene.call('/jobs', {
      token,
      body: { ...body, args: ['custom/house-style'] },
      headers: { prefer: 'wait=60' },
    });
    expect([after.json.skills.active, after.json.outcome]).toEqual([['custom.house-style'], 'succeeded']);
  });

  it('runs a script of an own skill, at the version of its submission', async () => {
    const { token } = await scene.user('author');
    const upload = (text: string): FormData => {
      const script = { name: 'greet/scripts/hello.mjs', content: `console.log(${JSON.stringify(text)});\n` };
      return uploadForm(skillArchive('greet', {}, { others: [script] }));
    };
    const { json, headers } = await scene.call('/skills/upload', { token, body: upload('one') });
    const body = { kind: 'script', skill: 'greet', script: 'scripts/hello.mjs' };
    const script = (): Promise<Answer> => scene.call('/jobs', { token, body, headers: { prefer: 'wait=60' } });
    expect((await script()).json.stdout.text).toBe('one\n');
    const put = { token, method: 'PUT', body: upload('two'), headers: { 'if-match': headers.get('etag') ?? '' } };
    await scene.call(`/skills/${json.skill.metadata.labels.id}`, put);
    expect((await script()).json.stdout.text).toBe('two\n');
  });

  it('that waits has the skills that its names meant at its submission, and fails without them', async () => {
    const { token } = await scene.user('waiting');
    const call: ServiceScene['call'] = (path, options) => scene.call(path, { token, ...options });
    const prompted = (prompt: string): object => ({ name: 'tone', description: 'For all.', prompt });
    await scene.call('/skills/public', { body: prompted('first public') });
    const kept = (await call('/skills/upload', { body: uploadForm(skillArchive('kept', {}, { body: 'first own' })) }))
      .json;
    const gone = (await call('/skills/upload', { body: uploadForm(skillArchive('gone')) })).json;
    const code = "setInterval(() => {}, 1_000); console.log('runs')";
    const blocking = [1, 2].map(async () => (await call('/jobs', { body: { kind: 'exec', code } })).json.id as string);
    const blockers = await Promise.all(blocking);
    for (const id of blockers)
      await until(async () => (await call(`/jobs/${id}`)).json.state === 'running', 'the first jobs');
    const reads =
      "for (const path of process.argv.slice(2)) console.log((await import('node:fs')).readFileSync(process.env.SKILLS_DIR + path + '/SKILL.md', 'utf8').split('---\\n')[2].trim())";
    const submit = async (refs: string[], args: string[] = []): Promise<string> =>
      (await call('/jobs', { body: { kind: 'exec', code: reads, skills: { refs }, args } })).json.id as string;
    const present = await submit(['tone', 'kept'], ['/public/tone', '/custom/kept']);
    const without = await submit(['gone']);
    // An own skill would come first, and these versions are later.
    await call('/skills/upload', { body: uploadForm(skillArchive('tone', {}, { body: 'own' })) });
    const id = kept.skill.metadata.labels.id;
    const next = {
      method: 'PUT',
      body: uploadForm(skillArchive('kept', {}, { body: 'second own' })),
      headers: { 'if-match': '"1"' },
    };
    expect((await call(`/skills/${id}`, next)).status).toBe(200);
    expect((await call(`/skills/${gone.skill.metadata.labels.id}`, { method: 'DELETE' })).status).toBe(204);
    for (const blocker of blockers) await call(`/jobs/${blocker}/cancel`, { method: 'POST' });
    const ended = async (job: string): Promise<Answer> => {
      await until(async () => (await call(`/jobs/${job}`)).json.state === 'finished', 'the end of the job');
      return await call(`/jobs/${job}/result`);
    };
    const { json } = await ended(present);
    expect([json.outcome, json.skills.active, json.stdout.text]).toEqual([
      'succeeded',
      ['custom.kept', 'public.tone'],
      'first public\nfirst own\n',
    ]);
    const { json: failed } = await ended(without);
    expect([failed.outcome, failed.error.name]).toEqual(['failed', 'skills.reference-unknown']);
    expect((await call(`/jobs/${without}`)).json.errorCode).toBe('skills.reference-unknown');
  });

  it('ends with our reason in its result if it cannot run, without a path of the host', async () => {
    const { json, status } = await run({ kind: 'exec', code: '1', skills: { refs: ['nowhere'] } });
    expect([status, json.outcome, json.error.name]).toEqual([200, 'failed', 'skills.reference-unknown']);
    const { json: job, text } = await scene.call(`/jobs/${json.jobId}`);
    expect(job.errorCode).toBe('skills.reference-unknown');
    expect(text).not.toContain(scene.folder);
  });

  it('is the same job for the same key, and waits no longer than asked', async () => {
    const body = { kind: 'exec', code: 'setTimeout(() => {}, 60_000)', label: 'long' };
    const first = await scene.call('/jobs', {
      body,
      headers: { 'idempotency-key': 'k1', prefer: 'respond-async, wait=1' },
    });
    expect([first.status, first.headers.get('preference-applied')]).toEqual([202, 'wait=1']);
    const again = await scene.call('/jobs', { body, headers: { 'idempotency-key': 'k1' } });
    expect(again.json.id).toBe(first.json.id);
    expect(again.headers.get('location')).toBe(`/api/v1/jobs/${first.json.id}`);
    const other = await scene.call('/jobs', { body: { ...body, label: 'x' }, headers: { 'idempotency-key': 'k1' } });
    expect(other.json.code).toBe('idempotency.mismatch');
    expect((await scene.call(`/jobs/${first.json.id}/cancel`, { method: 'POST' })).status).toBe(202);
    const { json } = await scene.call('/jobs?label=long&outcome=canceled');
    for (let waited = 0; json.items.length === 0 && waited < 1; waited += 1)
      await new Promise((resolve) => setTimeout(resolve, 500));
    const again2 = await run({ kind: 'exec', code: 'console.log(1)' });
    expect(again2.json.outcome).toBe('succeeded');
  });

  it('is found by its words, filters and pages', async () => {
    const { token } = await scene.user('searcher');
    for (let at = 0; at < 5; at += 1) {
      const body = { kind: 'exec', code: `console.log('überall ${at}')`, label: at % 2 === 0 ? 'even-label' : 'odd' };
      await scene.call('/jobs', { token, body });
    }
    const ids = async (query: string): Promise<string[]> =>
      (await scene.call(`/jobs?${query}`, { token })).json.items.map(({ id }: { id: string }) => id);
    const all = await ids('limit=100');
    expect(all).toHaveLength(5);
    expect(await ids('q=ÜBER')).toEqual(all);
    expect(await ids('q=even lab')).toHaveLength(3);
    expect(await ids('q=even AND nothing')).toEqual([]);
    expect(await ids('q="*')).toEqual([]);
    expect(await ids('label=odd')).toHaveLength(2);
    const seen: string[] = [];
    let next: string | null = '';
    while (next !== null) {
      const { json } = await scene.call(`/jobs?limit=2${next === '' ? '' : `&cursor=${next}`}`, { token });
      seen.push(...json.items.map(({ id }: { id: string }) => id));
      next = json.next;
    }
    expect(seen).toEqual(all);
    expect((await scene.call('/jobs?cursor=abc', { token })).json.code).toBe('cursor.invalid');
  });

  it('is deleted with all of its files, and runs anew with them before', async () => {
    const { json } = await run({
      kind: 'exec',
      code: "console.log((await import('node:fs')).readFileSync('a.txt', 'utf8'))",
      files: { 'a.txt': 'kept' },
    });
    const { json: again } = await scene.call(`/jobs/${json.jobId}/rerun`, {
      method: 'POST',
      headers: { prefer: 'wait=60' },
    });
    expect([again.stdout.text, again.jobId === json.jobId]).toEqual(['kept\n', false]);
    expect((await scene.call(`/jobs/${again.jobId}`)).json.rerunOf).toBe(json.jobId);
    expect((await scene.call(`/jobs/${json.jobId}`, { method: 'DELETE' })).status).toBe(204);
    expect((await scene.call(`/jobs/${json.jobId}`)).status).toBe(404);
    expect(existsSync(join(scene.folder, 'jobs', json.jobId))).toBe(false);
  });

  it('logs each change in one line, with the user and without a token', async () => {
    await scene.call('/jobs', { body: { kind: 'exec', code: '1' } });
    const line = JSON.parse(scene.log.at(-1) ?? '{}');
    expect(line).toMatchObject({
      user: 1,
      method: 'POST',
      route: '/api/v1/jobs',
      status: 202,
      requestId: expect.any(String),
    });
    expect(scene.log.join('')).not.toContain('skc_');
    expect(scene.log.join('')).not.toContain(scene.folder);
  });
});
