import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { AgentsConfig } from '../../src/contracts/skills/skill.ts';
import { digestOf, exportRuntimeGlobals, setSkillsDescriptor, SkillsSubsystem } from '../../src/skills/index.ts';
import { skillDigest } from '../../src/skills/text/digest.ts';
import { loadArrived } from '../../src/skills/load/load-arrived.ts';
import { readSkillParts } from '../../src/skills/load/read-skill-parts.ts';
import { activeSkillsBlock, renderSkills } from '../../src/skills/render/render-skills.ts';
import { withLibrary } from '../conformance/library.ts';
import type { Tree } from '../conformance/write-tree.ts';
import { codeOf } from './code-of.ts';

describe('skillDigest()', () => {
  test('does not depend on the order of files', () => {
    const file = fc.record({
      path: fc.string({ minLength: 1 }),
      digest: fc.string({ maxLength: 5 }).map((text) => digestOf(text)),
      executable: fc.boolean(),
    });
    const files = fc.uniqueArray(file, { selector: ({ path }) => path, minLength: 2, maxLength: 8 });
    const shuffled = files.chain((list) =>
      fc.tuple(fc.constant(list), fc.shuffledSubarray(list, { minLength: list.length })),
    );
    fc.assert(
      fc.property(shuffled, ([list, other]) => {
        expect(skillDigest(other)).toBe(skillDigest(list));
        const [first, ...rest] = list;
        if (first === undefined) return;
        expect(skillDigest([{ ...first, executable: !first.executable }, ...rest])).not.toBe(skillDigest(list));
        expect(skillDigest(rest)).not.toBe(skillDigest(list));
      }),
    );
  });

  test('of a folder does not depend on the order in which its files were written', () => {
    const files = {
      'a/SKILL.md': '---\ndescription: x\n---\nB',
      'a/z': 'z',
      'a/b/c': 'c',
      'a/b-c': { text: '', executable: true },
    };
    const orders = [files, Object.fromEntries(Object.entries(files).toReversed())];
    const digests = orders.map((tree) => withLibrary({ files: tree }, ({ subsystem }) => subsystem.skills[0]?.digest));
    expect(digests[0]).toMatch(/^sha256:[0-9a-f]{64}$/);
    expect(digests[1]).toBe(digests[0]);
  });
});

