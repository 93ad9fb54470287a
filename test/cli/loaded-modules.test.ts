import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { BEST_FLAGS } from '../fixtures/levels.ts';
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

/** Files of the sources, and packages, that a command loads. */
async function loadedBy(argv: readonly string[], stdin = ''): Promise<{ files: string[]; packages: string[] }> {
  const list = join(folder, 'list');
  const hook = `data:text/javascript,${encodeURIComponent(recorder(list))}`;
  const { code, stderr } = await runCli(argv, { stdin, env: { NODE_OPTIONS: `--import=${hook}` } });
  expect([code, stderr]).toEqual([0, expect.any(String)]);
  const loaded = readFileSync(list, 'utf8').split('\n');
  const paths = loaded.filter((url) => url.startsWith(root)).map((url) => url.slice(root.length));
  const packages = paths.flatMap((path) => /^node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1] ?? []);
  return { files: paths, packages: [...new Set(packages)].toSorted() };
}

describe('what a command loads', () => {
  it('is no package for its help, and nothing that jobs need', async () => {
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

  it('is nothing for a plain job that only tools, models, skills or containers need', async () => {
    const argv = ['exec', '-', '--language', 'javascript', '--runner', 'local', ...BEST_FLAGS];
    const { files, packages } = await loadedBy(argv, 'console.log(1)');
    expect(files).toContain('src/orchestrator/run-job.ts');
    const heavy = ['ai', 'ajv', 'dockerode', 'gray-matter', 'js-yaml', 're2js', 'yaml', 'yauzl', '@ai-sdk/anthropic'];
    expect(packages.filter((name) => heavy.includes(name) || name.startsWith('@ai-sdk/'))).toEqual([]);
    // The small flavour and the core that it stands on.
    const zod = files.filter((path) => /^node_modules\/zod\/(?!mini\/|v4\/(?:mini|core|locales)\/)/.test(path));
    expect(zod).toEqual([]);
    // One short file says at the edge whether something can be a schema.
    const ofTools = files.filter((path) => /^src\/(?:broker\/tool-(?:schema|stubs)|decision)\//.test(path));
    expect(ofTools).toEqual(['src/broker/tool-schema/is-plain-object.ts']);
  });
});
