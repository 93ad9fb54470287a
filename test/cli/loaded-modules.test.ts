import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { execa } from 'execa';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { BEST_FLAGS } from '../fixtures/levels.ts';
import { program } from '../fixtures/mcp/mcp-scene.ts';
import { runCli } from '../fixtures/spawn-cli.ts';

const root = pathToFileURL(`${process.cwd()}/`).href;

/** Notes every module that is imported or required. */
const recorder = (list: string): string => `
  import { appendFileSync } from 'node:fs';
  import { registerHooks } from 'node:module';
  registerHooks({
    load(url, context, next) {
      appendFileSync(${JSON.stringify(list)}, url + '\\n');
      return next(url, context);
    },
  });`;

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'skillcell-modules-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

/** Registers a tracer as any copy of OpenTelemetry's package does, and records the begin and the end of each span. */
const tracer = (list: string): string => `
  globalThis[Symbol.for('opentelemetry.js.api.1')] = {
    version: '1.9.0',
    trace: { getTracer: () => ({ startSpan(name) {
      appendFileSync(${JSON.stringify(list)}, '+' + name + '\\n');
      return { setAttributes() {}, setStatus() {}, end: () => appendFileSync(${JSON.stringify(list)}, '-' + name + '\\n') };
    } }) },
  };`;

/** A host sweeps a second after its start, and asks an engine if there is one. On a slow machine that falls within the job, so the timer is delayed. */
const WITHOUT_SWEEP = `
  const { setTimeout: setPlainly } = globalThis;
  globalThis.setTimeout = (work, ms, ...given) => setPlainly(work, ms === 1_000 ? 2 ** 31 - 1 : ms, ...given);`;

/**
 * Source files and packages that a command loads.
 *
 * @param before code that its process runs first
 */
async function loadedBy(
  argv: readonly string[],
  stdin = '',
  before = '',
): Promise<{ files: string[]; packages: string[] }> {
  const list = join(folder, 'list');
  const hook = `data:text/javascript,${encodeURIComponent(recorder(list) + before)}`;
  const { code, stderr } = await runCli(argv, { stdin, env: { NODE_OPTIONS: `--import=${hook}` } });
  expect([code, stderr]).toEqual([0, expect.any(String)]);
  const loaded = readFileSync(list, 'utf8').split('\n');
  const paths = loaded.filter((url) => url.startsWith(root)).map((url) => url.slice(root.length));
  const packages = paths.flatMap((path) => /^node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1] ?? []);
  return { files: paths, packages: [...new Set(packages)].toSorted() };
}