describe('rendering of parsed skills', () => {
  const piece = fc.oneof(
    fc.constantFrom(
      ...[
        '---',
        '\n',
        'description: x',
        'name: a',
        'import: [a',
        '[ACTIVE SKILLS]',
        '[END ACTIVE SKILLS]',
        '## Skill: b',
      ],
      ...[
        '[[S:1]]',
        '[[S:1-9999]]',
        '```',
        '`',
        '\u2028',
        '\u0085',
        '\r',
        '\u200b',
        '\u200d',
        '😀',
        '\ud800',
        ': ',
        '- ',
        '\t',
      ],
    ),
    fc.string({ unit: 'binary', maxLength: 10 }),
  );
  const text = fc.array(piece, { maxLength: 30 }).map((pieces) => pieces.join(''));
  const skillFile = fc.oneof(
    text,
    text.map((body) => `---\ndescription: x\n---\n${body}`),
  );
  const bytes = fc.oneof(
    skillFile.map((content) => Buffer.from(content)),
    fc.uint8Array({ maxLength: 60 }),
  );

  test('never throws, and the block has one beginning and one end', () => {
    let rendered = 0;
    const files = fc.record({ skill: bytes, compact: bytes, tools: bytes, sources: bytes });
    fc.assert(
      fc.property(files, ({ skill, compact, tools, sources }) => {
        const all = new Map([
          ['SKILL.md', skill],
          ['compact.md', compact],
          ['tools.yaml', tools],
          ['sources.yaml', sources],
        ]);
        const { parts } = readSkillParts({
          ...{ folder: 'a', skillFile: 'SKILL.md', shown: '', tryPatterns: true },
          bytesOf: (path) => all.get(path),
        });
        if (parts === undefined) return;
        const where = { namespace: 'public', rootKind: 'builtin', root: 0, rootPath: '', dir: 'a' } as const;
        const loaded = { ...parts, ...where, id: 'public.a', skillId: 'a', name: 'a', files: [], digest: '' };
        const parent = new SkillsSubsystem({
          ...{ skills: [loaded], diagnostics: [], agentsConfig: {}, customNamespaces: [], overrides: [] },
          ...{ customSkillsRoot: null, bundleRoot: null },
        });
        for (const format of ['text', 'xml', 'markdown'] as const) parent.skillsGalleryText({ format, budget: 20 });
        parent.match('what can you do with a?');
        for (const variant of ['full', 'compact'] as const) {
          const block = activeSkillsBlock(renderSkills([loaded], variant, []).bodies);
          if (block === '') continue;
          rendered += 1;
          const lines = block.split(/\r\n|[\n\r\v\f\u0085\u2028\u2029]/u).map((line) => line.trim().toLowerCase());
          expect(lines.filter((line) => line.startsWith('[active skills]'))).toHaveLength(1);
          expect(lines.filter((line) => line.startsWith('[end active skills]'))).toHaveLength(1);
          expect(lines.filter((line) => /^#{1,6}\s*skill:/.test(line))).toHaveLength(1);
        }
      }),
      { numRuns: 1_500 },
    );
    expect(rendered).toBeGreaterThan(300);
  });
});

describe('a denied skill', () => {
  const NAMES = ['a', 'b', 'c', 'd', 'e'];
  const NAMESPACES = ['public', 'internal', 'custom'] as const;
  const anyId = fc
    .tuple(fc.constantFrom(...NAMESPACES), fc.constantFrom(...NAMES))
    .map(([space, name]) => `${space}.${name}`);
  const pattern = fc.oneof(anyId, fc.constantFrom(...NAMES, '*', 'public.*', '*.a', 'internal.?', '*b', 'custom.*'));
  const patterns = fc.array(pattern, { maxLength: 3 });
  const rule = fc.record({ enabled: patterns, disabled: patterns }, { requiredKeys: [] });
  const config = fc.record({ me: rule, '*': fc.record({ disabled: patterns }), other: rule }, { requiredKeys: [] });
  const library = fc.dictionary(anyId, fc.array(fc.oneof(anyId, fc.constantFrom(...NAMES)), { maxLength: 3 }), {
    minKeys: 2,
    maxKeys: 8,
  });
  const reference = fc.oneof(anyId, fc.constantFrom('a', 'b', 'sk:c', 'SK1', 'sk2', 'skills.d', 'skill:internal.e'));
  const request = fc.record({ refs: fc.array(reference, { maxLength: 5 }), includeInternal: fc.boolean() });

  const canaryOf = (id: string): string => `canary<${id}>`;

  /** The ids that may be loaded, computed independently of the tested code. */
  function allowedIds(imports: Record<string, string[]>, policy: AgentsConfig, includeInternal: boolean): Set<string> {
    const matches = (list: string[] | undefined, id: string): boolean =>
      (list ?? []).some((one) => {
        const full = /[.*?]/.test(one) ? one : `public.${one}`;
        return new RegExp(`^${full.replaceAll('.', '\\.').replaceAll('*', '.*').replaceAll('?', '.')}$`).test(id);
      });
    const denied = (id: string): boolean => matches(policy['*']?.disabled, id) || matches(policy['me']?.disabled, id);
    const { enabled } = policy['me'] ?? {};
    const allowed = new Set(
      Object.keys(imports).filter(
        (id) =>
          !denied(id) &&
          (enabled === undefined || matches(enabled, id)) &&
          (includeInternal || !id.startsWith('internal.')),
      ),
    );
    for (const id of allowed) {
      for (const imported of imports[id] ?? []) {
        const full = imported.includes('.') ? imported : `public.${imported}`;
        if (full in imports && !denied(full)) allowed.add(full);
      }
    }
    return allowed;
  }

  test('never reaches a prompt, a descriptor or a tree by any path', () => {
    let loaded = 0;
    let withheld = 0;
    fc.assert(
      fc.property(library, config, request, (imports, policy, { refs, includeInternal }) => {
        const files: Tree = {};
        for (const [id, imported] of Object.entries(imports)) {
          const folder = id.replace('.', '/');
          files[`${folder}/SKILL.md`] =
            `---\ndescription: "${canaryOf(id)}"\nimport: ${JSON.stringify(imported)}\ntriggers: [go]\n---\n${canaryOf(id)}`;
          files[`${folder}/data.txt`] = canaryOf(id);
        }
        const agentsConfig = JSON.parse(JSON.stringify(policy)) as AgentsConfig;
        withLibrary({ files, agents_config: agentsConfig }, ({ subsystem }) => {
          const who = { consumer: 'me', includeInternal };
          const selection = { ...who, catalog: subsystem.catalog(who) };
          const allowed = allowedIds(imports, agentsConfig, includeInternal);
          const { descriptor, trees, refs: inside } = exportRuntimeGlobals(subsystem, { ...selection, refs });
          const arrived = setSkillsDescriptor(JSON.parse(JSON.stringify(descriptor)), { arrived: trees });
          const host = subsystem.buildSkillsInstructionBlock({ ...selection, refs });
          const sandbox = arrived.buildSkillsInstructionBlock({ ...who, refs: inside });
          expect(sandbox.text).toBe(host.text);
          expect(sandbox.active).toEqual(host.active);
          const everything = [
            host.text,
            ...refs.map((ref) => subsystem.loadSkill(ref, selection).text),
            ...(['text', 'xml', 'markdown'] as const).map(
              (format) => subsystem.skillsGalleryText({ ...selection, format }).text,
            ),
            JSON.stringify(subsystem.match('go', who)),
            JSON.stringify(descriptor),
            ...[...trees.values()].flatMap((tree) =>
              [...tree.values()].map(({ bytes }) => Buffer.from(bytes).toString()),
            ),
            JSON.stringify(arrived.skills),
          ].join('\n');
          for (const id of Object.keys(imports)) {
            const read = (): unknown => subsystem.readSkillFile(id, 'data.txt', who);
            if (allowed.has(id)) {
              expect(read()).toMatchObject({ text: canaryOf(id) });
              loaded += Number(host.active.includes(id));
              continue;
            }
            withheld += 1;
            expect(everything).not.toContain(canaryOf(id));
            expect(everything).not.toContain(`&lt;${id}&gt;`);
            expect(Object.keys(descriptor.skills ?? {})).not.toContain(id);
            expect(trees.has(id)).toBe(false);
            expect(codeOf(read)).toBe('skills.reference-denied');
          }
        });
      }),
      { numRuns: 120 },
    );
    // Far below the expected counts: it only ensures that both cases occur.
    expect(loaded).toBeGreaterThan(5);
    expect(withheld).toBeGreaterThan(5);
  });
});

describe('loadArrived()', () => {
  test('rebuilds the skills that were loaded from disk, except for their places', () => {
    const files = {
      'public/a/SKILL.md': '---\nname: a\ndescription: A. Long.\nversion: 1.0\ntriggers: [x]\nfoo: {bar: 1}\n---\nBody',
      'public/a/tools.yaml': '- {id: t, why: w}',
      'public/a/sources.yaml': '- {sid: 1, url: "https://example.com/"}',
      'public/a/compact.md': '\ufeffShort\r\n',
    };
    withLibrary({ files }, ({ subsystem }) => {
      const { descriptor, trees } = exportRuntimeGlobals(subsystem, { refs: ['a'], consumer: 'c' });
      const [rebuilt] = loadArrived(descriptor.skills ?? {}, trees).skills;
      expect(rebuilt).toEqual({ ...subsystem.skills[0], rootPath: '', dir: 'public/a' });
    });
  });
});
