import { execFileSync } from 'node:child_process';
import { chmodSync, closeSync, constants, mkdirSync, openSync, readdirSync, readSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { describeWith, MISSING_GIT, MISSING_OPENSSL } from '../../../fixtures/describe-with.ts';
import { askWho, type GitHttpServer, serveGit } from '../../../fixtures/git-http-server.ts';
import { type GitScene, setUpGit } from '../../../fixtures/git-scene.ts';
import { skillText } from '../../../fixtures/source-of.ts';

/** The environment of every command. Most of it repeats git's defaults, so that neither another git nor the caller's environment changes them. */
const VARIABLES = {
  PATH: '/usr/local/bin:/usr/bin:/bin',
  HOME: '/dev/null',
  LC_ALL: 'C',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_ATTR_NOSYSTEM: '1',
  GIT_TERMINAL_PROMPT: '0',
  GIT_ASKPASS: '',
  GIT_NO_LAZY_FETCH: '1',
  GIT_NO_REPLACE_OBJECTS: '1',
};
const CONFIGURATION = {
  'http.followRedirects': 'false',
  'http.proxy': '',
  'http.lowSpeedLimit': '1000',
  'http.lowSpeedTime': '30',
  'credential.helper': '',
  'core.askPass': '',
  'core.hooksPath': '/dev/null',
  'core.attributesFile': '/dev/null',
  'core.fsmonitor': 'false',
  'core.bigFileThreshold': '16m',
  'fetch.unpackLimit': '1',
  'fetch.recurseSubmodules': 'false',
  'fetch.writeCommitGraph': 'false',
  'transfer.bundleURI': 'false',
  'pack.threads': '1',
  'gc.auto': '0',
  'maintenance.auto': 'false',
};
/** Capacity of a pipe. */
const PIPE_BYTES = 65_536;
const ENCODED = Buffer.from('x-access-token:s3cret').toString('base64');

interface Command {
  args: string;
  /** Its working folder, and descriptor 3 (the pipe of the watcher) if open. */
  place: { cwd: string; inherited: string };
  /** Limits of core dumps, of files in units of 512 bytes, and of memory in KiB. */
  limits: string;
  variables: Record<string, string>;
  configuration: Record<string, string>;
}

let scene: GitScene;
let server: GitHttpServer;

/** Puts a wrapper before the real git that logs each command and its environment: into a pipe, since some commands may write no file. */
function watchCommands(): () => Command[] {
  const bin = join(scene.folder, 'bin');
  mkdirSync(bin);
  const [program, log] = [join(bin, 'git'), join(bin, 'log')];
  execFileSync('mkfifo', [log]);
  const script = `#!/bin/sh
inherited=''
if [ -e /proc/$$/fd/3 ]; then inherited=3; fi
{ printf '\\001'; printf '%s\\002' "$*" "$(pwd -P)" "$(ulimit -c) $(ulimit -f) $(ulimit -v)" "$inherited"; cat /proc/$$/environ; } >'${log}'
exec /usr/bin/git "$@"
`;
  writeFileSync(program, script);
  chmodSync(program, 0o755);
  vi.stubEnv('PATH', `${bin}:${process.env['PATH']}`);
  const pipe = openSync(log, constants.O_RDWR | constants.O_NONBLOCK);
  return () => {
    const said = Buffer.alloc(PIPE_BYTES);
    const text = said.toString('utf8', 0, readSync(pipe, said));
    closeSync(pipe);
    return (
      text
        .split('\u0001')
        .slice(1)
        .map((row) => row.split('\u0002', 5))
        .map(([args = '', cwd = '', limits = '', inherited = '', environment = '']) => ({
          args,
          place: { cwd, inherited },
          limits,
          ...readEnvironment(environment),
        }))
        // Commands of the server.
        .filter(({ args }) => args !== 'http-backend')
    );
  };
}

function readEnvironment(text: string): Pick<Command, 'variables' | 'configuration'> {
  const all = new Map(
    text
      .split('\0')
      .filter((row) => row !== '')
      .map((row): [string, string] => [row.slice(0, row.indexOf('=')), row.slice(row.indexOf('=') + 1)]),
  );
  const count = Number(all.get('GIT_CONFIG_COUNT'));
  const configuration = Object.fromEntries(
    Array.from({ length: count }, (_, index) => [
      all.get(`GIT_CONFIG_KEY_${index}`) ?? '',
      all.get(`GIT_CONFIG_VALUE_${index}`) ?? '',
    ]),
  );
  // Variables that the shell in between adds.
  const variables = [...all].filter(
    ([name]) => !/^(?:GIT_CONFIG_(?:COUNT|KEY|VALUE).*|PWD|OLDPWD|SHLVL|_)$/.test(name),
  );
  return { variables: Object.fromEntries(variables), configuration };
}

describeWith('git store: commands', MISSING_GIT ?? MISSING_OPENSSL, () => {
  beforeEach(async () => {
    scene = setUpGit();
    server = await serveGit(scene.folder, join(scene.folder, 'tls'), { instead: askWho(ENCODED) });
  });
  afterEach(async () => {
    vi.unstubAllEnvs();
    await server.close();
    await scene.close();
  });

  it('gets exactly this environment, and these arguments', async () => {
    const { repository } = scene;
    const commit = repository.commit({ 'p/a/SKILL.md': skillText('a') });
    repository.git(['tag', '--annotate', '--message=A tag.', 'v1']);
    const tree = repository.git(['rev-parse', 'HEAD:p']);
    const commands = watchCommands();
    const resolve = async (): Promise<string[]> => ['127.0.0.1', '::1'];
    const url = `https://git.test:${server.port}/repository`;
    const options = { url, ref: 'v1', folder: 'p', caFile: server.caFile, token: 's3cret', resolve };
    for (const store of [scene.open(options), scene.open({ ...options, ref: commit })]) {
      const [item] = (await store.list()).items;
      if (item === undefined) throw new Error('nothing was listed');
      expect((await store.open(item)).files).toHaveLength(1);
    }
    const [name = ''] = readdirSync(join(scene.cacheFolder, 'git'));
    const kept = join(scene.cacheFolder, 'git', name);
    const [index = ''] = readdirSync(join(kept, 'objects', 'pack')).filter((each) => each.endsWith('.idx'));

    const place = { cwd: '/', inherited: '' };
    const [unwritten, small, large] = ['0 0 2097152', '0 2048 2097152', '0 524288 2097152'];
    const remote = {
      place,
      variables: { ...VARIABLES, GIT_ALLOW_PROTOCOL: 'https' },
      configuration: {
        ...CONFIGURATION,
        'http.curloptResolve': `git.test:${server.port}:127.0.0.1,[::1]`,
        'http.sslCAInfo': server.caFile,
        [`http.https://git.test:${server.port}/.extraHeader`]: `Authorization: Basic ${ENCODED}`,
      },
    };
    const local = { place, variables: { ...VARIABLES, GIT_ALLOW_PROTOCOL: 'none' }, configuration: CONFIGURATION };
    const fetched = '--quiet --depth=1 --no-tags --no-write-fetch-head --no-auto-maintenance --no-recurse-submodules';
    const read = [
      { args: `--git-dir=${kept} cat-file --batch`, limits: unwritten, ...local },
      { args: `--git-dir=${kept} ls-tree -r -t -l -z --full-tree ${tree}`, limits: unwritten, ...local },
    ];
    const aside = /[^\s=]*\/git\/\.\S+\.part/g;
    expect(commands().map((each) => ({ ...each, args: each.args.replace(aside, 'ASIDE') }))).toEqual([
      { args: '--version', limits: unwritten, ...local },
      {
        args: `ls-remote --quiet --end-of-options ${url} refs/heads/v1 refs/heads/v1^{} refs/tags/v1 refs/tags/v1^{}`,
        limits: unwritten,
        ...remote,
      },
      { args: 'init --quiet --bare --template= --object-format=sha1 -- ASIDE', limits: small, ...local },
      {
        args: `--git-dir=ASIDE fetch ${fetched} --end-of-options ${url} +refs/tags/v1:refs/skillcell/fetched`,
        limits: large,
        ...remote,
      },
      {
        args: '--git-dir=ASIDE rev-parse --verify --end-of-options refs/skillcell/fetched^{commit}',
        limits: small,
        ...local,
      },
      ...read,
      { args: `--git-dir=${kept} verify-pack -- ${join(kept, 'objects', 'pack', index)}`, limits: small, ...local },
      ...read,
    ]);
  });

  it('pins no literal address, since curl does not support that', async () => {
    scene.repository.commit({ 'a/SKILL.md': skillText('a') });
    const commands = watchCommands();
    const url = `https://127.0.0.1:${server.port}/repository`;
    expect((await scene.open({ url, caFile: server.caFile, token: 's3cret' }).list()).items).toHaveLength(1);
    const asking = commands().find(({ args }) => args.startsWith('ls-remote'));
    expect(asking?.configuration).toEqual(expect.objectContaining({ 'http.sslCAInfo': server.caFile }));
    expect(asking?.configuration).not.toHaveProperty('http.curloptResolve');
  });

  it('ends when the output is over its limit', async () => {
    scene.repository.commit({ 'a/SKILL.md': skillText('a') });
    const store = scene.open();
    expect((await store.list()).items).toHaveLength(1);
    const [name = ''] = readdirSync(join(scene.cacheFolder, 'git'));
    replaceCommand('verify-pack', "/bin/sh -c 'yes | head -c 5000'");
    await expect(scene.open().list()).rejects.toMatchObject({
      code: 'store.unavailable',
      message: expect.stringContaining('git verify-pack failed'),
    });
    // The check did not find damage, so the repository stays.
    expect(readdirSync(join(scene.cacheFolder, 'git'))).toEqual([name]);
    replaceCommand('ls-remote', 'yes');
    await expect(store.list()).rejects.toMatchObject({
      code: 'source.refused',
      message: expect.stringContaining('it lists more than 67108864 bytes of names'),
    });
  });
});

/** Puts a wrapper before the real git that replaces one command. */
function replaceCommand(name: string, instead: string): void {
  const bin = join(scene.folder, `bin-${name}`);
  mkdirSync(bin);
  writeFileSync(
    join(bin, 'git'),
    `#!/bin/sh\ncase "$*" in *${name}*) exec ${instead};; esac\nexec /usr/bin/git "$@"\n`,
  );
  chmodSync(join(bin, 'git'), 0o755);
  vi.stubEnv('PATH', `${bin}:${process.env['PATH']}`);
}
