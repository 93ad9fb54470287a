import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { execa } from 'execa';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JobResult } from '../../src/contracts/jobs/result.ts';
import * as sources from '../../src/index.ts';
import { tryConsoleAt } from '../fixtures/console.ts';
import { MISSING_CHROMIUM, requireHere } from '../fixtures/describe-with.ts';
import { describeInContainer } from './packed-in-container.ts';
import { skillArchive } from '../fixtures/registry/skill-archive.ts';
import { uploadForm } from '../fixtures/service.ts';
import { installPackedPackage, plainEnvironment, type PackedPackage } from '../fixtures/packed-package.ts';

/** A Node of this machine that is too old for the package. */
async function olderNode(): Promise<string | undefined> {
  const folders = (process.env['PATH'] ?? '').split(':');
  for (const path of ['/usr/bin', '/usr/local/bin', ...folders].map((folder) => join(folder, 'node'))) {
    if (!existsSync(path)) continue;
    const { stdout } = await execa(path, ['--version']);
    if (Number.parseInt(stdout.slice(1), 10) < 24) return path;
  }
  return undefined;
}

const root = fileURLToPath(new URL('../..', import.meta.url));
const STRICT = {
  compilerOptions: {
    target: 'es2023',
    lib: ['es2023', 'esnext.disposable'],
    module: 'nodenext',
    types: [],
    strict: true,
    exactOptionalPropertyTypes: true,
    skipLibCheck: false,
    noEmit: true,
  },
};
/** Exported names of each kind. The types behind them are checked as well. */
const TYPED = `
  import { createDockerRunner, createLocalRunner, createLogger, createModelGateway, createOrchestrator, defineTool } from 'skillcell';
  import { SkillcellError, type JobEvent, type JobResult, type Runner, type SdkModel, type Tool } from 'skillcell';
  import { loadSkillsSubsystem, type Skill } from 'skillcell/skills';

  const tools: Tool[] = [defineTool({ id: 'math.add', description: 'Adds.', execute: async () => 1 })];
  const runners: Runner[] = [createLocalRunner(), createDockerRunner({ flavor: 'data' })];
  await using orchestrator = createOrchestrator({ skills: loadSkillsSubsystem(), tools, runners, logger: createLogger() });
  const result: JobResult = await orchestrator.exec({ code: '1', files: { a: 'x', b: { source: '/tmp' } } });
  export const text: string = await orchestrator.readArtifact(result, 'a', 'utf8');
  export const other: [Skill[], JobEvent[], SdkModel?] = [[], []];
  export { SkillcellError, createModelGateway };
`;

/** The same for stores. Their clients have their own types. */
const TYPED_STORES = `
  import { openSkillLibrary } from 'skillcell';
  import { createGitStore, createMcpStore, createS3Store, createWebStore, openTreeCache, type SkillStore } from 'skillcell/stores';

  const of = { kind: 'user', cache: openTreeCache('cache') } as const;
  const stores: SkillStore[] = [
    createGitStore({ url: 'https://a.example/s', ...of }),
    createS3Store({ bucket: 'team', prefix: 'u1', ...of }),
    createWebStore({ url: 'https://a.example', ...of }),
    createMcpStore({ url: 'https://a.example/mcp', ...of }),
  ];
  export const library = await openSkillLibrary({ stores });
  // @ts-expect-error A check cannot be turned off.
  createWebStore({ url: 'https://a.example', without: ['connected'], ...of });
`;

/** A program with types of the AI SDK. */
const TYPED_AI = `
  import { createOrchestrator, type Session } from 'skillcell';
  import { createSandboxSession, createSandboxTools, type SandboxTools } from 'skillcell/ai';

  await using orchestrator = createOrchestrator();
  export const sandboxTools: SandboxTools = createSandboxTools(orchestrator, { language: 'python' });
  const session: Session = await orchestrator.session();
  export const description: string = createSandboxSession(session).description;
`;

