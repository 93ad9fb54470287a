import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import type { RequestListener } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { removeTree } from '../../../src/durable/remove-tree.ts';
import { digestOf } from '../../../src/skills/text/digest.ts';
import { rawTarGz } from '../../fixtures/archives/raw-tar.ts';
import { rawZip } from '../../fixtures/archives/raw-zip.ts';
import { type LocalServer, serveLocally } from '../../fixtures/outgoing/local-server.ts';
import { skillText } from '../../fixtures/outgoing/skill-site.ts';
import { type MainRun, runMain } from '../../fixtures/run-main.ts';

let scene: string;
let project: string;
let server: LocalServer;
let answers: Map<string, Uint8Array | RequestListener>;
beforeEach(async () => {
  scene = mkdtempSync(join(tmpdir(), 'add-archive-'));
  project = join(scene, 'project');
  mkdirSync(project);
  answers = new Map();
  server = await serveLocally((request, response) => {
    const found = answers.get(request.url ?? '');
    if (typeof found === 'function') return found(request, response);
    response.writeHead(found === undefined ? 404 : 200).end(found);
  });
});
afterEach(async () => {
  await server[Symbol.asyncDispose]();
  removeTree(scene);
});

const skillcell = (argv: string[], allowed = `127.0.0.1:${server.port}`): Promise<MainRun> =>
  runMain(['skills', ...argv], { cwd: project, env: { HOME: scene, SKILLCELL_ALLOW_PRIVATE: allowed } });
const at = (path: string): string => `http://127.0.0.1:${server.port}${path}`;
const zip = (body?: string): Buffer => rawZip([{ name: 'units/SKILL.md', content: skillText('units', body) }]);
const locked = (): Record<string, { origin: object; digest: string }> =>
  (JSON.parse(readFileSync(join(project, 'skillcell.lock.json'), 'utf8')) as { skills: never }).skills;
const installed = (): string => readFileSync(join(project, '.agents/skills/units/SKILL.md'), 'utf8');

describe('skillcell skills add of an archive by its address', () => {
  it.each([
    ['/x/units.zip', zip()],
    ['/x/units.skill', rawZip([{ name: 'SKILL.md', content: skillText('units') }])],
    ['/x/any.tar.gz', rawTarGz([{ name: 'units/SKILL.md', content: skillText('units') }])],
  ])('takes %s, and locks its digest', async (path, bytes) => {
    answers.set(path, (_, response) => response.writeHead(200, { 'content-type': 'text/html' }).end(bytes));
    expect(await skillcell(['add', at(path)])).toMatchObject({
      code: 0,
      stdout: 'added custom.units in .agents/skills/units\n',
      stderr: '',
    });
    expect(installed()).toBe(skillText('units'));
    expect(locked()['custom.units']).toMatchObject({
      origin: { type: 'archive', source: at(path), folder: path.endsWith('.skill') ? '.' : 'units' },
      files: [{ path: 'SKILL.md', digest: digestOf(skillText('units')) }],
    });
    expect(server.seen).toEqual([`GET 127.0.0.1:${server.port} ${path}`]);
  });

  it('is restored by install, compared by verify, and changed by update', async () => {
    answers.set('/units.zip', zip());
    await skillcell(['add', at('/units.zip')]);
    writeFileSync(join(project, '.agents/skills/units/SKILL.md'), `${skillText('units')}Spoiled.\n`);
    expect((await skillcell(['verify'])).code).toBe(1);
    // From the address, with an empty cache.
    removeTree(join(scene, '.cache'));
    expect((await skillcell(['install'])).code).toBe(0);
    expect(installed()).toBe(skillText('units'));
    expect((await skillcell(['verify'])).code).toBe(0);
    expect(server.seen).toHaveLength(2);

    answers.set('/units.zip', zip('Changed.'));
    expect((await skillcell(['update', '--dry-run'])).stdout).toContain('+Changed.');
    expect(installed()).toBe(skillText('units'));
    rmSync(join(project, '.agents'), { recursive: true });
    removeTree(join(scene, '.cache'));
    const { code, stderr } = await skillcell(['install']);
    expect([code, stderr]).toEqual([2, expect.stringContaining('does not have the locked bytes any more')]);
    expect(readdirSync(project)).toEqual(['skillcell.lock.json']);
    answers.set('/units.zip', zip());
    expect((await skillcell(['install'])).code).toBe(0);
    answers.set('/units.zip', zip('Changed.'));
    expect((await skillcell(['update'])).code).toBe(0);
    expect(installed()).toContain('Changed.');
    expect((await skillcell(['verify'])).code).toBe(0);
  });

  it.each<[string, RequestListener, string]>([
    ['nothing', (_, response) => response.writeHead(404).end(), '3 answers with the HTTP status 404'],
    ['a page', (_, response) => response.end('<!doctype html>'), '2 zip.format'],
    ['a hostile archive', (_, response) => response.end(rawZip([{ name: '../evil' }])), '2 zip.name'],
    [
      'more than 10 MiB',
      (_, response) => response.end(Buffer.alloc(10 * 1024 * 1024 + 1)),
      '2 it sends more than 10485760 bytes',
    ],
    [
      'a redirect to a forbidden address',
      (_, response) => response.writeHead(302, { location: 'http://127.0.0.2/units.zip' }).end(),
      '2 only https is allowed',
    ],
  ])('refuses %s, and writes nothing', async (_what, answer, expected) => {
    answers.set('/units.zip', answer);
    const { code, stderr } = await skillcell(['add', at('/units.zip')]);
    expect(`${code} ${stderr}`).toMatch(new RegExp(`^${expected.slice(0, 1)} [^]*${expected.slice(2)}`));
    expect(readdirSync(project)).toEqual([]);
  });

  it('asks a private address only if it is allowed', async () => {
    answers.set('/units.zip', zip());
    const { code, stderr } = await skillcell(['add', at('/units.zip')], '');
    expect([code, stderr]).toEqual([2, expect.stringContaining('only https is allowed')]);
    expect((await skillcell(['add', `https://127.0.0.1/units.zip`], '')).stderr).toContain('Cannot read the source');
    expect(server.seen).toEqual([]);
  });
});
