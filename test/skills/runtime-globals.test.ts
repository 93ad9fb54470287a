import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { SkillTrees } from '../../src/contracts/skills/skill.ts';
import {
  exportRuntimeGlobals,
  getActiveSkillsSubsystem,
  loadSkillsSubsystem,
  runWithSkills,
  setSkillsDescriptor,
  verifyDescriptor,
} from '../../src/skills/index.ts';
import { buildSkillsInstructionBlock, importSkillset, skillsGalleryText } from '../../src/skills/index.ts';
import { withFolder, withLibrary, type LibraryInput } from '../conformance/library.ts';
import { writeTree } from '../conformance/write-tree.ts';
import { codeOf } from './code-of.ts';
import { skillText } from './text/skill-text.ts';

const CANARY = 'canary-of-a-denied-skill';

/** Skills with everything that a rebuild could lose: overrides, slugged ids, internal imports, sources, compact.md. */
const LIBRARY: LibraryInput = {
  roots: [
    {
      kind: 'builtin',
      files: {
        'public/press/SKILL.md': skillText('press', 'Built in.'),
        'My Chart!/SKILL.md': skillText(
          'My Chart!',
          'Chart [[S:7]].',
          'import: [internal.core, denied]',
          'version: 1.0',
        ),
        'My Chart!/sources.yaml': 'sources:\n  - {sid: 7, url: "https://example.com/a/"}\n',
        'My Chart!/run.sh': { text: '#!/bin/sh\n', executable: true },
        'internal/core/SKILL.md': skillText('core', 'Core.', 'import: custom.deep'),
        'internal/core/compact.md': 'Short core.',
        'public/denied/SKILL.md': skillText('denied', CANARY),
        'public/denied/data.bin': { base64: Buffer.from(CANARY).toString('base64') },
        'public/unrelated/SKILL.md': skillText('unrelated', CANARY),
      },
    },
    {
      kind: 'custom',
      files: {
        'press/SKILL.md': skillText('press', 'Ours.', 'namespace: public', 'import: internal.core'),
        'deep/SKILL.md': skillText('deep', 'Deep.'),
      },
    },
  ],
  overrides: ['public.press', 'public.unrelated'],
  agents_config: {
    'solver.codegen': { enabled: ['public.*'], disabled: ['public.denied'] },
    other: { disabled: ['public.nothing-of-yours'] },
    '*': { disabled: ['custom.never'] },
  },
};

const JOB = { refs: ['my-chart', 'denied', 'press', 'nothing'], consumer: 'solver.codegen' };

