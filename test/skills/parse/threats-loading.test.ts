import { execFileSync } from 'node:child_process';
import { mkdirSync, renameSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { exportRuntimeGlobals, loadSkillsSubsystem, setSkillsDescriptor } from '../../../src/skills/index.ts';
import { withFolder } from '../../conformance/library.ts';
import { writeTree, type Tree } from '../../conformance/write-tree.ts';
import { codeOf } from '../code-of.ts';
import { skillText } from '../text/skill-text.ts';
import { cpuMs } from '../../fixtures/cpu-ms.ts';

const SECRET = 'canary-of-the-host';
/** As long as the secret, so that the size alone does not reveal a change. */
const OWN = 'text-of-the-skill.';

/** A host folder with a secret beside a root with one skill, `alpha`. */
function withHost<T>(files: Tree, use: (host: { dir: string; root: string; skill: string }) => T): T {
  return withFolder((dir) => {
    writeTree(join(dir, 'host'), { 'secret.txt': SECRET, 'nested/secret.txt': SECRET });
    const root = join(dir, 'skills');
    writeTree(root, { 'public/alpha/SKILL.md': skillText('alpha', 'Body.'), ...files });
    return use({ dir, root, skill: join(root, 'public/alpha') });
  });
}

const load = (root: string) => loadSkillsSubsystem({ roots: [{ kind: 'builtin', path: root }] });

/** All content of the skills that could leave the process. */
function everythingOf(subsystem: ReturnType<typeof load>): string {
  const exported = exportRuntimeGlobals(subsystem, { refs: subsystem.skills.map(({ id }) => id), consumer: 'c' });
  const files = [...exported.trees.values()].flatMap((tree) => [...tree.values()]);
  const texts = files.map(({ bytes }) => Buffer.from(bytes).toString());
  return [JSON.stringify(subsystem.skills), JSON.stringify(exported.descriptor), ...texts].join('\n');
}

describe('L01 links in a skill folder', () => {
  test('loadSkillsSubsystem() follows neither a linked file nor a linked folder, and reports both', () => {
    const links: Tree = {
      'public/alpha/data.txt': { symlink: '../../../host/secret.txt' },
      'public/alpha/more': { symlink: '../../../host/nested' },
      'public/beta': { symlink: '../../host' },
      'public/gamma/SKILL.md': { symlink: '../../../host/secret.txt' },
    };
    withHost(links, ({ root }) => {
      const subsystem = load(root);
      expect(subsystem.skills.map(({ id }) => id)).toEqual(['public.alpha']);
      expect(subsystem.skills[0]?.files.map(({ path }) => path)).toEqual(['SKILL.md']);
      expect(subsystem.diagnostics.map(({ code, path }) => `${code} ${path}`)).toEqual([
        'skill.link public/beta',
        'skill.link public/gamma/SKILL.md',
        'skill.link public/alpha/data.txt',
      ]);
      expect(everythingOf(subsystem)).not.toContain(SECRET);
    });
  });
});

describe('L02 folders that link to themselves', () => {
  test('loadSkillsSubsystem() terminates at once on two self-links', () => {
    const links: Tree = {
      'loop/a': { symlink: '.' },
      'loop/b': { symlink: '.' },
      'public/alpha/a': { symlink: '.' },
      'public/alpha/b': { symlink: '..' },
    };
    withHost(links, ({ root }) => {
      // Each round of a loop would be a new path, and two loops double the paths at every depth.
      const takenMs = cpuMs(() => expect(load(root).skills.map(({ files }) => files.length)).toEqual([1]));
      expect(takenMs).toBeLessThan(2_000);
    });
  });

  test('loadSkillsSubsystem() neither waits on a fifo nor takes it for a file', () => {
    withHost({}, ({ root, skill }) => {
      execFileSync('mkfifo', [join(skill, 'pipe'), join(root, 'public', 'pipe')]);
      mkdirSync(join(root, 'public/beta'));
      execFileSync('mkfifo', [join(root, 'public/beta/SKILL.md')]);
      const subsystem = load(root);
      expect(subsystem.skills.map(({ id, files }) => [id, files.map(({ path }) => path)])).toEqual([
        ['public.alpha', ['SKILL.md']],
      ]);
    });
  });

  test('loadSkillsSubsystem() refuses a skill with a file of 1 GiB of holes instead of reading it', () => {
    withHost({ 'public/beta/SKILL.md': skillText('beta', 'Body.') }, ({ root, skill }) => {
      writeFileSync(join(skill, 'holes'), '');
      truncateSync(join(skill, 'holes'), 2 ** 30);
      const subsystem = load(root);
      expect(subsystem.skills.map(({ id }) => id)).toEqual(['public.beta']);
      expect(subsystem.diagnostics.map(({ code, path }) => [code, path])).toEqual([
        ['skill.too-large', 'public/alpha/holes'],
      ]);
    });
  });
});

describe('L03 a link in the middle of a path', () => {
  test('a folder that becomes a link after loading leaks nothing of the host', () => {
    withHost({ 'public/alpha/data/secret.txt': OWN }, ({ dir, root, skill }) => {
      const subsystem = load(root);
      rmSync(join(skill, 'data'), { recursive: true });
      symlinkSync(join(dir, 'host'), join(skill, 'data'));
      expect(codeOf(() => subsystem.readSkillFile('alpha', 'data/secret.txt'))).toBe('skills.digest-mismatch');
      expect([...subsystem.skillTree('public.alpha').keys()]).toEqual(['SKILL.md']);
      expect(everythingOf(subsystem)).not.toContain(SECRET);
    });
  });

  test('a root whose skill folder is swapped for a link leaks nothing either', () => {
    withHost({ 'public/alpha/secret.txt': OWN }, ({ dir, root, skill }) => {
      const subsystem = load(root);
      renameSync(skill, join(dir, 'moved'));
      symlinkSync(join(dir, 'host'), skill);
      expect(codeOf(() => subsystem.readSkillFile('alpha', 'secret.txt'))).toBe('skills.digest-mismatch');
      expect(subsystem.skillTree('public.alpha').size).toBe(0);
    });
  });
});

describe('L04 a file that changes between check and use', () => {
  const change: Record<string, (skill: string) => void> = {
    'other bytes of one size': (skill) => writeFileSync(join(skill, 'notes.txt'), 'twx'),
    'more bytes': (skill) => writeFileSync(join(skill, 'notes.txt'), 'two and more'),
    'fewer bytes': (skill) => writeFileSync(join(skill, 'notes.txt'), 't'),
    'a link': (skill) => {
      rmSync(join(skill, 'notes.txt'));
      symlinkSync('../../../host/secret.txt', join(skill, 'notes.txt'));
    },
    nothing: (skill) => rmSync(join(skill, 'notes.txt')),
    'another mode': (skill) => execFileSync('chmod', ['755', join(skill, 'notes.txt')]),
  };

  for (const [what, apply] of Object.entries(change)) {
    test(`${what}: the reader refuses it, and the sandbox refuses the export`, () => {
      withHost({ 'public/alpha/notes.txt': 'two' }, ({ root, skill }) => {
        const subsystem = load(root);
        expect(subsystem.readSkillFile('alpha', 'notes.txt')).toMatchObject({ text: 'two' });
        apply(skill);
        expect(codeOf(() => subsystem.readSkillFile('alpha', 'notes.txt'))).toBe('skills.digest-mismatch');
        const { descriptor, trees } = exportRuntimeGlobals(subsystem, { refs: ['alpha'], consumer: 'c' });
        expect(codeOf(() => setSkillsDescriptor(descriptor, { arrived: trees }))).toBe('skills.digest-mismatch');
      });
    });
  }
});

describe('L05 paths that lead elsewhere', () => {
  const paths = [
    '../beta/SKILL.md',
    '../../../host/secret.txt',
    '/etc/hostname',
    '%2e%2e/beta/SKILL.md',
    '..\\beta\\SKILL.md',
    'SKILL.md\0.txt',
    './SKILL.md',
    'notes//a.txt',
    'notes/../SKILL.md',
    '',
    'notes',
    '../alpha-evil/SKILL.md',
    '__proto__',
    'constructor',
  ];

  test.each(paths)('readSkillFile() refuses the path %j', (path) => {
    const files: Tree = {
      'public/beta/SKILL.md': skillText('beta', 'Beta.'),
      'public/alpha-evil/SKILL.md': skillText('alpha-evil', 'Evil.'),
      'public/alpha/notes/a.txt': 'a',
    };
    withHost(files, ({ root }) => {
      const subsystem = load(root);
      expect(subsystem.readSkillFile('alpha', 'notes/a.txt')).toMatchObject({ text: 'a', path: 'notes/a.txt' });
      expect(codeOf(() => subsystem.readSkillFile('alpha', path))).toBe('file.unreadable');
    });
  });
});

describe('L07 packaging', () => {
  test('skillTree() never holds the target of a link, even if the link was made after loading', () => {
    withHost({ 'public/alpha/a.txt': 'own' }, ({ dir, root, skill }) => {
      const subsystem = load(root);
      symlinkSync(join(dir, 'host/secret.txt'), join(skill, 'late.txt'));
      symlinkSync(join(dir, 'host'), join(skill, 'late'));
      const tree = subsystem.skillTree('public.alpha');
      expect([...tree.keys()]).toEqual(['SKILL.md', 'a.txt']);
      expect(everythingOf(subsystem)).not.toContain(SECRET);
    });
  });
});