describe('the modules of a command', () => {
  it('include no package for its help, and no module of jobs', async () => {
    const { files, packages } = await loadedBy(['--help']);
    expect(files).toContain('src/cli/command-line/help-text.ts');
    expect(packages).toEqual([]);
    const folders = new Set(files.map((path) => path.split('/').slice(0, 2).join('/')));
    expect([...folders].filter((path) => path.startsWith('src/')).toSorted()).toEqual([
      'src/cli',
      'src/contracts',
      'src/languages',
    ]);
  });

  it('include nothing for a plain job that only tools, models, skills or containers need', async () => {
    const argv = ['exec', '-', '--language', 'javascript', '--runner', 'local', ...BEST_FLAGS];
    const { files, packages } = await loadedBy(argv, 'console.log(1)', WITHOUT_SWEEP);
    expect(files).toContain('src/jobs/run/run-job.ts');
    expect(files.filter((path) => /^src\/(?:client|server|registry|queue)\//.test(path))).toEqual([]);
    const heavy = [
      '@opentelemetry/api',
      'ai',
      'ajv',
      'dockerode',
      'gray-matter',
      'js-yaml',
      're2js',
      'yaml',
      'yauzl',
      ...['fastify', 'kysely', 'pg', 'bullmq', 'ioredis'],
      '@ai-sdk/anthropic',
    ];
    // Parts of the service.
    expect(files.filter((path) => /^src\/(?:registry|queue|server)\//.test(path))).toEqual([]);
    // Parts of a fleet, but the check of its flags.
    expect(files.filter((path) => /^src\/(?:worker|sandboxes\/fleet)\//.test(path)).toSorted()).toEqual([
      'src/sandboxes/fleet/fleet-address.ts',
      'src/sandboxes/fleet/fleet-keys.ts',
    ]);
    const isHeavy = (name: string): boolean => heavy.includes(name) || /^@(?:ai-sdk|modelcontextprotocol)\//.test(name);
    expect(packages.filter(isHeavy)).toEqual([]);
    // The small flavour of zod and its core are allowed.
    const zod = files.filter((path) => /^node_modules\/zod\/(?!mini\/|v4\/(?:mini|core|locales)\/)/.test(path));
    expect(zod).toEqual([]);
    // Short files check at the edge whether a value can be a schema.
    const ofTools = files.filter((path) =>
      /^src\/(?:tools\/(?:schema|declarations)|models\/decision|mcp)\//.test(path),
    );
    expect(ofTools.toSorted()).toEqual([
      'src/tools/schema/document/kinds-of-values.ts',
      'src/tools/schema/document/parts-within.ts',
      'src/tools/schema/document/schema-part.ts',
      'src/tools/schema/is-plain-object.ts',
      'src/tools/schema/schema-source.ts',
    ]);
  });

  it('include no package for spans, even if the process records them', async () => {
    const argv = ['exec', '-', '--language', 'javascript', '--runner', 'local', ...BEST_FLAGS];
    const spans = join(folder, 'spans');
    const { packages } = await loadedBy(argv, 'console.log(1)', tracer(spans));
    const noted = readFileSync(spans, 'utf8').trim().split('\n');
    expect(noted).toEqual([
      ...['+job', '+start', '-start', '+attempt', '+run', '+collect'],
      ...['-collect', '-run', '-attempt', '-job'],
    ]);
    expect(packages.filter((name) => name.startsWith('@opentelemetry/'))).toEqual([]);
  });

  it('include the package of MCP clients if MCP servers are named', async () => {
    writeFileSync(
      join(folder, 'mcp.json'),
      JSON.stringify({ mcpServers: { s: program('hostile-server', ['plain']) } }),
    );
    const argv = ['exec', '-', '--language', 'javascript', '--runner', 'local', ...BEST_FLAGS];
    const { packages } = await loadedBy([...argv, '--mcp', join(folder, 'mcp.json')], 'console.log(1)');
    expect(packages).toContain('@modelcontextprotocol/client');
  });

  it('include no client of a store for skills list, from any source', async () => {
    const { packages, files } = await loadedBy(['skills', 'list', '--sources', 'builtin,user,project']);
    const clients = /^(?:@aws-sdk|@smithy|undici|@modelcontextprotocol|@zip\.js|yazl|unpdf|dockerode|ai$)/;
    expect(packages.filter((name) => clients.test(name))).toEqual([]);
    expect(
      files.filter((path) =>
        /^src\/(?:outgoing|archives|library\/(?:stores\/(?:s3|git|web|mcp|archive)|search|sources|install))\//.test(
          path,
        ),
      ),
    ).toEqual([]);
    expect(files).toContain('src/library/stores/directory/directory-store.ts');
  });
});

it('the client of a service loads no module of the service', async () => {
  const list = join(folder, 'list');
  const argv = [`--import=data:text/javascript,${encodeURIComponent(recorder(list))}`, '--input-type=module', '-e'];
  await execa(process.execPath, [...argv, `await import('${root}src/client/index.ts')`]);
  const loaded = readFileSync(list, 'utf8').split('\n');
  expect(loaded).toContain(`${root}src/client/connect-service.ts`);
  expect(
    loaded.filter((url) => /\/src\/(?:server|registry|queue)\/|node_modules\/(?:ai|fastify|kysely)\//.test(url)),
  ).toEqual([]);
});
