import {
  chmodSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { Skill } from '../../../src/contracts/skills/skill.ts';
import { readSkillTree, skillFolderOf } from '../../../src/skills/load/files/skill-bytes.ts';
import { skillLibrary, skillText, type SkillLibrary } from '../../fixtures/skill-library.ts';

/** Longer than one tick of the clock for inode times, in milliseconds. */
const CLOCK_STEP_MS = 25;

let library: SkillLibrary;
let skill: Skill;
beforeEach(async () => {
  library = skillLibrary({
    'maps/SKILL.md': skillText({ name: 'maps', description: 'Maps.' }, 'Maps.'),
    'maps/data/points.csv': 'x,y\n1,2\n',
    'maps/scripts/draw.sh': { text: '#!/bin/sh\n', executable: true },
  });
  const found = library.subsystem.skills.find(({ id }) => id === 'custom.maps');
  if (found === undefined) throw new Error('The skill was not loaded.');
  skill = found;
  await pause(CLOCK_STEP_MS);
});
afterEach(() => library[Symbol.dispose]());

const PATHS = ['SKILL.md', 'data/points.csv', 'scripts/draw.sh'];
const pathOf = (path: string): string => join(skillFolderOf(skill), path);
const bytesOf = (path: string): Uint8Array | undefined => readSkillTree(skill).get(path)?.bytes;
const textOf = (path: string): string => Buffer.from(bytesOf(path) ?? []).toString();

it('returns the same bytes in memory while nothing changes', () => {
  const first = readSkillTree(skill);
  const second = readSkillTree(skill);
  expect([...first.keys()].toSorted()).toEqual(PATHS);
  expect(second).not.toBe(first);
  for (const path of PATHS) expect(second.get(path)?.bytes, path).toBe(first.get(path)?.bytes);
  expect(first.get('scripts/draw.sh')?.executable).toBe(true);
});

it('reads a skill of more than 1 MiB anew each time, but not a skill of exactly 1 MiB', async () => {
  const half = 'x'.repeat(512 * 1024);
  const frame = skillText({ name: 'large', description: 'Large.' }, '');
  using folders = skillLibrary({
    'large/SKILL.md': frame,
    'large/one.bin': half,
    'large/two.bin': half,
    'small/SKILL.md': skillText({ name: 'small', description: 'Small.' }, ''),
    'small/one.bin': half,
    'small/two.bin': half.slice(4_096),
  });
  await pause(CLOCK_STEP_MS);
  const isKept = (id: string): boolean => {
    const found = folders.subsystem.skills.find((one) => one.id === id);
    if (found === undefined) throw new Error(`${id} was not loaded.`);
    return readSkillTree(found).get('one.bin')?.bytes === readSkillTree(found).get('one.bin')?.bytes;
  };
  expect([isKept('custom.small'), isKept('custom.large')]).toEqual([true, false]);
});

it('returns new bytes of a changed file, and the same bytes of the others', () => {
  const first = readSkillTree(skill);
  writeFileSync(pathOf('data/points.csv'), 'z\n');
  const second = readSkillTree(skill);
  expect(Buffer.from(second.get('data/points.csv')?.bytes ?? []).toString()).toBe('z\n');
  expect(second.get('SKILL.md')?.bytes).toBe(first.get('SKILL.md')?.bytes);
});

it('returns new bytes of a changed file with the same size and modification time', () => {
  const path = pathOf('data/points.csv');
  utimesSync(path, 1_000_000_000, 1_000_000_000);
  expect(textOf('data/points.csv')).toBe('x,y\n1,2\n');
  const before = statSync(path, { bigint: true });
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, CLOCK_STEP_MS);
  writeFileSync(path, 'x,y\n3,4\n');
  utimesSync(path, 1_000_000_000, 1_000_000_000);
  const after = statSync(path, { bigint: true });
  expect([after.ino, after.size, after.mtimeNs]).toEqual([before.ino, before.size, before.mtimeNs]);
  expect(textOf('data/points.csv')).toBe('x,y\n3,4\n');
});

it('returns new bytes of a replaced file', () => {
  const first = textOf('data/points.csv');
  const { atime, mtime } = statSync(pathOf('data/points.csv'));
  writeFileSync(pathOf('new'), 'x,y\n5,6\n');
  utimesSync(pathOf('new'), atime, mtime);
  renameSync(pathOf('new'), pathOf('data/points.csv'));
  expect([first, textOf('data/points.csv')]).toEqual(['x,y\n1,2\n', 'x,y\n5,6\n']);
});

it('sees a change of the executable bit alone', () => {
  expect(readSkillTree(skill).get('data/points.csv')?.executable).toBe(false);
  chmodSync(pathOf('data/points.csv'), 0o755);
  expect(readSkillTree(skill).get('data/points.csv')?.executable).toBe(true);
});

it('drops a removed file, and reads it again when it is back', () => {
  readSkillTree(skill);
  rmSync(pathOf('data/points.csv'));
  expect([...readSkillTree(skill).keys()].toSorted()).toEqual(['SKILL.md', 'scripts/draw.sh']);
  writeFileSync(pathOf('data/points.csv'), 'x,y\n7,8\n');
  expect(textOf('data/points.csv')).toBe('x,y\n7,8\n');
});

it.each([
  ['to the file itself', (path: string) => `${path}.moved`],
  ['to another file', () => '/etc/passwd'],
])('drops a file that was replaced by a link %s', (_what, target) => {
  const path = pathOf('data/points.csv');
  readSkillTree(skill);
  renameSync(path, `${path}.moved`);
  symlinkSync(target(path), path);
  for (let round = 0; round < 2; round += 1) {
    expect([...readSkillTree(skill).keys()].toSorted()).toEqual(['SKILL.md', 'scripts/draw.sh']);
  }
});

it('drops an unchanged file whose folder became a link', () => {
  readSkillTree(skill);
  // The inode of a file does not depend on the name of its folder.
  renameSync(pathOf('data'), pathOf('moved'));
  mkdirSync(pathOf('data'));
  symlinkSync('../moved/points.csv', pathOf('data/points.csv'));
  expect(readFileSync(pathOf('data/points.csv'), 'utf8')).toBe('x,y\n1,2\n');
  expect([...readSkillTree(skill).keys()].toSorted()).toEqual(['SKILL.md', 'scripts/draw.sh']);
});

it('keeps later results unchanged when a caller changes its map', () => {
  const mine = readSkillTree(skill);
  const { bytes } = mine.get('SKILL.md') ?? {};
  mine.delete('SKILL.md');
  mine.set('data/points.csv', { bytes: Buffer.from('mine'), executable: true });
  mine.set('new', { bytes: Buffer.from('mine'), executable: true });
  const later = readSkillTree(skill);
  expect([...later.keys()].toSorted()).toEqual(PATHS);
  expect(later.get('SKILL.md')?.bytes).toBe(bytes);
  expect(textOf('data/points.csv')).toBe('x,y\n1,2\n');
});
