import { existsSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test, type TestContext } from 'vitest';
import type { DenialReason } from '../../src/contracts/network/denial-reasons.ts';
import type { JobPackages } from '../../src/contracts/network/job-packages.ts';
import type { ExecOptions } from '../../src/contracts/jobs/job.ts';
import type { JobResult } from '../../src/contracts/jobs/result.ts';
import { createOrchestrator } from '../../src/jobs/create-orchestrator.ts';
import type { Orchestrator } from '../../src/jobs/orchestrator.ts';
import { createDockerRunner } from '../../src/sandboxes/docker/docker-runner.ts';
import { dockerImage, MISSING_ENGINE } from '../fixtures/docker-image.ts';
import { networkRunners, requireNetworkLevel, ALL_NETWORK_LEVELS } from '../fixtures/egress/network-levels.ts';
import { type Registries, startRegistries, withVariables } from '../fixtures/egress/registries.ts';
import { programAnswer, scriptedModel } from '../fixtures/scripted-model.ts';
import { requireHere } from '../fixtures/describe-with.ts';

let registries: Registries;
let orchestrator: Orchestrator;

beforeAll(async () => {
  registries = await startRegistries();
  orchestrator = createOrchestrator({
    runners: await networkRunners(),
    network: {
      ...registries.upstream.network([]),
      packages: {
        npm: ['tiny-*', 'scripted', 'with-*', '@acme/*'],
        pypi: ['tiny*', 'with*', 'SourceOnly'],
        index: registries.index,
      },
    },
  });
}, 300_000);
afterAll(async () => {
  await orchestrator?.close();
  await registries?.[Symbol.asyncDispose]();
});

