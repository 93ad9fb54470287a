import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { describeWith, MISSING_STRACE } from '../../fixtures/describe-with.ts';
import { skillLibrary, skillText, type SkillLibrary } from '../../fixtures/skill-library.ts';

/** A separate process, without open indexes. */
const PROGRAM = `
  import { loadSkillsSubsystem } from ${JSON.stringify(new URL('../../../src/skills/index.ts', import.meta.url).href)};
  import { searchSkills } from ${JSON.stringify(new URL('../../../src/library/search/search-skills.ts', import.meta.url).href)};
  const [, path, cacheFolder, text] = process.argv;
  const skills = loadSkillsSubsystem({ roots: [{ kind: 'custom', path }] });
  console.log(JSON.stringify(await searchSkills(skills, text, { cacheFolder })));`;

let library: SkillLibrary;
let cacheFolder: string;
beforeAll(() => {
  const files = Array.from({ length: 40 }, (_, index) => {
    const body = Array.from({ length: 300 }, (_unused, word) => `word${(index * 7 + word * 13) % 900}`).join(' ');
    return [`skill-${index}/SKILL.md`, skillText({ description: `Number ${index}.` }, `${body}\n`)];
  });
  library = skillLibrary(Object.fromEntries(files) as Record<string, string>);
});
afterAll(() => library[Symbol.dispose]());
beforeEach(() => {
  cacheFolder = mkdtempSync(join(tmpdir(), 'search-kept-'));
});
afterEach(() => rmSync(cacheFolder, { recursive: true, force: true }));

const argv = (): string[] => ['--input-type=module', '-e', PROGRAM, library.root, cacheFolder, 'word7 number 3'];
const answer = (): string => {
  const { stdout, stderr, status } = spawnSync(process.execPath, argv(), { encoding: 'utf8' });
  expect([status, stderr]).toEqual([0, '']);
  return stdout;
};
const kept = (): string[] => readdirSync(join(cacheFolder, 'search'));
const keptFile = (): string => join(cacheFolder, 'search', kept()[0] ?? '');

