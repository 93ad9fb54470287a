import { existsSync, mkdtempSync, readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { generateText, wrapLanguageModel } from 'ai';
import { MockLanguageModelV4 } from 'ai/test';
import {
  createS3Backend,
  loadSkillTool,
  type S3Backend,
  type S3BackendOptions,
  skillsMiddleware,
  type SkillsState,
} from '../../src/backend/index.ts';
import { removeTree } from '../../src/durable/remove-tree.ts';
import { type Ceph, type CephUser, MISSING_CEPH, startCeph } from '../fixtures/ceph.ts';
import { describeWith } from '../fixtures/describe-with.ts';
import { startFaultProxy } from '../fixtures/fault-proxy.ts';
import { ignoring } from '../fixtures/ignored-conditions.ts';
import { requireLevel } from '../fixtures/levels.ts';
import { pdfDocument, shown } from '../fixtures/pdf-document.ts';
import { openRawBucket, type RawBucket } from '../fixtures/raw-bucket.ts';

const BUCKET = 'deeds';
/** As in seed 002. */
const SALE = `---
name: "Escritura de Compraventa"
description: "Generación de escrituras de compraventa inmobiliaria"
category: "escrituras"
version: "1.0"
---

# Escritura de Compraventa

See: \`/skills/escrituras/compraventa/resources/ejemplo.md\`
`;

describeWith('createS3Backend() on ceph', MISSING_CEPH, () => {
  let ceph: Ceph;
  let raw: RawBucket;
  let folder: string;
  let users = 0;
  const opened: S3Backend[] = [];

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 's3-backend-'));
    ceph = await startCeph();
    raw = openRawBucket(ceph.endpoint, ceph.owner.credentials, BUCKET);
    await raw.create();
  });
  afterAll(async () => {
    await Promise.all(opened.map((backend) => backend.close()));
    raw?.close();
    await ceph?.[Symbol.asyncDispose]();
    removeTree(folder);
  });

  const open = (more: Partial<S3BackendOptions> & { userId: string }): S3Backend => {
    const backend = createS3Backend({
      bucket: BUCKET,
      endpoint: ceph.endpoint,
      credentials: ceph.owner.credentials,
      cacheDir: join(folder, 'cache'),
      ...more,
    });
    opened.push(backend);
    return backend;
  };
  /** A user with the skills of the seed, and a thread and a ticket of the same name. */
  const seeded = async (): Promise<string> => {
    const user = `u${(users += 1)}`;
    const skill = `${user}/skills/escrituras/compraventa`;
    await raw.put(`${skill}/SKILL.md`, SALE);
    await raw.put(`${skill}/disclosure_1.md`, 'Detail of the clauses.\n');
    await raw.put(`${skill}/resources/plantilla.pdf`, pdfOf('Plantilla'));
    await raw.put(`${skill}/resources/ejemplo.md`, 'An example.\n');
    await raw.put(`${user}/skills/escrituras/hipoteca/SKILL.md`, skillText('hipoteca', 'Mortgage deeds'));
    await raw.put(`${user}/skills/contratos/alquiler/SKILL.md`, skillText('alquiler', 'Rental contracts'));
    await raw.put(`threads/${user}/notes.md`, '# Notes\n');
    await raw.put(`tickets/${user}/requirements.md`, 'Wanted: a deed.\n');
    return user;
  };
  const openSeeded = async (more: Partial<S3BackendOptions> = {}): Promise<{ user: string; backend: S3Backend }> => {
    const user = await seeded();
    return { user, backend: open({ userId: user, threadId: user, ticketId: user, ...more }) };
  };

  test('ls() lists mounts, categories, skills and files by whole paths', async () => {
    const { backend } = await openSeeded();
    expect(await backend.ls('/')).toEqual(['/skills', '/ticket', '/workspace']);
    expect(await backend.ls('/skills')).toEqual(['/skills/contratos', '/skills/escrituras']);
    expect(await backend.ls('/skills/escrituras/')).toEqual([
      '/skills/escrituras/compraventa',
      '/skills/escrituras/hipoteca',
    ]);
    expect(await backend.ls('/skills/escrituras/compraventa/resources')).toEqual([
      '/skills/escrituras/compraventa/resources/ejemplo.md',
      '/skills/escrituras/compraventa/resources/plantilla.pdf',
    ]);
    expect(await backend.ls('/workspace')).toEqual(['/workspace/notes.md']);
  });

  test('read() and exists() add .md only if there is no file at the exact path', async () => {
    const { backend, user } = await openSeeded();
    expect(await backend.read('/workspace/notes')).toBe('# Notes\n');
    expect(await backend.read('/skills/escrituras/compraventa/disclosure_1')).toBe('Detail of the clauses.\n');
    await raw.put(`threads/${user}/notes`, 'exact');
    expect(await backend.read('/workspace/notes')).toBe('exact');
    expect(await backend.exists('/skills/escrituras/compraventa/SKILL')).toBe(true);
    expect(await backend.exists('/skills/escrituras/compraventa/resources/plantilla.pdf')).toBe(true);
    expect(await backend.exists('/skills/escrituras/compraventa/resources/other.pdf')).toBe(false);
    expect(await backend.read('/ticket/requirements.md')).toBe('Wanted: a deed.\n');
    await expect(backend.read('/workspace/none')).rejects.toMatchObject({ code: 'file.unreadable' });
  });

  test('read() reports the kind and the size of a binary file', async () => {
    const { backend } = await openSeeded();
    const path = '/skills/escrituras/compraventa/resources/plantilla.pdf';
    const bytes = pdfOf('Plantilla');
    await expect(backend.read(path)).rejects.toMatchObject({
      code: 'file.unreadable',
      message: `Cannot read "${path}" as text: it is a binary file (application/pdf), got ${bytes.length} bytes.`,
    });
    expect(Buffer.from(await backend.readBytes(path)).equals(bytes)).toBe(true);
  });

  test('readText() gives lines by offset and limit', async () => {
    const { backend } = await openSeeded();
    await backend.write('/workspace/lines.md', 'a\nb\nc\n');
    expect(await backend.read('/workspace/lines.md', { offset: 1, limit: 1 })).toBe('b\n');
    expect(await backend.readText('/workspace/lines.md', { offset: 1 })).toBe('b\nc\n');
    await expect(backend.read('/workspace/lines.md', { limit: 0 })).rejects.toMatchObject({ code: 'usage.invalid' });
  });

  test('the four calls for skills give them by category', async () => {
    const { backend } = await openSeeded();
    expect(await backend.loadSkills()).toEqual(['contratos/alquiler', 'escrituras/compraventa', 'escrituras/hipoteca']);
    expect(await backend.loadSkills('all')).toHaveLength(3);
    expect(await backend.loadSkills('escrituras')).toEqual(['escrituras/compraventa', 'escrituras/hipoteca']);
    expect(await backend.loadSkills('escritura')).toEqual([]);
    expect(await backend.loadAllSkillsFormatted()).toBe(
      [
        '## contratos',
        '- **contratos/alquiler**: Rental contracts',
        '',
        '## escrituras',
        '- **escrituras/compraventa**: Generación de escrituras de compraventa inmobiliaria',
        '- **escrituras/hipoteca**: Mortgage deeds',
      ].join('\n'),
    );
    expect(await backend.loadSkillsFrontmatter('contratos')).toBe(
      '---\n# contratos/alquiler\nname: alquiler\ndescription: Rental contracts\n---',
    );
    expect(await backend.loadSkillContent('escrituras/compraventa')).toBe(SALE);
    expect(await backend.loadSkillContent('escrituras/none')).toBeUndefined();
    expect(await backend.loadSkillContent('../u1/skills/escrituras/compraventa')).toBeUndefined();
  });

  test.each([
    ['ignores If-Match', ['if-match'], 'If-Match'],
    ['ignores If-None-Match', ['if-none-match'], 'If-None-Match'],
    ['reports that it has no such conditions', undefined, 'If-Match'],
  ])('an edit is refused if the service %s', async (_name, ignored, condition) => {
    const user = await seeded();
    await raw.put(`threads/${user}/deed.md`, 'one two');
    await using proxy = await startFaultProxy(ceph.endpoint);
    proxy.fault =
      ignored === undefined
        ? ({ method, headers }) =>
            method !== 'PUT' || headers['if-match'] === undefined ? undefined : { status: 501, code: 'NotImplemented' }
        : ignoring(raw, ignored);
    const backend = open({ userId: user, threadId: user, endpoint: proxy.endpoint });
    const refused = { code: 'store.unsupported', message: expect.stringContaining(` ${condition},`) as string };
    const edit = (): Promise<number> => backend.edit('/workspace/deed.md', { find: 'one', replace: '1' });
    await expect(edit()).rejects.toMatchObject(refused);
    await expect(backend.write('/workspace/new.md', 'x', { create: true })).rejects.toMatchObject(refused);
    const asked = proxy.seen.length;
    await expect(edit()).rejects.toMatchObject(refused);
    // The answer is known; only the file is looked up and read.
    expect(proxy.seen.slice(asked).filter(({ method }) => method === 'PUT')).toEqual([]);
    expect(await raw.keys(`threads/${user}/`)).toEqual([`threads/${user}/deed.md`, `threads/${user}/notes.md`]);
    expect(await raw.get(`threads/${user}/deed.md`)).toBe('one two');
    await backend.write('/workspace/deed.md', 'three');
    expect(await backend.read('/workspace/deed.md')).toBe('three');
  });

  test('the conditions of a service are tried once, before the first write that needs them', async () => {
    const user = await seeded();
    await using proxy = await startFaultProxy(ceph.endpoint);
    const backend = open({ userId: user, threadId: user, endpoint: proxy.endpoint });
    await backend.write('/workspace/a.md', 'one');
    const probes = (): string[] =>
      proxy.seen.filter(({ path }) => path.includes('/probe-')).map(({ method }) => method);
    expect(probes()).toEqual([]);
    await Promise.all(['b', 'c'].map((name) => backend.write(`/workspace/${name}.md`, name, { create: true })));
    await backend.edit('/workspace/a.md', { find: 'one', replace: 'two' });
    expect(probes()).toEqual(['PUT', 'PUT', 'PUT', 'DELETE']);
    const files = await raw.keys(`threads/${user}/`);
    expect(files.map((key) => key.split('/').at(-1))).toEqual(['a.md', 'b.md', 'c.md', 'notes.md']);
  });

  test('/skills is read-only, /ticket is by default, and /workspace is writable', async () => {
    const { backend, user } = await openSeeded();
    for (const path of ['/skills/escrituras/compraventa/SKILL.md', '/skills/new/one/SKILL.md', '/ticket/a.md']) {
      await expect(backend.write(path, 'x')).rejects.toMatchObject({ code: 'store.read-only' });
      await expect(backend.edit(path, { find: 'a', replace: 'b' })).rejects.toMatchObject({ code: 'store.read-only' });
    }
    await backend.write('/workspace/out/deed.md', 'one two one\r\n');
    expect(await raw.get(`threads/${user}/out/deed.md`)).toBe('one two one\r\n');
    expect(await backend.edit('/workspace/out/deed.md', { find: 'two', replace: "$& $' three" })).toBe(1);
    await expect(backend.edit('/workspace/out/deed.md', { find: 'one', replace: '1' })).rejects.toThrow(
      /holds the text 2 times/,
    );
    expect(await backend.edit('/workspace/out/deed.md', { find: 'one', replace: '1', all: true })).toBe(2);
    expect(await raw.get(`threads/${user}/out/deed.md`)).toBe("1 $& $' three 1\r\n");
    await expect(backend.write('/workspace/out/deed.md', '', { create: true })).rejects.toMatchObject({
      code: 'store.conflict',
    });
    const writable = open({ userId: user, ticketId: user, writableTicket: true });
    await writable.write('/ticket/a.md', 'x');
    expect(await raw.get(`tickets/${user}/a.md`)).toBe('x');
  });

  test('concurrent edits all take effect', async () => {
    const { backend, user } = await openSeeded();
    const names = ['a', 'b', 'c', 'd', 'e'];
    await backend.write('/workspace/list.md', names.join('\n'));
    await Promise.all(
      names.map((name) => backend.edit('/workspace/list.md', { find: name, replace: name.toUpperCase() })),
    );
    expect(await raw.get(`threads/${user}/list.md`)).toBe('A\nB\nC\nD\nE');
  });

  test('glob() and grep() search the visible files, and name those that they skipped', async () => {
    const { backend } = await openSeeded();
    expect(await backend.glob('**/*.pdf')).toEqual(['/skills/escrituras/compraventa/resources/plantilla.pdf']);
    expect(await backend.glob('*/SKILL.md', { path: '/skills/escrituras' })).toEqual([
      '/skills/escrituras/compraventa/SKILL.md',
      '/skills/escrituras/hipoteca/SKILL.md',
    ]);
    expect(await backend.glob('/skills/**/disclosure_?.md')).toHaveLength(1);
    const found = await backend.grep('clauses', { path: '/skills' });
    expect(found.matches).toEqual([
      { path: '/skills/escrituras/compraventa/disclosure_1.md', line: 1, text: 'Detail of the clauses.' },
    ]);
    expect(found.skipped).toEqual([
      { path: '/skills/escrituras/compraventa/resources/plantilla.pdf', reason: 'it is a binary file' },
    ]);
    expect(
      (await backend.grep('^(a+)+$|cl[a-z]+s', { path: '/skills', regex: true, glob: '**/*.md' })).matches,
    ).toHaveLength(1);
    await expect(backend.grep('(?=a)', { regex: true })).rejects.toMatchObject({ code: 'usage.invalid' });
  });

  test('paths are not normalised, and none leads out of a mount', async () => {
    const { backend } = await openSeeded();
    for (const path of [
      '/workspace/../x',
      '/workspace/./notes.md',
      '/workspace//notes.md',
      '/workspace/%2e%2e/x',
      '/workspace/a%2Fb',
      '/workspace/notes.md/',
      '/workspacex/notes.md',
      'workspace/notes.md',
      '/workspace/a\\b',
      '/workspace/a\nb',
      '/workspace/a\0b',
      `/workspace/${'x'.repeat(1_100)}`,
      '/etc/passwd',
      '',
    ])
      await expect(backend.read(path), path).rejects.toMatchObject({ code: 'store.key-invalid' });
    await expect(backend.ls('/skillset')).rejects.toMatchObject({ code: 'store.key-invalid' });
  });

  test('ids that are no plain names are refused, and so are the names for threads and tickets', () => {
    for (const bad of [
      'a/b',
      '..',
      '.',
      'a/../b',
      '%2e%2e',
      'a%2fb',
      'a\\b',
      'a\nb',
      '/',
      'a/',
      ' a',
      'e\u0301',
      'a\u200bb',
    ])
      for (const id of ['userId', 'threadId', 'ticketId'] as const)
        expect(() => open({ userId: 'u', [id]: bad }), `${id} ${bad}`).toThrow(
          expect.objectContaining({ code: 'store.key-invalid' }),
        );
    for (const userId of ['threads', 'tickets'])
      expect(() => open({ userId })).toThrow(expect.objectContaining({ code: 'store.key-invalid' }));
    expect(() => open({ userId: '' })).toThrow(expect.objectContaining({ code: 'options.invalid' }));
    for (const company of ['u', 'u/skills', 'u/skills/escrituras/', 'threads/t/'])
      expect(() => open({ userId: 'u', threadId: 't', company })).toThrow(
        expect.objectContaining({ code: 'options.invalid' }),
      );
    expect(() => open({ userId: 'u', company: '../x' })).toThrow(
      expect.objectContaining({ code: 'store.key-invalid' }),
    );
  });

  test("a company's skills are added to the user's, which take precedence", async () => {
    const user = await seeded();
    const company = `c-${user}`;
    await raw.put(`${company}/skills/escrituras/compraventa/SKILL.md`, skillText('compraventa', 'Of the company'));
    await raw.put(`${company}/skills/estilo/casa/SKILL.md`, skillText('casa', 'House style'));
    for (const name of [company, `${company}/skills/`]) {
      const backend = open({ userId: user, company: name });
      const text = await backend.loadAllSkillsFormatted();
      expect(text).toContain('- **escrituras/compraventa**: Generación');
      expect(text).toContain('- **estilo/casa**: House style');
      expect(await backend.read('/skills/estilo/casa/SKILL.md')).toContain('House style');
      expect(backend.diagnostics).toContainEqual(
        expect.objectContaining({ code: 'skill.shadowed', path: 'escrituras/compraventa' }),
      );
    }
  });

  test('diagnostics names files of a thread that were left out', async () => {
    const { backend, user } = await openSeeded();
    await raw.put(`threads/${user}/a%2fb`, 'x');
    expect(await backend.ls('/workspace')).toEqual(['/workspace/notes.md']);
    expect(backend.diagnostics).toContainEqual(expect.objectContaining({ code: 's3.key' }));
  });

  test('a policy holds on every call', async () => {
    const user = await seeded();
    const agentsConfig = { 'solver.codegen': { disabled: ['custom.hipoteca'] } };
    const backend = open({ userId: user, consumer: 'solver.codegen', agentsConfig });
    expect(await backend.loadSkills()).toEqual(['contratos/alquiler', 'escrituras/compraventa']);
    expect(await backend.loadSkillContent('escrituras/hipoteca')).toBeUndefined();
    expect(await backend.exists('/skills/escrituras/hipoteca/SKILL.md')).toBe(false);
    expect(await backend.ls('/skills/escrituras')).toEqual(['/skills/escrituras/compraventa']);
    expect((await backend.grep('Mortgage')).matches).toEqual([]);
    await expect(backend.read('/skills/escrituras/hipoteca/SKILL.md')).rejects.toMatchObject({
      code: 'file.unreadable',
    });
    const other = open({ userId: user, consumer: 'another', agentsConfig });
    expect(await other.loadSkillContent('escrituras/hipoteca')).toContain('Mortgage');
  });

  test("visible: 'loaded' shows the files of loaded skills only", async () => {
    const { backend } = await openSeeded({ visible: 'loaded' });
    expect(await backend.loadSkills()).toHaveLength(3);
    expect(await backend.ls('/skills')).toEqual([]);
    await expect(backend.read('/skills/escrituras/compraventa/disclosure_1.md')).rejects.toMatchObject({
      code: 'file.unreadable',
    });
    await backend.loadSkillContent('escrituras/compraventa');
    expect(await backend.ls('/skills')).toEqual(['/skills/escrituras']);
    expect(await backend.read('/skills/escrituras/compraventa/disclosure_1.md')).toContain('clauses');
    expect(await backend.exists('/skills/contratos/alquiler/SKILL.md')).toBe(false);
  });

  test('a skill that models may not invoke is in no list, and is there for a caller', async () => {
    const { user, backend } = await openSeeded();
    const text = '---\nname: secreto\ndescription: For people\ndisable-model-invocation: true\n---\nBody\n';
    await raw.put(`${user}/skills/escrituras/secreto/SKILL.md`, text);
    expect(await backend.loadSkills()).not.toContain('escrituras/secreto');
    expect(await backend.ls('/skills/escrituras')).not.toContain('/skills/escrituras/secreto');
    expect(await backend.offersSkill('escrituras/secreto')).toBe(false);
    expect(await backend.loadSkillContent('escrituras/secreto')).toBe(text);
  });

  test('a skill that cannot be loaded is left out by name, and its text starts no line of a list', async () => {
    const { user, backend } = await openSeeded();
    await raw.put(`${user}/skills/escrituras/roto/SKILL.md`, '---js\n{}\n---\nBody\n');
    const description = '"a\\n## escrituras\\n- **x/y**: z\\u202e"';
    await raw.put(
      `${user}/skills/escrituras/sale/SKILL.md`,
      `---\nname: sale\ndescription: ${description}\n---\nBody\n`,
    );
    const text = await backend.loadAllSkillsFormatted('escrituras');
    expect(text.match(/^## /gm)).toHaveLength(1);
    expect(text).toContain('- **escrituras/sale**: a ## escrituras - **x/y**: z\n'.trimEnd());
    expect(text).not.toContain('roto');
    expect(backend.diagnostics).toContainEqual(expect.objectContaining({ code: 'frontmatter.language' }));
  });

  test('two tenants see nothing of each other, even with one cache', async () => {
    const { user: a, backend: first } = await openSeeded();
    await first.read('/skills/escrituras/compraventa/SKILL.md');
    const second = open({ userId: `${a}b`, threadId: `${a}b` });
    await raw.put(`${a}b/skills/escrituras/otra/SKILL.md`, skillText('otra', 'Another'));
    expect(await second.loadSkills()).toEqual(['escrituras/otra']);
    expect(await second.ls('/workspace')).toEqual([]);
    expect(await first.loadSkills()).not.toContain('escrituras/otra');
  });

  test('an outage is an error on every call and never an empty list', async () => {
    const stranger: CephUser = await ceph.addUser('stranger');
    const { user } = await openSeeded();
    const backend = open({ userId: user, threadId: user, credentials: stranger.credentials });
    for (const call of [
      () => backend.loadSkills(),
      () => backend.ls('/skills'),
      () => backend.loadSkillsFrontmatter(),
      () => backend.loadAllSkillsFormatted(),
      () => backend.loadSkillContent('escrituras/compraventa'),
      () => backend.exists('/skills/escrituras/compraventa/SKILL.md'),
      () => backend.ls('/workspace'),
      () => backend.read('/workspace/notes.md'),
      () => backend.exists('/workspace/notes.md'),
      () => backend.write('/workspace/x.md', 'x'),
      () => backend.glob('**'),
    ])
      await expect(call()).rejects.toMatchObject({ code: 'store.unavailable' });
  });

  test('readText() with convert gives the text of a PDF, and reads other files as usual', async (context) => {
    requireLevel(context, 'namespace');
    const { user, backend } = await openSeeded();
    await raw.put(`${user}/skills/escrituras/compraventa/resources/real.pdf`, pdfDocument([shown('Clause one')]));
    const path = '/skills/escrituras/compraventa/resources/real.pdf';
    expect(await backend.readText(path, { convert: true })).toBe('Clause one\n');
    expect(await backend.readText('/workspace/notes', { convert: true })).toBe('# Notes\n');
    await expect(backend.readText(path)).rejects.toMatchObject({ code: 'file.unreadable' });
  });

  test('skillsMiddleware() shows a model the frontmatters, and the skill that loadSkillTool() has loaded', async () => {
    const { user, backend } = await openSeeded();
    await raw.put(`${user}/skills/escrituras/hipoteca/SKILL.md`, skillText('hipoteca', 'Mort\u202egage deeds'));
    const state: SkillsState = { category: 'escrituras' };
    const prompts: unknown[] = [];
    const model = wrapLanguageModel({
      model: new MockLanguageModelV4({
        doGenerate: async ({ prompt }) => {
          prompts.push(prompt.filter(({ role }) => role === 'system').map(({ content }) => content));
          const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 } };
          return {
            content: [{ type: 'text', text: 'done' }],
            finishReason: { unified: 'stop', raw: 'stop' },
            usage,
            warnings: [],
          } as never;
        },
      }),
      middleware: skillsMiddleware(backend, state),
    });
    await generateText({ model, system: 'You write deeds.', prompt: 'One, please.' });
    const loader = loadSkillTool(backend, state);
    const call = { toolCallId: '1', messages: [], context: {} } as never;
    expect(await loader.execute?.({ skill_path: 'escrituras/compraventa' }, call)).toEqual({
      loaded: 'escrituras/compraventa',
    });
    await generateText({ model, prompt: 'Another.' });
    expect(prompts).toEqual([
      [
        `You write deeds.\n\n---\n# escrituras/compraventa\n${SALE.split('---\n')[1]}---\n---\n# escrituras/hipoteca\nname: hipoteca\ndescription: Mortgage deeds\n---`,
      ],
      [`---\n${SALE}\n---`],
    ]);
    await expect(loader.execute?.({ skill_path: 'escrituras/none' }, call)).rejects.toThrow(
      /there is no skill at this path/,
    );
    expect(state.currentSkill).toBe('escrituras/compraventa');
  });

  test('the cache holds no credentials of the bucket', async () => {
    const { backend } = await openSeeded();
    await backend.read('/skills/escrituras/compraventa/SKILL.md');
    const cache = join(folder, 'cache');
    expect(existsSync(cache)).toBe(true);
    const files = readdirSync(cache, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
    const { accessKeyId, secretAccessKey } = ceph.owner.credentials;
    for (const { parentPath, name } of files) {
      const content = readFileSync(join(parentPath, name), 'latin1');
      expect(content.includes(secretAccessKey) || content.includes(accessKeyId), name).toBe(false);
    }
  });
});

function skillText(name: string, description: string): string {
  return `---\nname: ${name}\ndescription: ${description}\n---\nBody of ${name}.\n`;
}

function pdfOf(text: string): Buffer {
  return Buffer.from(`%PDF-1.4\n${text}\0`);
}
