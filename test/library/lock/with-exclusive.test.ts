import { mkdtempSync, readdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { currentOwner, ownerName } from '../../../src/durable/owner.ts';
import { withExclusive } from '../../../src/library/lock/with-exclusive.ts';

const DEAD = `${ownerName({ ...currentOwner(), startTime: '1' })}-0011223344556677`;
const LIVING = `${ownerName(currentOwner())}-0011223344556677`;

let folder: string;
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'with-exclusive-')));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe('withExclusive()', () => {
  it('takes the file of a dead holder over, and removes it at the end', async () => {
    writeFileSync(join(folder, 'busy'), DEAD);
    expect(await withExclusive(join(folder, 'busy'), () => readdirSync(folder))).toEqual(['busy']);
    expect(readdirSync(folder)).toEqual([]);
  });

  it('removes the claims of dead processes on its file, and no other files', async () => {
    for (const name of ['busy.1', 'other.1']) writeFileSync(join(folder, name), DEAD);
    writeFileSync(join(folder, 'busy.2'), LIVING);
    writeFileSync(join(folder, 'busy.3'), 'not ours');
    const during = await withExclusive(join(folder, 'busy'), () => readdirSync(folder));
    expect(during.toSorted()).toEqual(['busy', 'busy.2', 'busy.3', 'other.1']);
  });

  it('leaves the file alone if another process has taken it over meanwhile', async () => {
    await withExclusive(join(folder, 'busy'), () => writeFileSync(join(folder, 'busy'), LIVING));
    expect(readdirSync(folder)).toEqual(['busy']);
  });
});