describe('the index of a search', () => {
  it('is kept by the digest of its set, and read by the next process', () => {
    const first = answer();
    expect(kept()).toEqual([expect.stringMatching(/^[0-9a-f]{64}-[0-9a-f]{64}\.sqlite$/)]);
    expect(statSync(join(cacheFolder, 'search')).mode & 0o777).toBe(0o700);
    const { ino } = statSync(keptFile());
    expect(answer()).toBe(first);
    expect(statSync(keptFile()).ino).toBe(ino);
  });

  it('is built again after a change to any byte', () => {
    const first = answer();
    const size = statSync(keptFile()).size;
    for (const offset of [30, Math.floor(size / 2), size - 1]) {
      const path = keptFile();
      const bytes = readFileSync(path);
      bytes[offset] = (bytes[offset] ?? 0) ^ 1;
      writeFileSync(path, bytes);
      expect(answer()).toBe(first);
      expect(kept()).toHaveLength(1);
      expect(readFileSync(keptFile()).equals(bytes)).toBe(false);
    }
  });

  it.each([0, 8_192])('is built again when it is cut to %i bytes', (length) => {
    const first = answer();
    truncateSync(keptFile(), length);
    expect(answer()).toBe(first);
    expect(kept()).toHaveLength(1);
  });

  it('is the same for processes that build it at the same time', async () => {
    const first = answer();
    rmSync(cacheFolder, { recursive: true });
    const outputs = await Promise.all(
      Array.from({ length: 4 }, async () => {
        const child = spawn(process.execPath, argv());
        const chunks: Buffer[] = [];
        child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk));
        const [code] = (await once(child, 'close')) as [number];
        return [code, Buffer.concat(chunks).toString()];
      }),
    );
    expect(outputs).toEqual(Array.from({ length: 4 }, () => [0, first]));
    expect(kept().filter((name) => name.endsWith('.part'))).toEqual([]);
    expect(kept()).toHaveLength(1);
  });

  it('is built again where a folder or a link is in its place', () => {
    const first = answer();
    const path = keptFile();
    const elsewhere = join(cacheFolder, 'elsewhere');
    renameSync(path, elsewhere);
    for (const put of [() => mkdirSync(join(path, 'x'), { recursive: true }), () => symlinkSync(elsewhere, path)]) {
      put();
      expect(answer()).toBe(first);
      expect(kept()).toHaveLength(1);
      expect(lstatSync(keptFile()).isFile()).toBe(true);
      rmSync(keptFile());
    }
    expect(statSync(elsewhere).isFile()).toBe(true);
  });

  it('is neither read nor kept in a folder that other users may write', () => {
    const { hits } = JSON.parse(answer()) as { hits: unknown };
    for (const folder of [join(cacheFolder, 'search'), cacheFolder]) {
      const { ino } = statSync(keptFile());
      chmodSync(folder, 0o777);
      const again = JSON.parse(answer()) as { hits: unknown; diagnostics: { code: string; message: string }[] };
      expect(again.hits).toEqual(hits);
      expect(again.diagnostics).toMatchObject([
        { code: 'search.not-kept', message: expect.stringContaining('others may write it') as string },
      ]);
      expect(statSync(keptFile()).ino).toBe(ino);
      chmodSync(folder, 0o700);
    }
  });

  it('is read on a read-only disk, where a changed one is ignored', () => {
    const first = answer();
    const path = keptFile();
    // File system calls that fail in this process, for any user.
    const program = `
      import fs from 'node:fs';
      import { syncBuiltinESMExports } from 'node:module';
      const refuse = () => { throw Object.assign(new Error('EROFS: read-only file system'), { code: 'EROFS' }); };
      for (const name of ['rmSync', 'rmdirSync', 'unlinkSync', 'renameSync', 'utimesSync', 'chmodSync']) fs[name] = refuse;
      const { mkdirSync } = fs;
      fs.mkdirSync = (path, options) => (fs.existsSync(path) ? mkdirSync(path, options) : refuse());
      syncBuiltinESMExports();`;
    const readOnly = (): string => {
      const [flag = '', mode = '', code = '', ...rest] = argv();
      const loaded = code.replaceAll(/^\s*import (\{[^}]*\}) from (.*);$/gm, 'const $1 = await import($2);');
      const { stdout, stderr } = spawnSync(process.execPath, [flag, mode, `${program}\n${loaded}`, ...rest], {
        encoding: 'utf8',
      });
      expect(stderr).toBe('');
      return stdout;
    };
    expect(readOnly()).toBe(first);
    truncateSync(path, 100);
    const { hits, diagnostics } = JSON.parse(readOnly()) as { hits: unknown; diagnostics: unknown };
    expect(hits).toEqual((JSON.parse(first) as { hits: unknown }).hits);
    expect(diagnostics).toMatchObject([{ code: 'search.not-kept' }]);
  });

  it('is built in memory, with a warning, where the cache cannot be written', () => {
    const { hits } = JSON.parse(answer()) as { hits: unknown };
    rmSync(join(cacheFolder, 'search'), { recursive: true });
    writeFileSync(join(cacheFolder, 'search'), 'no folder');
    const again = JSON.parse(answer()) as { hits: unknown; diagnostics: unknown };
    expect(again.hits).toEqual(hits);
    expect(again.diagnostics).toMatchObject([{ code: 'search.not-kept', severity: 'warning' }]);
  });
});

describeWith('the index of a search whose process is killed', MISSING_STRACE, () => {
  it.each([
    ['pwrite64', 1],
    ['pwrite64', 5],
    ['fsync', 1],
    ['rename', 1],
    ['fsync', 2],
  ])('at %s number %i is built by the next process, and nothing else stays', (call, when) => {
    const flags = [
      '-f',
      '-qq',
      '-o',
      '/dev/null',
      '-e',
      `trace=${call}`,
      '-e',
      `inject=${call}:signal=KILL:when=${when}`,
    ];
    const { signal, stdout } = spawnSync('strace', [...flags, process.execPath, ...argv()], { encoding: 'utf8' });
    expect([signal, stdout]).toEqual(['SIGKILL', '']);
    const first = answer();
    expect(kept()).toEqual([expect.stringMatching(/\.sqlite$/)]);
    expect(answer()).toBe(first);
  });
});
