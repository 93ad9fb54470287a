import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { SkillTree } from '../../src/contracts/skills/skill.ts';
import { removeTorn } from '../../src/durable/durable-file.ts';
import { removeTree } from '../../src/durable/remove-tree.ts';
import { writeTree } from '../../src/durable/write-tree.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'write-tree-'));
});
afterEach(() => removeTree(folder));

const tree: SkillTree = new Map([
  ['SKILL.md', { bytes: Buffer.from('text'), executable: false }],
  ['scripts/deep/run', { bytes: Buffer.from('#!/bin/sh\n'), executable: true }],
]);
const modeOf = (path: string): string => (statSync(join(folder, path)).mode & 0o7777).toString(8);

describe('writeTree()', () => {
  it.each([
    ['plain', ['755', '644', '755', '755']],
    ['kept', ['555', '444', '555', '555']],
  ] as const)('writes files with %s permissions despite the umask', (rights, modes) => {
    const mask = process.umask(0o077);
    try {
      expect(writeTree(folder, 'new', tree, rights)).toBe(true);
    } finally {
      process.umask(mask);
    }
    expect(['new', 'new/SKILL.md', 'new/scripts/deep', 'new/scripts/deep/run'].map(modeOf)).toEqual(modes);
    expect(readFileSync(join(folder, 'new/scripts/deep/run'), 'utf8')).toBe('#!/bin/sh\n');
    expect(readdirSync(folder)).toEqual(['new']);
  });

  it('keeps an existing entry, and leaves no temporary folder', () => {
    mkdirSync(join(folder, 'full'));
    writeFileSync(join(folder, 'full/own'), 'own');
    writeFileSync(join(folder, 'file'), 'own');
    symlinkSync('nowhere', join(folder, 'link'));
    for (const name of ['full', 'file', 'link']) expect(writeTree(folder, name, tree, 'plain'), name).toBe(false);
    expect(readdirSync(folder).toSorted()).toEqual(['file', 'full', 'link']);
    expect(readdirSync(join(folder, 'full'))).toEqual(['own']);
  });

  it('leaves no files after a failure', () => {
    const odd: SkillTree = new Map([...tree, ['SKILL.md/below', { bytes: Buffer.alloc(0), executable: false }]]);
    expect(() => writeTree(folder, 'new', odd, 'plain')).toThrow(/ENOTDIR|EEXIST/);
    expect(readdirSync(folder)).toEqual([]);
  });
});

describe('removeTorn()', () => {
  it('removes only files and folders of dead owners', () => {
    const dead = '.0123456789ab-1-1-1-aaaa.part';
    writeTree(folder, dead, tree, 'kept');
    writeFileSync(join(folder, '.0123456789ab-1-1-1-bbbb.part'), '');
    writeFileSync(join(folder, '.someone.part'), '');
    removeTorn(folder);
    expect(existsSync(join(folder, dead))).toBe(false);
    expect(readdirSync(folder)).toEqual(['.someone.part']);
  });
});
