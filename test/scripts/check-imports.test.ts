import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { checkImports } from '../../scripts/check-imports.ts';
import { scanImports } from '../../scripts/scan-imports.ts';

describe('checkImports()', () => {
  let root: string;

  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'skillcell-imports-'));
    write(
      'package.json',
      JSON.stringify({ dependencies: { zod: '1.0.0', re2js: '1.0.0' }, devDependencies: { vitest: '1.0.0' } }),
    );
  });

  afterEach(() => rmSync(root, { recursive: true }));

  function write(path: string, text: string): void {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }

  function messages(): string[] {
    return checkImports(root).map(({ file, line, message }) => `${file}:${line} ${message}`);
  }

  it('accepts imports that point down', () => {
    write('src/contracts/jobs/job.ts', "import * as z from 'zod/mini';\nexport const job = z;");
    write(
      'src/skills/text/lazy-modules.ts',
      "import type * as re2js from 're2js';\nexport const load = () => require('re2js') as typeof re2js;",
    );
    write('src/sandboxes/runner.ts', "import { job } from '../contracts/jobs/job.ts';\nexport default job;");
    write('src/sandboxes/local/start.ts', "export { default } from '../runner.ts';");
    write(
      'src/cli/main.ts',
      "import start from '../sandboxes/local/start.ts';\nimport { readFile } from 'node:fs';\nexport { start, readFile };",
    );
    write('src/index.ts', "export * from './cli/main.ts';");
    write('runtime/entry.ts', "import { job } from '../src/contracts/jobs/job.ts';\nexport { job };");
    expect(messages()).toEqual([]);
  });

  it('refuses an import of a higher layer, a type too', () => {
    write(
      'src/contracts/jobs/job.ts',
      "\nimport type { Runner } from '../../sandboxes/runner.ts';\nexport type Job = Runner;",
    );
    write('src/sandboxes/runner.ts', 'export interface Runner { name: string }');
    expect(messages()).toEqual([
      'src/contracts/jobs/job.ts:2 src/contracts imports src/sandboxes: src/sandboxes/runner.ts',
    ]);
  });

  it('refuses a caged package in all other files, and its static import in the cage', () => {
    write('package.json', JSON.stringify({ dependencies: { 'gray-matter': '4.0.3' } }));
    write('src/skills/parse/front-matter.ts', "export const split = () => require('gray-matter') as unknown;");
    expect(messages()).toEqual([]);
    write('src/skills/parse/front-matter.ts', "import matter from 'gray-matter';\nexport default matter;");
    write('src/cli/main.ts', "const matter = await import('gray-matter');\nexport default matter;");
    expect(messages()).toEqual([
      'src/cli/main.ts:1 only src/skills/parse/front-matter.ts may load gray-matter; see docs/decisions',
      'src/skills/parse/front-matter.ts:1 gray-matter loads at first use only; see docs/decisions',
    ]);
  });

  it('refuses imports from a parallel layer or from outside the package', () => {
    write('src/skills/skill.ts', 'export const skill = 1;');
    write('src/protocol/channel/frame.ts', "import { skill } from '../../skills/skill.ts';\nexport default skill;");
    write('src/sandboxes/start.ts', "const run = await import('../../scripts/run.js');\nexport default run;");
    write('runtime/entry.ts', "export * from '../src/sandboxes/start.ts';");
    write('src/cli/main.ts', "export * from '../../runtime/entry.ts';");
    expect(messages().toSorted()).toEqual([
      'runtime/entry.ts:1 runtime imports src: src/sandboxes/start.ts',
      'src/cli/main.ts:1 src imports runtime: runtime/entry.ts',
      'src/protocol/channel/frame.ts:1 src/protocol imports src/skills: src/skills/skill.ts',
      'src/sandboxes/start.ts:1 src/sandboxes/start.ts imports scripts/run.js, which the package does not hold',
    ]);
  });

  it('refuses a runner that imports its sibling', () => {
    write('src/sandboxes/local/start.ts', "import '../docker/engine/engine.ts';");
    write('src/sandboxes/docker/engine/engine.ts', 'export {};');
    expect(messages()).toEqual([
      'src/sandboxes/local/start.ts:1 src/sandboxes/local imports src/sandboxes/docker: src/sandboxes/docker/engine/engine.ts',
    ]);
  });

  it('refuses a cycle within a layer', () => {
    write('src/skills/a.ts', "import './b.ts';");
    write('src/skills/b.ts', "import './c.ts';");
    write('src/skills/c.ts', "import './a.ts';");
    expect(messages()).toEqual([
      'src/skills/a.ts:1 cycle: src/skills/a.ts → src/skills/b.ts → src/skills/c.ts → src/skills/a.ts',
    ]);
  });

  it('refuses development packages, heavy packages at load, and zod where zod/mini belongs', () => {
    write('src/skills/match.ts', "import { RE2JS } from 're2js';\nimport * as z from 'zod';\nexport { RE2JS, z };");
    write('src/cli/main.ts', "import * as z from 'zod';\nimport { it } from 'vitest';\nexport { z, it };");
    expect(messages()).toEqual([
      'src/cli/main.ts:2 the package vitest is not among the dependencies',
      'src/skills/match.ts:1 re2js loads at first use only; see docs/decisions',
      'src/skills/match.ts:2 the bundle takes zod/mini, not zod',
    ]);
  });

  it('refuses an upward import between the folders of a layer, and a folder without a place among them', () => {
    write('src/skills/subsystem.ts', "import './render/render.ts';\nimport './text/slug.ts';");
    write('src/skills/render/render.ts', "import '../text/slug.ts';");
    write('src/skills/text/slug.ts', 'export {};');
    expect(messages()).toEqual([]);
    write('src/skills/text/slug.ts', "import '../parse/field.ts';");
    write('src/skills/parse/field.ts', "import type { Sub } from '../index.ts';\nexport type A = Sub;");
    write('src/skills/index.ts', 'export type Sub = 1;');
    expect(messages().toSorted()).toEqual([
      'src/skills/parse/field.ts:1 src/skills/parse imports src/skills/index.ts: src/skills/index.ts',
      'src/skills/text/slug.ts:1 src/skills/text imports src/skills/parse: src/skills/parse/field.ts',
    ]);
    write('src/skills/misc/other.ts', "import '../text/slug.ts';");
    expect(() => checkImports(root)).toThrow('the folder "misc" has no place in "src/skills"');
  });

  it('refuses imports between any two runners, but not of their shared modules', () => {
    write('src/sandboxes/local/start.ts', "import '../seccomp/filter.ts';\nimport '../runner.ts';");
    write('src/sandboxes/seccomp/filter.ts', 'export {};');
    write('src/sandboxes/runner.ts', 'export {};');
    expect(messages()).toEqual([]);
    write('src/sandboxes/docker/start.ts', "import '../local/start.ts';");
    expect(messages()).toEqual([
      'src/sandboxes/docker/start.ts:1 src/sandboxes/docker imports src/sandboxes/local: src/sandboxes/local/start.ts',
    ]);
  });

  it('refuses a folder without a place among the layers', () => {
    write('src/helpers/text.ts', "import '../contracts/jobs/job.ts';");
    expect(() => checkImports(root)).toThrow('the folder "helpers" has no place in "src"');
  });
});

describe('scanImports()', () => {
  it('finds every form, with its line', () => {
    const source = [
      'import a, {',
      '  type B,',
      "} from './a.ts';",
      "export type { C } from './c.ts';",
      "import './d.ts';",
      "const e = await import('./e.ts');",
      "type F = typeof import('./f.ts');",
      'const g = require("./g.cjs");',
    ].join('\n');
    expect(scanImports(source)).toEqual([
      { specifier: './a.ts', line: 3, kind: 'static' },
      { specifier: './c.ts', line: 4, kind: 'type' },
      { specifier: './d.ts', line: 5, kind: 'static' },
      { specifier: './e.ts', line: 6, kind: 'dynamic' },
      { specifier: './f.ts', line: 7, kind: 'type' },
      { specifier: './g.cjs', line: 8, kind: 'require' },
    ]);
  });

  it('skips comments, and texts that follow an export', () => {
    const source = [
      "// import './a.ts';",
      "/* import './b.ts';\n*/",
      "export const url = 'http://host/c.ts'; // from './d.ts'",
    ].join('\n');
    expect(scanImports(source)).toEqual([]);
  });
});