describe('exportRuntimeGlobals()', () => {
  test('the sandbox renders the same bytes in the same order as the host', () => {
    withLibrary(LIBRARY, ({ subsystem }) => {
      const pool = [{ sid: 3, url: 'https://example.com/a' }];
      const { descriptor, trees, refs, rows, active } = exportRuntimeGlobals(subsystem, JOB);
      const arrived = setSkillsDescriptor(JSON.parse(JSON.stringify(descriptor)), { arrived: trees });
      for (const variant of ['full', 'compact'] as const) {
        const host = subsystem.buildSkillsInstructionBlock({ ...JOB, variant, pool });
        const inside = arrived.buildSkillsInstructionBlock({ ...JOB, refs, variant, pool });
        expect(inside).toMatchObject({ text: host.text, sha256: host.sha256, active, pool: host.pool, map: host.map });
        const loaded = host.rows.flatMap(({ id, status }) => (status === 'loaded' ? [{ ref: id, id, status }] : []));
        expect(inside.rows).toEqual(loaded);
      }
      expect(active).toEqual(['custom.deep', 'internal.core', 'public.my-chart', 'public.press']);
      expect(rows.map(({ status }) => status)).toEqual(['loaded', 'denied', 'loaded', 'unknown']);
      expect(arrived.loadSkill('press', JOB).text).toBe('Ours.');
    });
  });

  test('carries the closure of the job and the policy of its consumer, nothing else', () => {
    withLibrary(LIBRARY, ({ subsystem, dir }) => {
      const { descriptor, trees, active } = exportRuntimeGlobals(subsystem, JOB);
      expect([...trees.keys()].sort()).toEqual([...active].sort());
      expect(Object.keys(descriptor.skills ?? {})).toEqual([...active].sort());
      expect(descriptor.agents_config).toEqual({
        'solver.codegen': { enabled: ['public.*'], disabled: ['public.denied'] },
        '*': { disabled: ['custom.never'] },
      });
      expect(descriptor.overrides).toEqual(['public.press']);
      expect(descriptor.catalog?.ids).toEqual(['public.my-chart', 'public.press']);
      expect(trees.get('public.my-chart')?.get('run.sh')?.executable).toBe(true);
      const all = JSON.stringify(descriptor) + bytesOf(trees);
      expect(all).not.toContain(CANARY);
      expect(all).not.toContain(dir);
    });
  });

  test('an internal skill that the host requested loads again when the host requests it again', () => {
    withLibrary(LIBRARY, ({ subsystem }) => {
      const job = { refs: ['internal.core'], consumer: 'answer', includeInternal: true };
      const { descriptor, trees, refs } = exportRuntimeGlobals(subsystem, job);
      const arrived = setSkillsDescriptor(descriptor, { arrived: trees });
      const host = subsystem.buildSkillsInstructionBlock(job).text;
      expect(host).toContain('Core.');
      expect(arrived.buildSkillsInstructionBlock({ ...job, refs }).text).toBe(host);
      expect(arrived.buildSkillsInstructionBlock({ ...job, refs, includeInternal: false }).text).toBe('');
    });
  });

  test('short ids of the snapshot become full ids', () => {
    withLibrary(LIBRARY, ({ subsystem }) => {
      const catalog = subsystem.catalog({ consumer: 'solver.codegen' });
      const { refs } = exportRuntimeGlobals(subsystem, { ...JOB, refs: ['SK2', 'sk:sk1'], catalog });
      expect(refs).toEqual([catalog.ids[1], catalog.ids[0]]);
    });
  });

  test('a job without skills exports none', () => {
    withLibrary(LIBRARY, ({ subsystem }) => {
      const { descriptor, trees, active } = exportRuntimeGlobals(subsystem, {
        refs: ['denied'],
        consumer: 'solver.codegen',
      });
      expect([Object.keys(descriptor.skills ?? {}), trees.size, active]).toEqual([[], 0, []]);
      const arrived = setSkillsDescriptor(descriptor, { arrived: trees });
      expect(arrived.buildSkillsInstructionBlock({ refs: ['denied'], consumer: 'solver.codegen' }).text).toBe('');
    });
  });

  test('more than 64 MiB of skills are refused before they are read', () => {
    const big = { parts: [{ repeat: 'x', times: 33 * 1024 * 1024 }] };
    const files = {
      'a/SKILL.md': skillText('a', 'A.', 'import: b'),
      'a/big.txt': big,
      'b/SKILL.md': skillText('b', 'B.'),
      'b/big.txt': big,
    };
    withLibrary({ files }, ({ subsystem }) => {
      expect(codeOf(() => exportRuntimeGlobals(subsystem, { refs: ['a'], consumer: 'c' }))).toBe('skills.too-large');
      expect(exportRuntimeGlobals(subsystem, { refs: ['b'], consumer: 'c' }).trees.size).toBe(1);
    });
  });
});

