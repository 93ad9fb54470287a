import { createHash, randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { SkillTree, SkillTrees } from '../../../src/contracts/skills/skill.ts';
import { sendSkills } from '../../../src/jobs/prepare/skill-archives.ts';
import { createTarReader } from '../../../src/protocol/files/tar.ts';

const MIB = 1024 * 1024;
const NO_CAPS = { files: 1_000, fileBytes: 64 * MIB, totalBytes: 128 * MIB };

/** A new id for each case, since archives are kept by id. */
const freshId = (): string => `custom.s${randomUUID().slice(0, 8)}`;

function tree(files: Record<string, { bytes: Buffer; executable?: boolean }>): SkillTree {
  return new Map(
    Object.entries(files).map(([path, { bytes, executable = false }]) => [path, { bytes, executable }] as const),
  );
}

/** Stream contents of one call of `sendSkills`. */
async function sent(trees: SkillTrees): Promise<{ bytes: Buffer; pieces: Uint8Array[]; ends: number }> {
  const pieces: Uint8Array[] = [];
  let ends = 0;
  await sendSkills(trees, { write: async (chunk) => void pieces.push(chunk), end: () => void (ends += 1) });
  return { bytes: Buffer.concat(pieces), pieces, ends };
}

/** Short description of a file: comparing and showing megabytes takes seconds. */
function described(bytes: Uint8Array, executable: boolean): string {
  return `${bytes.length} ${createHash('sha256').update(bytes).digest('hex')} ${executable}`;
}

/** Reads an archive as the sandbox does. */
async function readBack(bytes: Buffer): Promise<Record<string, string>> {
  const files: Record<string, string> = {};
  const { reader, done } = createTarReader(NO_CAPS, ({ path, bytes: content, executable }) => {
    files[path] = described(content, executable);
  });
  for (let at = 0; at < bytes.length; at += 100_000) await reader.data(bytes.subarray(at, at + 100_000));
  reader.end();
  await done;
  return files;
}

/** Descriptions of all files of trees. */
function arriving(trees: SkillTrees): Record<string, string> {
  return Object.fromEntries(
    [...trees].flatMap(([id, files]) =>
      [...files].map(([path, { bytes, executable }]) => [`${id}/${path}`, described(bytes, executable)] as const),
    ),
  );
}

describe('sent skills', () => {
  it('are the same bytes each time, and are read back completely', async () => {
    const files = { 'SKILL.md': { bytes: Buffer.from('text') }, 'scripts/é.sh': { bytes: Buffer.alloc(70_000, 7) } };
    const trees: SkillTrees = new Map([
      [freshId(), tree(files)],
      [freshId(), tree({ empty: { bytes: Buffer.alloc(0) }, run: { bytes: Buffer.from('#!'), executable: true } })],
    ]);
    const first = await sent(trees);
    // Equal trees in other maps, with the same buffers.
    const second = await sent(new Map([...trees].map(([id, skill]) => [id, new Map(skill)])));
    expect(second.bytes.equals(first.bytes)).toBe(true);
    // Packed once: the second stream has the same buffers.
    expect(second.pieces.map((piece, index) => piece === first.pieces[index])).toEqual([true, true, true]);
    expect(await readBack(first.bytes)).toEqual(arriving(trees));
    expect(await readBack(second.bytes)).toEqual(arriving(trees));
    expect([first.ends, second.ends]).toEqual([1, 1]);
  });

  it('are an empty archive without skills', async () => {
    const { bytes, ends } = await sent(new Map());
    expect(await readBack(bytes)).toEqual({});
    expect([bytes.length, ends]).toEqual([1024, 1]);
  });

  const bytes = Buffer.from('one');
  const given = { 'SKILL.md': { bytes }, 'scripts/run': { bytes: Buffer.from('run') } };
  it.each([
    ['new bytes of the same size', { ...given, 'SKILL.md': { bytes: Buffer.from('two') } }],
    ['another executable bit', { ...given, 'SKILL.md': { bytes, executable: true } }],
    ['another path', { 'SKILL.md': given['SKILL.md'], 'scripts/ran': given['scripts/run'] }],
    ['a file more', { ...given, more: { bytes } }],
    ['a file less', { 'SKILL.md': { bytes } }],
  ])('are packed again with %s', async (_name, changed) => {
    const id = freshId();
    await sent(new Map([[id, tree(given)]]));
    const trees: SkillTrees = new Map([[id, tree(changed)]]);
    expect(await readBack((await sent(trees)).bytes)).toEqual(arriving(trees));
    // The former state is packed again too.
    const before: SkillTrees = new Map([[id, tree(given)]]);
    expect(await readBack((await sent(before)).bytes)).toEqual(arriving(before));
  });

  it('are not affected by later changes of the caller\u2019s tree', async () => {
    const id = freshId();
    const own = tree(given);
    await sent(new Map([[id, own]]));
    own.delete('SKILL.md');
    expect(Object.keys(await readBack((await sent(new Map([[id, own]]))).bytes))).toEqual([`${id}/scripts/run`]);
    const whole: SkillTrees = new Map([[id, tree(given)]]);
    expect(await readBack((await sent(whole)).bytes)).toEqual(arriving(whole));
  });

  it('arrive if they are over the limit of kept archives, alone and together', async () => {
    const large: SkillTrees = new Map([[freshId(), tree({ large: { bytes: Buffer.alloc(17 * MIB, 1) } })]]);
    for (let round = 0; round < 2; round += 1)
      expect(await readBack((await sent(large)).bytes)).toEqual(arriving(large));
    const many: SkillTrees = new Map(
      [1, 2, 3, 4].map((fill) => [freshId(), tree({ part: { bytes: Buffer.alloc(6 * MIB, fill) } })]),
    );
    for (let round = 0; round < 2; round += 1) expect(await readBack((await sent(many)).bytes)).toEqual(arriving(many));
  });
});