describe('the packed package', () => {
  let folder: string;
  let requireInstalled: PackedPackage['requireInstalled'];

  beforeAll(async () => {
    ({ folder, requireInstalled } = await installPackedPackage());
  }, 300_000);

  afterAll(() => rmSync(folder, { recursive: true }));

  describeInContainer(() => folder);

  it('runs a job from the command line', async (context) => {
    requireInstalled(context);
    writeFileSync(join(folder, 'program.mjs'), "console.log('six times seven');\nexport default 6 * 7;\n");
    const command = ['exec', 'program.mjs', '--runner', 'local', '--isolation', 'none', '--json'];
    const { stdout, stderr, exitCode } = await execa(join(folder, 'node_modules/.bin/skillcell'), command, {
      cwd: folder,
      env: plainEnvironment(),
      extendEnv: false,
      reject: false,
      stdin: 'ignore',
    });
    expect(exitCode, stderr + stdout).toBe(0);
    const result = JSON.parse(stdout) as JobResult;
    expect(result).toMatchObject({ outcome: 'succeeded', runner: 'local', isolation: 'none', exitCode: 0, value: 42 });
    expect(result.stdout.text).toBe('six times seven\n');
  });

  /** Starts the service of the installed package. */
  async function serveInstalled() {
    const state = mkdtempSync(join(folder, 'state-'));
    const flags = ['--port', '0', '--state', state, '--runner', 'local', '--isolation', 'none', '--json'];
    const service = execa(join(folder, 'node_modules/.bin/skillcell'), ['serve', ...flags], {
      ...{ cwd: folder, env: plainEnvironment(), extendEnv: false, reject: false, stdin: 'ignore' },
    });
    const [line] = (await once(service.stdout, 'data')) as [Buffer];
    const { url, adminToken } = JSON.parse(line.toString()) as { url: string; adminToken: string };
    return { service, url, token: readFileSync(adminToken, 'utf8').trim() };
  }

  it('serves the console, which signs in and runs a job in a browser', async (context) => {
    requireInstalled(context);
    requireHere(context, MISSING_CHROMIUM);
    const { service, url, token } = await serveInstalled();
    try {
      expect(await tryConsoleAt(url, token)).toEqual([]);
    } finally {
      service.kill('SIGTERM');
      await service;
    }
  });

  it('serves jobs and uploads, with its worker threads', async (context) => {
    requireInstalled(context);
    const { service, url, token } = await serveInstalled();
    const headers = { authorization: `Bearer ${token}`, prefer: 'wait=60' };
    const body = new FormData();
    body.set('job', JSON.stringify({ kind: 'exec', code: 'console.log(6 * 7)' }));
    const job = await fetch(`${url}/api/v1/jobs`, { method: 'POST', headers, body });
    expect(await job.json()).toMatchObject({ outcome: 'succeeded', stdout: { text: '42\n' } });
    const skill = await fetch(`${url}/api/v1/skills/upload`, {
      method: 'POST',
      headers,
      body: uploadForm(skillArchive('units')),
    });
    expect([skill.status, await skill.json()]).toEqual([201, expect.objectContaining({ slug: 'units' })]);
    service.kill('SIGTERM');
    expect((await service).exitCode).toBe(143);
  });

  it('keeps compiled code in the cache of the user, in a folder that no other user can write', async (context) => {
    requireInstalled(context);
    const command = join(folder, 'node_modules/skillcell/bin/skillcell.js');
    const kept = async (cache: string): Promise<string[]> => {
      const env = { ...plainEnvironment(), XDG_CACHE_HOME: join(folder, cache) };
      await execa(process.execPath, [command, '--version'], { cwd: folder, env, extendEnv: false });
      return readdirSync(join(folder, cache, 'skillcell/compiled'));
    };
    expect(await kept('own')).toHaveLength(1);
    expect(statSync(join(folder, 'own/skillcell/compiled')).mode & 0o777).toBe(0o700);
    mkdirSync(join(folder, 'open/skillcell/compiled'), { recursive: true });
    chmodSync(join(folder, 'open/skillcell/compiled'), 0o777);
    expect(await kept('open')).toEqual([]);
    // A relative home would be a folder of the working folder, with files of other people.
    for (const home of ['', 'relative', '/nonexistent']) {
      const env = { ...plainEnvironment(), XDG_CACHE_HOME: '', HOME: home };
      const { stdout } = await execa(process.execPath, [command, '--version'], { cwd: folder, env, extendEnv: false });
      expect(stdout).toMatch(/^\d+\.\d+\.\d+$/);
    }
    expect(readdirSync(folder)).not.toContain('relative');
    expect(readdirSync(folder)).not.toContain('.cache');
    expect(existsSync('/nonexistent')).toBe(false);
  });

  it('offers the library by its names', async (context) => {
    requireInstalled(context);
    const code = `
      import { createOrchestrator } from 'skillcell';
      import { SkillsSubsystem } from 'skillcell/skills';
      import { createSandboxTools } from 'skillcell/ai';
      import { createS3Backend } from 'skillcell/backend';
      import { createGitStore } from 'skillcell/stores';
      import manifest from 'skillcell/package.json' with { type: 'json' };
      const backend = createS3Backend({ bucket: 'skills', userId: 'u1', endpoint: 'http://127.0.0.1:9', credentials: { accessKeyId: 'a', secretAccessKey: 'b' }, tries: 1 });
      // The backend can send requests: only the closed port refuses this one.
      const code = await backend.ls('/skills').catch((error) => error.code);
      await backend.close();
      process.stdout.write([typeof createOrchestrator, typeof SkillsSubsystem, typeof createSandboxTools, typeof createGitStore, manifest.name, code].join(' '));`;
    const { stdout } = await execa(process.execPath, ['--input-type=module', '-e', code], { cwd: folder });
    expect(stdout).toBe('function function function function skillcell store.unavailable');
  });

  it('exports the same names of the same kinds as the sources, and loads functions at their first call', async (context) => {
    requireInstalled(context);
    const code = `
      import * as index from 'skillcell';
      import { digestOf } from 'skillcell/skills';
      const kinds = Object.fromEntries(Object.entries(index).map(([name, value]) => [name, typeof value]));
      // Functions work while other entries of the package are being imported.
      const others = Promise.all(['ai', 'backend', 'client', 'stores'].map((name) => import('skillcell/' + name)));
      const skills = index.loadSkillsSubsystem();
      const same = [skills instanceof index.SkillsSubsystem, index.digestOf('a') === digestOf('a')];
      const refused = await index.evaluateSkill({}).catch((error) => [error instanceof index.SkillcellError, error.code]);
      await others;
      process.stdout.write(JSON.stringify({ kinds, same, refused }));`;
    const { stdout } = await execa(process.execPath, ['--input-type=module', '-e', code], { cwd: folder });
    const kinds = Object.fromEntries(Object.entries(sources).map(([name, value]) => [name, typeof value]));
    expect(JSON.parse(stdout)).toEqual({ kinds, same: [true, true], refused: [true, 'options.invalid'] });
  });

  it('names the required Node version in one sentence under an older Node', async (context) => {
    requireInstalled(context);
    const older = await olderNode();
    context.skip(older === undefined, 'no Node before 24 is installed');
    if (older === undefined) return;
    const sentence = /: Node 24 or newer is needed, got \d+\.\d+\.\d+\.$/;
    for (const name of ['', '/skills', '/ai', '/backend', '/client', '/stores'].map((path) => `skillcell${path}`)) {
      const code = `import('${name}').then(() => console.log('it came'), ({ code, message }) => console.log(code, message))`;
      const { stdout } = await execa(older, ['-e', code], { cwd: folder, env: plainEnvironment(), extendEnv: false });
      expect(stdout).toMatch(/^runtime\.node-too-old Cannot import skillcell/);
      expect(stdout).toMatch(sentence);
    }
    const command = [join(folder, 'node_modules/skillcell/bin/skillcell.js'), '--version'];
    const { exitCode, stderr } = await execa(older, command, { cwd: folder, reject: false });
    expect(exitCode).toBe(3);
    expect(stderr.split('\n')[0]).toMatch(sentence);
  });

  describe.each([
    ['7', 'typescript'],
    ['5.9', 'typescript-5.9'],
  ])('has types that TypeScript %s checks', (version, compiler) => {
    /** Returns the errors of the compiler for programs and all declarations behind them. One call reads the declarations once. */
    const check = async (programs: Record<string, string>): Promise<string> => {
      const bin = join(root, 'node_modules', compiler, 'bin/tsc');
      expect((await execa(process.execPath, [bin, '--version'])).stdout).toContain(`Version ${version}.`);
      writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ ...STRICT, files: Object.keys(programs) }));
      for (const [name, program] of Object.entries(programs)) writeFileSync(join(folder, name), program);
      const { stdout } = await execa(process.execPath, [bin, '-p', '.'], { cwd: folder, reject: false });
      return stdout;
    };

    it('with the clients of stores, and with no other packages than its own', async (context) => {
      requireInstalled(context);
      // A deliberate type error shows that the compiler checks the programs.
      const wrong = `${TYPED}const wrong: number = result.outcome;\n`;
      const said = await check({ 'types.mts': TYPED, 'stores.mts': TYPED_STORES, 'wrong.mts': wrong });
      expect(said.split('\n').filter((line) => /^\S/.test(line))).toEqual([
        expect.stringMatching(/^wrong\.mts.*is not assignable to type 'number'/),
      ]);
    });

    it('for the AI SDK, whose declarations need the types of a browser and laxer options', async (context) => {
      requireInstalled(context);
      const said = await check({ 'ai.mts': TYPED_AI, 'wrong.mts': `${TYPED_AI}const wrong: number = description;\n` });
      /** Errors begin a line with their file; their explanations are indented. */
      const ours = said
        .split('\n')
        .filter((line) => /^\S/.test(line) && !/^node_modules\/(?:ai|@ai-sdk\/[\w-]+)\//.test(line));
      expect(ours).toEqual([expect.stringMatching(/^wrong\.mts.*is not assignable to type 'number'/)]);
    });
  });

  it('contains the built files and no sources or tests', async (context) => {
    requireInstalled(context);
    const files = readdirSync(join(folder, 'node_modules/skillcell'), { recursive: true }).map(String);
    expect(files).toEqual(
      expect.arrayContaining(['LICENSE', 'README.md', 'dist/runtime/manifest.json', 'dist/index.d.ts']),
    );
    expect(files.filter((name) => /^(src|test|scripts|runtime|examples)(\/|$)/.test(name))).toEqual([]);
  });
});