describe('setSkillsDescriptor()', () => {
  const exported = () => withLibrary(LIBRARY, ({ subsystem }) => exportRuntimeGlobals(subsystem, JOB));

  const damage: Record<string, (trees: SkillTrees) => void> = {
    'descriptor.file-missing': (trees) => trees.get('public.press')?.delete('SKILL.md'),
    'descriptor.file-extra': (trees) =>
      trees.get('public.press')?.set('x', { bytes: Buffer.from(''), executable: false }),
    'descriptor.file-changed': (trees) =>
      trees.get('public.press')?.set('SKILL.md', { bytes: Buffer.from('x'), executable: false }),
    'descriptor.file-mode': (trees) => {
      const file = trees.get('public.press')?.get('SKILL.md');
      if (file !== undefined) trees.get('public.press')?.set('SKILL.md', { ...file, executable: true });
    },
  };

  test.each(Object.entries(damage))(
    'refuses arrived bytes with %s, and changes nothing in the process',
    (code, apply) => {
      const { descriptor, trees } = exported();
      const before = getActiveSkillsSubsystem();
      apply(trees);
      expect(codeOf(() => setSkillsDescriptor(descriptor, { arrived: trees }))).toBe('skills.digest-mismatch');
      const { ok, diagnostics } = verifyDescriptor(descriptor, trees);
      const path = code === 'descriptor.file-extra' ? 'x' : 'SKILL.md';
      expect({ ok, found: diagnostics.map((row) => [row.code, row.path]) }).toEqual({
        ok: false,
        found: [[code, path]],
      });
      expect(getActiveSkillsSubsystem()).toBe(before);
    },
  );

  test('refuses an unlisted skill, and a listed skill that did not arrive', () => {
    const { descriptor, trees } = exported();
    const extra = new Map([
      ...trees,
      ['public.guest', new Map([['SKILL.md', { bytes: Buffer.from('x'), executable: false }]])],
    ]);
    expect(verifyDescriptor(descriptor, extra).diagnostics.map(({ code }) => code)).toEqual(['descriptor.file-extra']);
    trees.delete('internal.core');
    const codes = verifyDescriptor(descriptor, trees).diagnostics.map(({ code }) => code);
    expect(new Set(codes)).toEqual(new Set(['descriptor.file-missing']));
  });

  test.each([null, [], 'text', { schema: 'x' }, { skills: {} }, { agents_config: { c: { enabled: 'a' } } }])(
    'refuses %j as a descriptor',
    (value) => {
      expect(codeOf(() => setSkillsDescriptor(value))).toBe('skills.descriptor-invalid');
      expect(verifyDescriptor(value, new Map())).toMatchObject({ ok: false, diagnostics: [{ severity: 'error' }] });
    },
  );

  test('refuses the portable form without its bytes', () => {
    const { descriptor } = exported();
    expect(codeOf(() => setSkillsDescriptor(descriptor))).toBe('skills.descriptor-invalid');
  });

  test('a descriptor with changed content is a mismatch', () => {
    const { descriptor, trees } = exported();
    const widened = { ...descriptor, agents_config: {} };
    expect(codeOf(() => setSkillsDescriptor(widened, { arrived: trees }))).toBe('skills.digest-mismatch');
  });

  test("the seed's two fields load the folder that they name, and become the active skills", () => {
    withFolder((dir) => {
      writeTree(join(dir, 'skills'), { 'alpha/SKILL.md': skillText('alpha', 'Alpha.') });
      const descriptor = { custom_skills_root: 'skills', agents_config: { c: { disabled: ['custom.alpha'] } } };
      const subsystem = setSkillsDescriptor(descriptor, { bundleRoot: dir });
      expect(getActiveSkillsSubsystem()).toBe(subsystem);
      expect(importSkillset(['custom.alpha']).skills.map(({ id }) => id)).toEqual(['custom.alpha']);
      expect(buildSkillsInstructionBlock({ refs: ['custom.alpha'] }).text).toContain('Alpha.');
      expect(buildSkillsInstructionBlock({ refs: ['custom.alpha'], consumer: 'c' }).text).toBe('');
      expect(skillsGalleryText({ format: 'markdown' }).text).toBe('- **custom.alpha**: alpha does things.\n');
      expect(codeOf(() => setSkillsDescriptor(descriptor))).toBe('skills.descriptor-invalid');
      rmSync(join(dir, 'skills'), { recursive: true });
      expect(codeOf(() => setSkillsDescriptor(descriptor, { bundleRoot: dir }))).toBe('skills.root-missing');
      expect(codeOf(() => loadSkillsSubsystem({ descriptor, bundleRoot: dir }))).toBe('skills.root-missing');
      expect(getActiveSkillsSubsystem()).toBe(subsystem);
    });
  });

  test('a blank root names no folder, not the whole bundle', () => {
    withFolder((dir) => {
      writeTree(dir, { 'a/SKILL.md': skillText('a', 'Outside.'), 'skills/b/SKILL.md': skillText('b', 'Usual.') });
      const subsystem = loadSkillsSubsystem({ descriptor: { custom_skills_root: '' }, bundleRoot: dir });
      expect(subsystem.skills.map(({ id }) => id)).toEqual(['custom.b']);
    });
  });

  test('its full form loads the same skills from the same folders', () => {
    withFolder((dir) => {
      writeTree(join(dir, 'skills'), { 'alpha/SKILL.md': skillText('alpha', 'Alpha.') });
      const first = loadSkillsSubsystem({ descriptor: { custom_skills_root: null }, bundleRoot: dir });
      const again = setSkillsDescriptor(first.descriptor());
      expect(again.skills).toEqual(first.skills);
      expect(again.descriptor()).toEqual(first.descriptor());
      writeFileSync(join(dir, 'skills/alpha/SKILL.md'), skillText('alpha', 'Changed.'));
      expect(again.loadSkill('custom.alpha').text).toBe('Alpha.');
    });
  });
});

describe('runWithSkills()', () => {
  test('two turns in one process never see each other’s skills', async () => {
    const subsystems = ['one', 'two'].map((name) =>
      withLibrary({ files: { [`${name}/SKILL.md`]: skillText(name, name) } }, ({ subsystem }) => subsystem),
    );
    const seen = await Promise.all(
      subsystems.map((subsystem, index) =>
        runWithSkills(subsystem, async () => {
          const ids: string[] = [];
          for (let step = 0; step < 5; step += 1) {
            await new Promise((resolve) => setTimeout(resolve, 1 + ((index + step) % 2)));
            ids.push(...(getActiveSkillsSubsystem()?.skills ?? []).map(({ id }) => id));
          }
          return ids;
        }),
      ),
    );
    expect(seen).toEqual([Array(5).fill('public.one'), Array(5).fill('public.two')]);
  });
});

function bytesOf(trees: SkillTrees): string {
  return [...trees.values()]
    .flatMap((tree) => [...tree.values()].map(({ bytes }) => Buffer.from(bytes).toString()))
    .join();
}
