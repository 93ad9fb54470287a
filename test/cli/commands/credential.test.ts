import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { removeTree } from '../../../src/durable/remove-tree.ts';
import { describeWith, MISSING_GIT, MISSING_OPENSSL } from '../../fixtures/describe-with.ts';
import { askWho, type GitHttpServer, serveGit } from '../../fixtures/git-http-server.ts';
import { makeRepository, type TestRepository } from '../../fixtures/git-repository.ts';
import { runMain } from '../../fixtures/run-main.ts';
import { skillText } from '../../fixtures/source-of.ts';
import { type CliRun, runCli } from '../../fixtures/spawn-cli.ts';

const TOKEN = 's3cret-of-the-press';
const ENCODED = Buffer.from(`x-access-token:${TOKEN}`).toString('base64');
const SECRET = new RegExp(`${TOKEN}|${ENCODED}|PRESS_TOKEN`);

let scene: string;
let repository: TestRepository;
let server: GitHttpServer;

/** Runs the command line with a git that trusts the server's certificate, and with all debug output of git. */
async function skills(...argv: string[]): Promise<CliRun> {
  const { NODE_OPTIONS: _, ...env } = process.env as Record<string, string>;
  const run = await runCli(['skills', ...argv], {
    cwd: join(scene, 'project'),
    env: {
      ...env,
      PATH: `${join(scene, 'bin')}:${process.env['PATH']}`,
      HOME: join(scene, 'home'),
      XDG_CACHE_HOME: '',
      SKILLCELL_ALLOW_PRIVATE: 'localhost',
      PRESS_TOKEN: TOKEN,
      GIT_CURL_VERBOSE: '1',
      GIT_TRACE: '1',
      GIT_TRACE_CURL: '1',
      GIT_TRACE_REDACT: '0',
    },
  });
  expect(`${run.stdout}${run.stderr}`).not.toMatch(SECRET);
  return run;
}

function contentsBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => `${entry.name}\n${readFileSync(join(entry.parentPath, entry.name), 'latin1')}`);
}

describeWith('--credential', MISSING_GIT ?? MISSING_OPENSSL, () => {
  beforeAll(async () => {
    scene = realpathSync(mkdtempSync(join(tmpdir(), 'credential-')));
    for (const name of ['bin', 'home', 'project', 'served']) mkdirSync(join(scene, name));
    repository = makeRepository(join(scene, 'served', 'press'));
    repository.commit({ 'tables/SKILL.md': skillText('tables') });
    server = await serveGit(join(scene, 'served'), join(scene, 'tls'), { instead: askWho(ENCODED) });
    const program = join(scene, 'bin', 'git');
    writeFileSync(program, `#!/bin/sh\nGIT_SSL_CAINFO='${server.caFile}' exec /usr/bin/git "$@"\n`);
    chmodSync(program, 0o755);
  });
  afterAll(async () => {
    await server.close();
    removeTree(scene);
  });

  it('adds, updates and installs from a private repository, and is in no file and no output', async () => {
    const source = `https://localhost:${server.port}/press`;
    const mine = ['--credential', `https://localhost:${server.port}=PRESS_TOKEN`];
    // A credential for another origin, which is not asked.
    const another = ['--credential', 'https://git.example.test=PRESS_TOKEN'];
    const alone = await skills('add', source, ...another);
    expect([alone.code, alone.stderr]).toEqual([
      3,
      expect.stringMatching(/asks for a credential[^]*`--credential https/),
    ]);
    expect(server.requests.join()).not.toContain('Basic');

    expect(await skills('add', source, ...another, ...mine)).toMatchObject({
      code: 0,
      stdout: 'added custom.tables in .agents/skills/tables\n',
    });
    expect(server.requests.join()).toContain(ENCODED);
    repository.commit({ 'tables/SKILL.md': `${skillText('tables')}New.\n` });
    expect((await skills('update', ...mine)).stdout).toContain('updated custom.tables');
    for (const gone of ['home/.cache', 'project/.agents']) removeTree(join(scene, gone));
    expect((await skills('install', ...mine)).stdout).toBe('installed custom.tables in .agents/skills/tables\n');

    const written = ['home', 'project'].flatMap((name) => contentsBelow(join(scene, name)));
    expect(written.some((text) => text.startsWith('skillcell.lock.json'))).toBe(true);
    expect(written.some((text) => text.includes('.pack\nPACK'))).toBe(true);
    expect(written.filter((text) => SECRET.test(text))).toEqual([]);
  });
});

describe('--credential', () => {
  const refused = async (...given: string[]): Promise<string> => {
    const flags = given.flatMap((value) => ['--credential', value]);
    const env = { HOME: tmpdir(), EMPTY: '', BROKEN: 's3cret\n', PRESS_TOKEN: 's3cret' };
    const { code, stdout, stderr } = await runMain(['skills', 'add', 'https://git.example.test/a', ...flags], { env });
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).not.toContain('s3cret');
    return stderr;
  };

  it.each([
    ['https://git.example.test=MISSING', 'is not set, or empty, got "MISSING"'],
    ['https://git.example.test=EMPTY', 'is not set, or empty, got "EMPTY"'],
    ['https://git.example.test=BROKEN', 'has control characters, got "BROKEN"'],
  ])('names the variable of %s', async (value, told) => {
    expect(await refused(value)).toContain(told);
  });

  it.each([
    'https://git.example.test',
    'https://git.example.test=',
    '=PRESS_TOKEN',
    'PRESS_TOKEN',
    'git.example.test=PRESS_TOKEN',
    'http://git.example.test=PRESS_TOKEN',
    'https://git.example.test/press=PRESS_TOKEN',
    'https://git.example.test?a=PRESS_TOKEN',
    'https://git.example.test#a=PRESS_TOKEN',
    'https://press:s3cret@git.example.test=PRESS_TOKEN',
    'https://git.example.test=s3cret_that_was_typed',
    'https://git.example.test=PRESS-TOKEN',
  ])('refuses %s, and repeats nothing of it', async (value) => {
    const told = await refused(value);
    expect(told).toContain('it must be ORIGIN=VARIABLE');
    expect(told).not.toContain('example.test');
  });

  it('takes one token for each origin, in any spelling', async () => {
    const both = ['https://git.example.test=PRESS_TOKEN', 'https://GIT.example.test:443/=PRESS_TOKEN'];
    expect(await refused(...both)).toContain('an origin has one token, got "https://git.example.test"');
  });
});