describe.each(ALL_NETWORK_LEVELS)('at level %s', (isolation) => {
  const requireInstallers = (context: TestContext): void => {
    requireNetworkLevel(context, isolation);
    if (isolation === 'container') return;
    for (const path of ['/usr/bin/npm', '/usr/lib/python3/dist-packages/pip'])
      requireHere(context, existsSync(path) ? undefined : path);
  };
  const exec = async (context: TestContext, job: Omit<ExecOptions, 'isolation'>): Promise<JobResult> => {
    requireInstallers(context);
    return await orchestrator.exec({ ...job, isolation });
  };

  test('a program of JavaScript imports a package of npm and its dependency', async (context) => {
    const code = "import odd from 'tiny-odd'; export default odd(3);";
    const result = await exec(context, { code, packages: { npm: ['tiny-odd@3'] } });
    expect(result.error).toBeUndefined();
    // The package.json of the workspace names no kind of modules, and Node warns of that in some cases.
    expect(result.stderr.text).toBe('');
    expect(result.value).toBe(true);
    expect(result.packages).toMatchObject([
      { registry: 'npm', name: 'tiny-number', version: '6.0.0', digest: expect.stringMatching(/^sha512-/) as string },
      { registry: 'npm', name: 'tiny-odd', version: '3.0.1' },
    ]);
  });

  test('a program of Python imports a package of the index and its dependency', async (context) => {
    const code = 'import skillcell, tinypkg\nskillcell.set_value(tinypkg.value)';
    const result = await exec(context, { language: 'python', code, packages: { pypi: ['tinypkg==1.0'] } });
    expect(result.error).toBeUndefined();
    expect(result.value).toBe(42);
    expect(result.packages?.map(({ name, version }) => `${name} ${version}`).toSorted()).toEqual([
      'tinydep 2.0',
      'tinypkg 1.0',
    ]);
  });

  test('children of a program find the packages as well', async (context) => {
    const code = `node -e "console.log(require('tiny-odd')(3))"; python3 -c "import tinypkg; print(tinypkg.value)"`;
    const packages = { npm: ['tiny-odd'], pypi: ['tinypkg'] };
    const result = await exec(context, { language: 'bash', code, packages });
    expect(result.stderr.text).toBe('');
    expect(result.stdout.text).toBe('true\n42\n');
  });

  test('the program has no network afterwards, and packages are no artifacts', async (context) => {
    const url = `https://${registries.at('npm.test')}/tiny-odd`;
    const code = `import net from 'node:net';
const names = Object.keys(process.env).filter((name) => /proxy|npm_config/i.test(name));
const answer = await new Promise((resolve) => {
  const socket = net.connect(3128, '127.0.0.1', () => socket.write('GET ${url.replace('https', 'http')} HTTP/1.1\\r\\nhost: ${registries.at('npm.test')}\\r\\n\\r\\n'));
  socket.on('data', (data) => { resolve(String(data).split('\\r\\n')[0]); socket.destroy(); });
  socket.on('error', (error) => resolve(error.code));
});
export default { names, answer, fetched: await fetch('${url}').then((got) => got.status, (error) => error.cause.code) };`;
    const result = await exec(context, { code, packages: { npm: ['tiny-odd'] } });
    expect(result.value).toEqual({
      names: [],
      answer: expect.stringContaining('403') as string,
      fetched: expect.stringMatching(/EAI_AGAIN|ENOTFOUND/) as string,
    });
    expect(result.network?.denied).toMatchObject([{ reason: 'host-not-allowed', host: 'npm.test' }]);
    expect(result.artifacts).toEqual([]);
  });

  test('a private registry gets its token and the scope, and the sandbox never sees the token', async (context) => {
    const { upstream, token } = registries;
    upstream.requests.length = 0;
    const code = `const fs = require('node:fs');
const walk = (folder) => fs.readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
  const path = folder + '/' + entry.name;
  if (entry.isDirectory()) return walk(path);
  try { return entry.isFile() ? [[path, fs.readFileSync(path, 'latin1')]] : []; } catch { return []; }
});
const environments = fs.readdirSync('/proc').filter((name) => /^\\d+$/.test(name)).map((pid) => {
  try { return [pid, fs.readFileSync('/proc/' + pid + '/environ', 'latin1')]; } catch { return [pid, '']; }
});
const held = [...walk('/workspace'), ...walk('/skills'), ...walk('/tmp'), ...environments];
module.exports = {
  found: held.filter(([, text]) => text.includes(process.argv[2])).map(([path]) => path),
  looked: held.some(([path]) => path.endsWith('.network/npmrc')),
  tool: require('@acme/tool'), number: require('tiny-number')('7'),
};`;
    // In two halves: the argument itself would be found.
    const whole = code.replace('process.argv[2]', 'process.argv[2] + process.argv[3]');
    const args = [token.slice(0, 9), token.slice(9)];
    const result = await exec(context, {
      code: whole,
      fileName: 'a.cjs',
      args,
      packages: { npm: ['@acme/tool@1', 'tiny-number'] },
    });
    expect(result.value).toEqual({ found: [], looked: true, tool: 'private', number: 7 });
    expect(JSON.stringify(result)).not.toContain(token);
    const carried = upstream.requests.filter(({ headers }) => headers.authorization !== undefined);
    expect(carried.length).toBeGreaterThan(0);
    expect(new Set(carried.map(({ host }) => host))).toEqual(new Set([registries.at('private.test')]));
    // npm asks for the name with an encoded slash.
    expect(upstream.requests.map(({ url, host }) => `${host}${url}`)).toContain(
      `${registries.at('private.test')}/npm/@acme%2ftool`,
    );
    expect(upstream.requests.some(({ host, url }) => host.startsWith('npm.test') && url.includes('acme'))).toBe(false);
    expect(result.network?.secrets).toEqual(['registry:npm']);
  });

  test.for<[string, JobPackages, RegExp, ...DenialReason[]]>([
    [
      'a dependency outside the patterns',
      { npm: ['with-hidden'] },
      /package-not-allowed, hidden/,
      'package-not-allowed',
    ],
    ['a name outside the patterns', { npm: ['hidden'] }, /package-not-allowed, hidden/, 'package-not-allowed'],
    ['a tarball of another host as a dependency', { npm: ['with-url'] }, /host-not-allowed, files/, 'host-not-allowed'],
    [
      'a registry with files on another host',
      { npm: ['tiny-elsewhere'] },
      /host-not-allowed, files/,
      'host-not-allowed',
    ],
    ['a folder as a dependency', { npm: ['with-file'] }, /"directory"|"file:/],
    ['a package that is not there', { npm: ['tiny-none'] }, /404/],
    ['a dependency of Python outside the patterns', { pypi: ['withhidden'] }, /hiddendep/, 'package-not-allowed'],
    ['a URL as a dependency of Python', { pypi: ['withurl'] }, /host-not-allowed/, 'host-not-allowed'],
    ['a package of Python with a source archive only', { pypi: ['sourceonly'] }, /No matching distribution/],
  ])('%s fails the job, with the reason', async ([, packages, message, ...reasons], context) => {
    const files = { 'local/package.json': '{ "name": "other", "version": "1.0.0" }' };
    const result = await exec(context, { code: "console.log('ran')", packages, files });
    expect(result.outcome).toBe('failed');
    expect(result.error?.name).toBe('InstallError');
    expect(result.error?.message).toMatch(message);
    expect(result.stdout.text).toBe('');
    expect(result.packages).toBeUndefined();
    expect([...new Set(result.network?.denied.map(({ reason }) => reason))]).toEqual(reasons);
  });

  test('a repository as a dependency fails the job, and its host is not asked', async (context) => {
    const asked = registries.upstream.requests.length;
    const result = await exec(context, { code: '1', packages: { npm: ['with-git'] } });
    expect(result.error).toMatchObject({ name: 'InstallError', message: expect.stringContaining('git') as string });
    const later = registries.upstream.requests.slice(asked);
    expect(later.map(({ host }) => host)).toContain(registries.at('npm.test'));
    expect(later.filter(({ host }) => host.startsWith('git.test'))).toEqual([]);
  });

  test('install scripts are not run, and a diagnostic names their packages', async (context) => {
    const code = "export default [require('scripted'), require('node:fs').existsSync('ran.txt')]";
    const result = await exec(context, { code, packages: { npm: ['scripted'] } });
    expect(result.value).toEqual(['scripted', false]);
    expect(result.diagnostics).toMatchObject([
      { code: 'packages.scripts-skipped', message: expect.stringContaining('scripted') as string },
    ]);
  });

  test('a program with the rules of registries installs packages itself', async (context) => {
    const code = `{ npm install tiny-odd >/dev/null && node -e "console.log(require('tiny-odd')(3))"
python3 -m pip install -q --target here tinypkg && PYTHONPATH=here python3 -c 'import tinypkg; print(tinypkg.value)'
npm view hidden version 2>&1 | grep -o package-not-allowed | head -1
npm view @acme/tool readme; } 2>/dev/null
npm publish 2>&1 | grep -o 'method-not-allowed' | head -1`;
    const at = registries.at('npm.test');
    const files = {
      'package.json': '{ "name": "tiny-mine", "version": "1.0.0" }',
      '.npmrc': `//${at}/:_authToken=of-the-program`,
    };
    const asked = registries.upstream.requests.length;
    const result = await exec(context, { language: 'bash', code, files, network: ['registry:npm', 'registry:pypi'] });
    const lines = result.stdout.text.trim().split('\n');
    expect(lines).toEqual(['true', '42', 'package-not-allowed', lines[3], 'method-not-allowed']);
    // The registry sends its token back; the program reads something else of that length.
    expect(lines[3]).toMatch(/^token npm_[A-Za-z0-9]{26}$/);
    expect(lines[3]).not.toContain(registries.token);
    expect(result.network?.denied.map(({ reason, method }) => `${method} ${reason}`)).toContain(
      'PUT method-not-allowed',
    );
    const later = registries.upstream.requests.slice(asked);
    expect(later.filter(({ host, headers }) => host === at && headers.authorization !== undefined)).toEqual([]);
  });

  test('a program without the rules of registries reaches none, though its packages came from there', async (context) => {
    const code = 'npm install --fetch-retries=0 tiny-number >/dev/null 2>&1; echo $?';
    const result = await exec(context, { language: 'bash', code, packages: { npm: ['tiny-odd'] } });
    expect(result.stdout.text).toMatch(/^[1-9]\d*\n$/);
    expect(result.network?.denied).toEqual([]);
    expect(result.packages).toHaveLength(2);
  });

  test('npm runs in a workspace without a package.json', async (context) => {
    const code = 'npm install tiny-odd >/dev/null && ls';
    const result = await exec(context, { language: 'bash', code, network: ['registry:npm'] });
    expect(result.stdout.text.split('\n')).toEqual(expect.arrayContaining(['node_modules', 'package.json']));
  });

  test('a session has its packages before its first run, in each language', async (context) => {
    requireInstallers(context);
    const packages = { npm: ['tiny-odd'], pypi: ['tinypkg'] };
    await using session = await orchestrator.session({ isolation, packages });
    expect((await session.run("(await import('tiny-odd')).default(3)")).value).toBe(true);
    expect((await session.run("require('tiny-odd')(2)")).value).toBe(false);
    expect((await session.run('import tinypkg; tinypkg.value', { language: 'python' })).value).toBe(42);
    const { packages: installed } = await session.close();
    expect(installed).toHaveLength(4);
  });

  test('a session whose packages cannot be installed does not open, and the error has the reason', async (context) => {
    requireInstallers(context);
    await expect(orchestrator.session({ isolation, packages: { npm: ['hidden'] } })).rejects.toMatchObject({
      code: 'session.ended',
      message: expect.stringContaining('package-not-allowed') as string,
    });
  });

  test('warm sandboxes install packages as well', async (context) => {
    requireInstallers(context);
    await using warm = createOrchestrator({
      runners: await networkRunners(),
      pool: { size: 1, isolation, languages: ['javascript'] },
      network: { ...registries.upstream.network([]), packages: { npm: ['*'] } },
    });
    await warm.warm();
    const code = "export default require('tiny-odd')(3)";
    const result = await warm.exec({ code, isolation, packages: { npm: ['tiny-odd'] } });
    expect(result.value).toBe(true);
    expect(result.usage.warm).toBe(true);
  });

  test('the limit of time holds for an installer', async (context) => {
    const result = await exec(context, { code: '1', packages: { npm: ['tiny-odd'] }, limits: { runTimeoutMs: 50 } });
    expect(result.outcome).toBe('timeout');
    expect(result.error?.message).toContain('The installer took longer');
  });

  test('a minimum age of releases holds for packages', async (context) => {
    const restore = withVariables({ npm_config_min_release_age: '5000' });
    try {
      const old = await exec(context, { code: 'export default require("tiny-old")', packages: { npm: ['tiny-old'] } });
      expect(old.value).toBe(1);
      const young = await exec(context, { code: '1', packages: { npm: ['tiny-number'] } });
      expect(young.error).toMatchObject({
        name: 'InstallError',
        message: expect.stringContaining('tiny-number') as string,
      });
    } finally {
      restore();
    }
  });

  test('attempts of codegen have the packages, and the prompt names them', async (context) => {
    requireInstallers(context);
    const model = scriptedModel([
      programAnswer('javascript', "throw new Error('first');"),
      programAnswer('javascript', "import odd from 'tiny-odd'; export default odd(3);"),
    ]);
    await using writing = createOrchestrator({
      runners: await networkRunners(),
      model,
      network: { ...registries.upstream.network([]), packages: { npm: ['*'] } },
    });
    const result = await writing.codegen({ task: 'Say whether 3 is odd.', isolation, packages: { npm: ['tiny-odd'] } });
    expect(result.codegen?.attempts.map(({ outcome }) => outcome)).toEqual(['failed', 'succeeded']);
    expect(result.value).toBe(true);
    expect(JSON.stringify(model.asked[0])).toContain('tiny-odd 3.0.1');
    const failed = await writing.codegen({ task: 'Anything.', isolation, packages: { npm: ['tiny-none'] } });
    expect(failed.error?.name).toBe('InstallError');
    expect(model.asked).toHaveLength(2);
  });
});

describe('before the job has a sandbox', () => {
  const code = '1';
  test.for<[string, Partial<ExecOptions>, string]>([
    ['an option in place of a name', { packages: { npm: ['--global'] } }, 'packages.refused'],
    ['a URL in place of a name', { packages: { pypi: ['a @ https://files.test/a.whl'] } }, 'packages.refused'],
    ['too many packages', { packages: { npm: Array.from({ length: 101 }, () => 'tiny-odd') } }, 'packages.refused'],
    ['level none', { packages: { npm: ['tiny-odd'] }, isolation: 'none' }, 'runner.isolation-unmet'],
    ['the rule of an unknown registry', { network: ['registry:cargo'] }, 'network.rule-invalid'],
    ['an unknown field', { packages: { cargo: ['a'] } as JobPackages }, 'job.invalid'],
  ])('%s is refused', async ([, job, expected]) => {
    await expect(orchestrator.exec({ code, ...job })).rejects.toMatchObject({ code: expected });
  });

  test('an orchestrator without names allows no packages', async () => {
    await using without = createOrchestrator({ network: registries.upstream.network([]) });
    const wanted: Partial<ExecOptions>[] = [{ packages: { npm: ['tiny-odd'] } }, { network: ['registry:pypi'] }];
    for (const job of wanted)
      await expect(without.exec({ code, ...job })).rejects.toMatchObject({ code: 'network.not-allowed' });
    await using bare = createOrchestrator();
    await expect(bare.exec({ code, ...wanted[0] })).rejects.toMatchObject({ code: 'network.not-allowed' });
  });

  test('a malformed pattern is refused', () => {
    const network = { allow: [], packages: { npm: ['../*'] } };
    expect(() => createOrchestrator({ network })).toThrow(/network\.packages\.npm/);
  });

  test('an image without npm and pip cannot install packages', async (context) => {
    requireHere(context, MISSING_ENGINE);
    const { bundle } = await dockerImage();
    await using slim = createOrchestrator({
      runners: [createDockerRunner({ bundle })],
      network: {
        ...registries.upstream.network([]),
        packages: { npm: ['*'], pypi: ['*'], index: registries.index },
      },
    });
    for (const packages of [{ npm: ['tiny-odd'] }, { pypi: ['tinypkg'] }])
      await expect(slim.exec({ code, packages, isolation: 'container' })).rejects.toMatchObject({
        code: 'packages.unavailable',
      });
  });
});
