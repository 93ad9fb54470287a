import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { exportSkill } from '../../src/authoring/dialect/export-skill.ts';
import { importSkill } from '../../src/authoring/dialect/import-skill.ts';
import type { SkillTree } from '../../src/contracts/skills/skill.ts';
import { parseSkillMarkdown } from '../../src/skills/parse/parse-skill.ts';
import { validateStrict } from '../../src/skills/parse/strict-validate.ts';

const treeOf = (front: string, body = 'Body.\n'): SkillTree =>
  new Map([
    ['SKILL.md', { bytes: Buffer.from(`---\n${front}---\n${body}`), executable: false }],
    ['run.sh', { bytes: Buffer.from('#!/bin/sh\r\n'), executable: true }],
  ]);
const textOf = (tree: SkillTree): string => Buffer.from(tree.get('SKILL.md')?.bytes ?? []).toString();
const read = (tree: SkillTree): unknown => {
  const { fields, extra, body, loaded } = parseSkillMarkdown(Buffer.from(textOf(tree)), { folder: 'skill' });
  return { fields, extra, body, loaded, run: tree.get('run.sh') };
};

const FULL = `name: A Skill
description: Use: it
version: 1.0
license: MIT
when_to_use: [a, "b: c"]
import: [x, custom.y]
allowed-tools: [Bash(git *), Read]
disable-model-invocation: true
metadata: { author: me, n: 1.50, deep: { a: [1, null] }, skillcell.fake: "no" }
triggers: { keywords: [one, two], patterns: ['^a\\d'] }
odd key: [1.0, yes, ~, { x: 0x10 }]
`;

describe('exportSkill()', () => {
  it('writes the keys of the specification, and keeps all others in metadata', () => {
    const exported = exportSkill('skill', treeOf(FULL), 'agentskills');
    expect(textOf(exported)).toBe(`---
name: "skill"
description: "Use: it"
license: "MIT"
allowed-tools: "Bash(git *) Read"
metadata:
  "author": "me"
  "n": "1.50"
  "skillcell.name": "\\"A Skill\\""
  "skillcell.allowed-tools": "[\\"Bash(git *)\\", \\"Read\\"]"
  "skillcell.metadata": "{\\"deep\\": {\\"a\\": [1, null]}, \\"skillcell.fake\\": \\"no\\"}"
  "skillcell.version": "1.0"
  "skillcell.when_to_use": "[\\"a\\", \\"b: c\\"]"
  "skillcell.import": "[\\"x\\", \\"custom.y\\"]"
  "skillcell.disable-model-invocation": "true"
  "skillcell.triggers": "{\\"keywords\\": [\\"one\\", \\"two\\"], \\"patterns\\": [\\"^a\\\\\\\\d\\"]}"
  "skillcell.odd key": "[1.0, \\"yes\\", null, {\\"x\\": 0x10}]"
---
Body.
`);
    expect(validateStrict('skill', exported.get('SKILL.md')?.bytes ?? null, 'SKILL.md')).toEqual([]);
    expect(read(importSkill('skill', exported))).toEqual(read(treeOf(FULL)));
  });

  it('keeps the keys of Claude Code at the top level for the dialect claude', () => {
    const text = textOf(exportSkill('skill', treeOf(FULL), 'claude'));
    expect(text).toContain('\nwhen_to_use: ["a", "b: c"]\ndisable-model-invocation: true\nmetadata:\n');
  });

  it('cuts a description that is too long for the specification, and import restores all of it', () => {
    const long = treeOf(`description: ${'word '.repeat(300)}\ncompatibility: ${'x'.repeat(600)}\n`);
    const exported = exportSkill('skill', long, 'agentskills');
    expect(validateStrict('skill', exported.get('SKILL.md')?.bytes ?? null, 'SKILL.md')).toEqual([]);
    expect(read(importSkill('skill', exported))).toEqual(read(long));
  });

  it.each([
    ['an invalid name', 'No Name', 'description: x\n'],
    ['no description', 'skill', 'name: skill\n'],
    ['no YAML', 'skill', 'description: "\n'],
    ['a frontmatter that grows too large', 'skill', `description: x\nnote: "${'\\\\'.repeat(5_000)}"\n`],
  ])('refuses %s', (_what, name, front) => {
    expect(() => exportSkill(name, treeOf(front), 'agentskills')).toThrow(
      expect.objectContaining({ code: 'skills.invalid' }) as Error,
    );
  });
});

describe('importSkill()', () => {
  it('leaves a foreign skill unchanged, byte for byte', () => {
    const tree = treeOf('name: skill # mine\ndescription: x\nmetadata: { "skillcell.x": "[1" }\n');
    expect(importSkill('skill', tree)).toBe(tree);
  });

  it('restores every exported frontmatter', () => {
    const text = fc.oneof(
      fc.string({ unit: 'grapheme', maxLength: 30 }),
      fc.constantFrom('1.0', 'true', '~', 'null', '0x1', 'a: b', '# c', '\n', '\u2028', '---', '\u0085', '__proto__'),
    );
    const value = fc.letrec((tie) => ({
      value: fc.oneof(
        { depthSize: 'small' },
        text,
        fc.integer(),
        fc.double({ noNaN: true }),
        fc.boolean(),
        fc.constant(null),
        fc.array(tie('value'), { maxLength: 3 }),
        fc.dictionary(text, tie('value'), { maxKeys: 3 }),
      ),
    })).value;
    const keys = [
      'name',
      'version',
      'license',
      'compatibility',
      'metadata',
      'allowed-tools',
      'when_to_use',
      'imports',
      'triggers',
      'tools',
      'default_enabled',
      'namespace',
      'x-y',
      'skillcell.z',
    ];
    const front = fc.record(Object.fromEntries(keys.map((key) => [key, value])), { requiredKeys: [] });
    const description = fc
      .oneof(text, fc.constant('w '.repeat(700)))
      .filter((each) => each.trim() !== '' && !each.includes('\0'));
    fc.assert(
      fc.property(
        front,
        description,
        fc.constantFrom('agentskills' as const, 'claude' as const),
        (fields, described, dialect) => {
          const written = stringify({ ...fields, description: described }, { aliasDuplicateObjects: false });
          const tree = treeOf(written, '# Body\n\n---\nx');
          const before = read(tree) as { loaded: boolean };
          fc.pre(before.loaded && Buffer.byteLength(written) < 3_000);
          const exported = exportSkill('skill', tree, dialect);
          const faults = validateStrict('skill', exported.get('SKILL.md')?.bytes ?? null, 'SKILL.md').map(
            ({ code }) => code,
          );
          expect(faults.filter((code) => dialect === 'agentskills' || code !== 'strict.field-unknown')).toEqual([]);
          expect(read(importSkill('skill', exported))).toEqual(before);
        },
      ),
      { numRuns: 500 },
    );
  });
});
